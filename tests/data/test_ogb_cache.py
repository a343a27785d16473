"""What is kept of a reading: nothing beside the files, made again when it is damaged or the files have changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.data import DATASETS, reading_apart
from glt.errors import DataError
from tests.data.conftest import files_under, lines_of, write_lines

Copy = Callable[[str], Path]


def test_nothing_is_written_beside_the_files(copied: Copy, ogb_root: Path, tmp_path: Path) -> None:
    copied("ogbn-arxiv")
    before = files_under(ogb_root)
    DATASETS.get("ogbn-arxiv").load()
    assert files_under(ogb_root) == before
    left = {path.name for path in (tmp_path / "cache").iterdir()}
    assert left == {"graphs"}


def test_a_change_of_the_files_is_seen_and_the_earlier_graph_goes(copied: Copy, tmp_path: Path) -> None:
    folder = copied("ogbn-arxiv")
    first = DATASETS.get("ogbn-arxiv").load()
    labels = folder / "raw/node-label.csv.gz"
    write_lines(labels, ["39", *lines_of(labels)[1:]])
    second = DATASETS.get("ogbn-arxiv").load()
    assert second.labels[0] == 39 != first.labels[0]
    assert len(list((tmp_path / "cache" / "graphs").glob("ogbn-*"))) == 1


def test_what_an_earlier_version_kept_is_not_read_and_goes(
    copied: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be of files that are refused now."""
    copied("ogbn-arxiv")
    with monkeypatch.context() as earlier:
        earlier.setattr("glt.data.ogb._CACHE_VERSION", 1)
        DATASETS.get("ogbn-arxiv").load()
    kept = list((tmp_path / "cache" / "graphs").glob("ogbn-*"))
    DATASETS.get("ogbn-arxiv").load()
    (now,) = (tmp_path / "cache" / "graphs").glob("ogbn-*")
    assert now not in kept


@pytest.mark.parametrize("file", ["graph.npz", "features.npy", "sizes.json"])
def test_a_damaged_cache_is_made_again(copied: Copy, tmp_path: Path, file: str) -> None:
    copied("ogbn-arxiv")
    expected = DATASETS.get("ogbn-arxiv").load().content_hash
    (cached,) = (tmp_path / "cache" / "graphs").glob(f"*/{file}")
    for damaged in (b"", cached.read_bytes()[:-20], b"damaged"):
        cached.write_bytes(damaged)
        assert DATASETS.get("ogbn-arxiv").load().content_hash == expected
        assert cached.stat().st_size > 50
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert DATASETS.get("ogbn-arxiv").load().content_hash == expected


def test_published_counts_are_taken_for_the_published_edges(copied: Copy) -> None:
    folder = copied("ogbn-arxiv")
    for name, count in (("num-node-list", 169_343), ("num-edge-list", 1_166_243)):
        write_lines(folder / f"raw/{name}.csv.gz", [str(count)])
    assert DATASETS.get("ogbn-arxiv").sizes.edges == 1_157_799
    write_lines(folder / "raw/num-edge-list.csv.gz", ["1166242"])
    assert DATASETS.get("ogbn-arxiv").sizes.edges == 1_166_242


def test_the_app_lets_another_process_read_and_fetches_nothing(
    copied: Copy, ogb_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("read or fetched in this process")

    reading_apart.only_apart.set()
    for name in ("read_nodes", "download"):
        monkeypatch.setattr(f"glt.data.ogb.{name}", refuse)
    with pytest.raises(DataError, match="is not on this machine: start a run of it"):
        DATASETS.get("ogbn-arxiv").load()
    folder = copied("ogbn-arxiv")
    graph = DATASETS.get("ogbn-arxiv").load()
    assert graph.num_nodes == 200
    with (folder / "raw" / "node-label.csv.gz").open("wb") as file:
        file.write(b"no table")
    with pytest.raises(DataError, match=r"node-label\.csv\.gz"):
        DATASETS.get("ogbn-arxiv").load()
