"""Copies of the small folders in OGB's layout that a test may change, with a data root and cache per test."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.datasets import DATASETS
from glt.errors import DataError

FOLDERS = {"ogbn-arxiv": "ogbn_arxiv", "ogbn-proteins": "ogbn_proteins", "ogbl-collab": "ogbl_collab"}


@pytest.fixture
def samples(test_data: Path) -> Path:
    """The folder with the three read-only samples."""
    return test_data / "ogb_sample"


@pytest.fixture
def ogb_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root that does not exist yet, with a cache folder of the test's own; returns OGB's folder in it."""
    monkeypatch.setenv("GLT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data" / "ogb"


@pytest.fixture
def copied(ogb_root: Path, samples: Path) -> Callable[[str], Path]:
    """Copy the sample of a data set into the test's data root and return its folder."""

    def copy(name: str) -> Path:
        folder = ogb_root / FOLDERS[name]
        for source in (samples / FOLDERS[name]).rglob("*"):
            target = folder / source.relative_to(samples / FOLDERS[name])
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        return folder

    return copy


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def files_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def refusal(name: str) -> str:
    """Load a data set that is refused, and return the sentence."""
    return refused(DATASETS.get(name).load)


def refused(load: Callable[[], object]) -> str:
    with pytest.raises(DataError) as caught:
        load()
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message
