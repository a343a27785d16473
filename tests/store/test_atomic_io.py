"""Full disks, forbidden folders and killed writers leave the old content or the new, never half."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.errors import StoreError
from glt.store import Store
from glt.store.atomic_io import TOO_FRESH, append_line, cached, replace_file, writing

Patch = pytest.MonkeyPatch

WRITER = """
import pathlib, sys
from glt.store.atomic_io import replace_file
path = pathlib.Path(sys.argv[1])
while True:
    for letter in (b"a", b"b"):
        replace_file(path, letter * 300_000)
"""


def fail_with(number: int) -> object:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: Patch) -> None:
    path = tmp_path / "status.json"
    replace_file(path, b"old")
    monkeypatch.setattr(os, "fsync", fail_with(errno.ENOSPC))
    with pytest.raises(StoreError, match=r"status\.json could not be written because the disk is full: free some"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("path", "again"),
    [
        ("cora-node-gcn-ugs-4e39c3d4/seed-0/status.json", "resume the run"),
        (".queue/slot-0.lock", "resume the run"),
        ("annotations.json", "try again"),
        ("cora-node-gcn-ugs-4e39c3d4/config.json", "try again"),
        ("seed-3/runs/annotations.json", "try again"),
        ("cora-node-gcn-ugs-4e39c3d4/set-aside/1/seed-0/status.json", "try again"),
    ],
)
def test_a_full_disk_suggests_resume_only_for_runs(tmp_path: Path, path: str, again: str) -> None:
    with (
        pytest.raises(StoreError, match=f"the disk is full: free some space, then {again}.$"),
        writing(tmp_path / path),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, None])
def test_a_full_disk_keeps_whole_lines(tmp_path: Path, monkeypatch: Patch, number: int | None) -> None:
    path, write = tmp_path / "events.jsonl", os.write
    append_line(path, "first")
    in_part = lambda descriptor, content: write(descriptor, content[:3])  # noqa: E731
    monkeypatch.setattr(os, "write", fail_with(number) if number else in_part)
    with pytest.raises(StoreError, match="disk is full"):
        append_line(path, "second")
    assert path.read_text() == "first\n"


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_forbidden_folder_names_the_remedies(tmp_path: Path, monkeypatch: Patch, number: int) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"file/.*cannot be written .*choose another store"):
        Store(tmp_path / "file" / "store").create(RunConfig())
    monkeypatch.setattr(Path, "replace", fail_with(number))
    with pytest.raises(StoreError, match=r"config\.json cannot be written .*--store or GLT_STORE"):
        replace_file(tmp_path / "config.json", b"")


def test_a_killed_writer_leaves_a_complete_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)])
        while not path.exists():
            assert process.poll() is None, "the writer ended before it had written anything"
            time.sleep(0.01)
        for _ in range(20):
            assert path.read_bytes() in (b"a" * 300_000, b"b" * 300_000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert path.read_bytes() in (b"a" * 300_000, b"b" * 300_000)
        path.unlink()


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


def test_only_old_files_are_cached(old_file: Path, tmp_path: Path) -> None:
    reader = Reader()
    assert [reader.read(old_file) for _ in range(3)] == ["one"] * 3
    assert reader.reads == 1
    path = tmp_path / "fresh"
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            reader.read(path)
    for words in ("one", "two"):
        path.write_text(words)
        assert [reader.read(path) for _ in range(2)] == [words] * 2
    assert reader.reads >= 5


def test_changed_files_are_read_again(old_file: Path) -> None:
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


def test_unstable_content_is_read_again(old_file: Path) -> None:
    seen: list[str] = []

    def look(path: Path) -> str:
        seen.append(path.read_text())
        return seen[-1]

    read = cached(look, lasts=lambda content: len(seen) > 1)
    assert [read(old_file) for _ in range(4)] == ["one"] * 4
    assert len(seen) == 2
