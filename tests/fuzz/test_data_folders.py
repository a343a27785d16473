"""Folders of data that somebody brings: pickles stay closed, and packed tables without end are refused."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glt.data.planetoid import read_planetoid
from glt.errors import DataError
from tests.fuzz.limited import limited, one_sentence

# torch, PyG and pandas, which read these folders, take most of it.
MOST_MB = 700
HUGE = 1 << 28


class Harm:
    """Whoever unpickles this leaves a folder behind."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("harmed",)


@pytest.fixture
def arxiv(test_data: Path, around: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small folder of ogbn-arxiv as the data that GLT_DATA names."""
    folder = around / "brought" / "ogbn_arxiv"
    shutil.copytree(test_data / "ogb_sample" / "ogbn_arxiv", folder)
    monkeypatch.setenv("GLT_DATA", str(folder.parent))
    return folder


def read(name: str) -> str:
    ended = limited("glt.data.reading_apart", name)
    assert ended.code == 1, ended
    lines = [line for line in ended.said.splitlines() if not line.startswith("Reading ")]
    assert len(lines) == 1, ended.said
    assert "Traceback" not in ended.said
    assert ended.peak_mb < MOST_MB
    return lines[0]


BOMBS = ("num-node-list", "edge", "node-feat")


@pytest.mark.long
@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("letter", [b"0", b"1\n", b"1,"])
def test_a_packed_table_without_end_is_refused(arxiv: Path, name: str, letter: bytes) -> None:
    block = letter * ((1 << 20) // len(letter))
    with gzip.open(arxiv / "raw" / f"{name}.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(HUGE // len(block)):
            file.write(block)
    assert "put the published file there" in read("ogbn-arxiv")


@pytest.mark.parametrize("folder", ["Citeseer", "PubMed"])
def test_pickles_of_planetoid_are_opened_only_where_they_are_the_published_ones(around: Path, folder: str) -> None:
    raw = around / "brought" / folder / "raw"
    raw.mkdir(parents=True)
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        (raw / f"ind.{folder.lower()}.{part}").write_bytes(pickle.dumps(Harm()))
    with pytest.raises(DataError, match="is not the published file"):
        read_planetoid(around / "brought", folder, folder.lower(), ())


@pytest.mark.long
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_a_split_that_holds_more_than_numbers_stays_closed(
    test_data: Path, around: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    folder = around / "brought" / "ogbl_collab"
    shutil.copytree(test_data / "ogb_sample" / "ogbl_collab", folder)
    monkeypatch.setenv("GLT_DATA", str(folder.parent))
    (split,) = folder.glob(f"split/*/{part}.pt")
    split.write_bytes(pickle.dumps({"edge": Harm()}))
    assert "arrays of numbers" in read("ogbl-collab")


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", pickle.dumps(Harm()), b"PK\x03\x04" + bytes(99)])
def test_an_archive_of_the_cache_that_is_none_is_told_or_made_again(tmp_path: Path, content: bytes) -> None:
    from glt.data.archive import read_graph
    from glt.data.mapped_archive import read_mapped
    from glt.errors import DataError

    (tmp_path / "graph.npz").write_bytes(content)
    for name in ("structure.npz", "features.npy", "sizes.json"):
        (tmp_path / name).write_bytes(content)
    for reader, path in ((read_graph, tmp_path / "graph.npz"), (read_mapped, tmp_path)):
        with pytest.raises(DataError, match="cannot be read as a graph"):
            reader(path)


def test_an_archive_of_objects_is_told(tmp_path: Path) -> None:
    from glt.data.archive import read_graph
    from glt.errors import DataError

    np.savez(tmp_path / "graph.npz", edges=np.array([Harm()], dtype=object), about=np.zeros(2, dtype=np.uint8))
    with pytest.raises(DataError, match="cannot be read as a graph"):
        read_graph(tmp_path / "graph.npz")


@pytest.mark.long
@pytest.mark.parametrize("place", ["/dev/zero", "/proc/self/mem", "../../home/notes.txt"])
def test_links_in_a_data_folder_are_read_as_what_they_are(arxiv: Path, around: Path, place: str) -> None:
    path = arxiv / "raw" / "num-node-list.csv.gz"
    path.unlink()
    path.symlink_to(place)
    assert "ogbn-arxiv" in read("ogbn-arxiv") or "num-node-list" in read("ogbn-arxiv")


def test_a_command_says_the_same(around: Path) -> None:
    assert "No run" in one_sentence(limited("glt", "show", "nothing"))


@pytest.mark.parametrize("letter", [b"0", b"1\n", b"1,"])
def test_a_count_or_table_without_end_is_refused_by_itself(tmp_path: Path, letter: bytes) -> None:
    from glt.data.ogb_files import OgbFiles, check_rows, stated_counts
    from glt.errors import DataError

    files = OgbFiles("ogbn-some", ("edge",), "time")
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in ("num-node-list", "num-edge-list"):
        (raw / f"{name}.csv.gz").write_bytes(gzip.compress(b"5\n"))
    (raw / "edge.csv.gz").write_bytes(gzip.compress(letter * (9 << 20)))
    with pytest.raises(DataError, match=r"has a row of more than|has more than 5 rows"):
        check_rows(files, tmp_path)
    (raw / "num-node-list.csv.gz").write_bytes(gzip.compress(letter * (9 << 20)))
    with pytest.raises(DataError, match="is not one whole number"):
        stated_counts(files, tmp_path)
