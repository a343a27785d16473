"""What is cached of a file is never older than the file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from glt.store.file_cache import TOO_FRESH, cached


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("one")
    age(path)
    return path


def age(path: Path) -> None:
    before = time.time() - 10 * TOO_FRESH
    os.utime(path, (before, before))


class Reader:
    def __init__(self) -> None:
        self.reads = 0
        self.read = cached(self._read)

    def _read(self, path: Path) -> str:
        self.reads += 1
        return path.read_text()


def test_an_old_file_is_read_once(old_file: Path) -> None:
    reader = Reader()
    assert [reader.read(old_file) for _ in range(3)] == ["one"] * 3
    assert reader.reads == 1


def test_a_replaced_a_grown_and_a_rewritten_file_are_read_again(old_file: Path) -> None:
    reader = Reader()
    reader.read(old_file)
    other = old_file.with_name("other")
    other.write_text("two")
    os.utime(other, ns=(old_file.stat().st_atime_ns, old_file.stat().st_mtime_ns))
    other.replace(old_file)
    assert reader.read(old_file) == "two"
    with old_file.open("a") as file:
        file.write(" and")
    age(old_file)
    assert reader.read(old_file) == "two and"
    old_file.write_text("six and")
    assert reader.read(old_file) == "six and"


def test_a_fresh_file_is_not_kept(tmp_path: Path) -> None:
    path, reader = tmp_path / "file", Reader()
    for words in ("one", "two"):
        path.write_text(words)
        assert reader.read(path) == words
        assert reader.read(path) == words
    assert reader.reads >= 2


def test_what_is_raised_is_not_kept(tmp_path: Path) -> None:
    path, reader = tmp_path / "file", Reader()
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            reader.read(path)
    path.write_text("there")
    assert reader.read(path) == "there"


def test_what_does_not_last_is_read_again(old_file: Path) -> None:
    seen: list[str] = []

    def look(path: Path) -> str:
        seen.append(path.read_text())
        return seen[-1]

    read = cached(look, lasts=lambda content: len(seen) > 1)
    assert [read(old_file) for _ in range(4)] == ["one"] * 4
    assert len(seen) == 2
