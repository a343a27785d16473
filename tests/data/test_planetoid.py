"""Planetoid's files: checked before they are opened, downloaded whole or not at all, never written beside."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from torch_geometric.io import fs

from glt.data import DATASETS
from glt.data.planetoid import load_planetoid
from glt.errors import DataError

FILES = [f"ind.citeseer.{part}" for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data root of the test's own; returns Planetoid's root in it, which does not exist yet."""
    monkeypatch.setenv("GLT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data" / "planetoid"


@pytest.fixture
def citeseer(root: Path, test_data: Path) -> Path:
    """The folder of Citeseer's published raw files, copied so that a test may change them."""
    raw = root / "Citeseer" / "raw"
    raw.mkdir(parents=True)
    for file in FILES:
        shutil.copyfile(test_data / "planetoid" / "Citeseer" / "raw" / file, raw / file)
    return raw


def no_network(source: str, folder: str) -> None:
    """Leave half a file and fail, as a broken connection does."""
    Path(folder, Path(source).name).write_bytes(b"half")
    raise OSError("Name or service not known")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, test_data: Path) -> Callable[[bytes], None]:
    """Answer PyG's downloads from the reference data, with `extra` bytes at each file's end."""

    def start(extra: bytes) -> None:
        def copy(url: str, folder: str) -> None:
            file = url.rpartition("/")[2]
            content = (test_data / "planetoid" / "Citeseer" / "raw" / file).read_bytes()
            Path(folder, file).write_bytes(content + extra)

        monkeypatch.setattr(fs, "cp", copy)

    return start


def load() -> None:
    load_planetoid("Citeseer", "citeseer", ())


def files_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_tampered_file_is_refused_before_it_is_opened(
    citeseer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle

    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, (f"open({str(tmp_path / 'opened')!r}, 'w')",))

    (citeseer / "ind.citeseer.graph").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DataError, match=r"ind\.citeseer\.graph is not the published file") as caught:
        load()
    assert str(citeseer.parent) in str(caught.value)
    assert not (tmp_path / "opened").exists()
    assert (citeseer / "ind.citeseer.graph").exists()


def test_a_file_tampered_with_later_is_refused_too(citeseer: Path) -> None:
    load()
    with (citeseer / "ind.citeseer.x").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(DataError, match="SHA-256 differs"):
        load()


def test_nothing_is_written_beside_the_raw_files(citeseer: Path, root: Path) -> None:
    before = files_under(root)
    load()
    assert files_under(root) == before
    assert set(before) == {"Citeseer", "Citeseer/raw", *(f"Citeseer/raw/{file}" for file in FILES)}
    assert citeseer.is_dir()


def test_no_network_is_one_sentence_and_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fs, "cp", no_network)
    with pytest.raises(DataError) as caught:
        load()
    message = str(caught.value)
    assert message.startswith("Citeseer could not be downloaded (Name or service not known)")
    assert str(root / "Citeseer" / "raw") in message
    assert "\n" not in message
    assert files_under(root) == set()


def test_a_half_made_folder_is_removed(citeseer: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (citeseer / "ind.citeseer.graph").unlink()
    monkeypatch.setattr(fs, "cp", no_network)
    with pytest.raises(DataError, match="could not be downloaded"):
        load()
    assert files_under(root) == set()


def test_what_else_a_user_keeps_there_stays(citeseer: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (citeseer / "ind.citeseer.graph").unlink()
    (root / "Citeseer" / "notes.txt").write_text("mine")
    monkeypatch.setattr(fs, "cp", no_network)
    with pytest.raises(DataError, match="could not be downloaded"):
        load()
    assert files_under(root) == {"Citeseer", "Citeseer/notes.txt"}


def test_a_half_made_folder_is_downloaded_anew(citeseer: Path, root: Path, serve: Callable[[bytes], None]) -> None:
    (citeseer / "ind.citeseer.graph").write_bytes(b"half")
    (citeseer / "ind.citeseer.x").unlink()
    serve(b"")
    load()
    assert files_under(root) == {"Citeseer", "Citeseer/raw", *(f"Citeseer/raw/{file}" for file in FILES)}


def test_a_download_that_is_not_the_published_one_is_not_kept(root: Path, serve: Callable[[bytes], None]) -> None:
    serve(b"\0")
    with pytest.raises(DataError, match="SHA-256 differs"):
        load()
    assert files_under(root) == set()


def test_a_data_root_that_cannot_be_used_is_one_sentence(
    root: Path, tmp_path: Path, serve: Callable[[bytes], None]
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    serve(b"")
    with pytest.raises(DataError, match="set GLT_DATA to a folder of your own") as caught:
        load()
    assert str(root) in str(caught.value)


def test_a_root_that_pyg_uses_already_is_taken(planetoid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = DATASETS.get("citeseer").load()
    monkeypatch.setenv("GLT_DATA", str(planetoid))
    assert DATASETS.get("citeseer").load().content_hash == here.content_hash


@pytest.mark.usefixtures("citeseer")
def test_the_next_process_reads_the_same_graph_without_torch() -> None:
    graph = DATASETS.get("citeseer").load()
    code = (
        "import sys; from glt.data import load_graph; print(load_graph('citeseer').content_hash);"
        "sys.exit('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == graph.content_hash


def test_a_damaged_or_impossible_cache_costs_time_only(citeseer: Path, tmp_path: Path) -> None:
    cached = tmp_path / "cache" / "glt-studio" / "graphs" / "citeseer-1.npz"
    load()
    cached.write_bytes(b"damaged")
    load()
    assert cached.stat().st_size > 100_000
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file where a folder should be")
    load()
    assert citeseer.is_dir()
