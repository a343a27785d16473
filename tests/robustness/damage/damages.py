"""What can happen to one file: cut, flipped, overwritten, emptied, replaced by something that is no file, or gone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

Damage = Callable[[Path], None]
EIGHTHS = range(8)
FLIPS = 6
# Reading it fails with an input/output error, for root too, as a bad sector does.
UNREADABLE = Path("/proc/self/mem")


def damages(flips: int = FLIPS) -> dict[str, Damage]:
    """Return every damage by its name; `flips` is how many single bytes are flipped, one at a time."""
    return {
        **{f"cut to {eighth}/8": cut(eighth) for eighth in EIGHTHS},
        **{f"flip {number}": flip(number) for number in range(flips)},
        "noise": noise,
        "empty": cut(0),
        "folder": as_folder,
        "full folder": as_full_folder,
        "dangling link": as_dangling_link,
        "link to itself": as_link_to_itself,
        "unreadable": as_unreadable,
        "removed": remove,
    }


def cut(eighth: int) -> Damage:
    """Keep so many eighths of the bytes."""
    return lambda path: os.truncate(path, path.stat().st_size * eighth // 8)


def flip(number: int) -> Damage:
    """Change one byte; the first ones lie in the head of the file, the rest anywhere."""

    def flip_byte(path: Path) -> None:
        content = bytearray(path.read_bytes())
        generator = np.random.default_rng([number, *path.name.encode()])
        place = int(generator.integers(min(len(content), 64) if number % 3 == 0 else len(content)))
        content[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(content)

    return flip_byte


def noise(path: Path) -> None:
    """Replace every byte."""
    path.write_bytes(np.random.default_rng(list(path.name.encode())).bytes(path.stat().st_size))


def as_folder(path: Path) -> None:
    """Put an empty folder in the place of the file."""
    path.unlink()
    path.mkdir()


def as_full_folder(path: Path) -> None:
    """Put a folder with a file in the place of the file."""
    as_folder(path)
    (path / "something").write_text("else")


def as_dangling_link(path: Path) -> None:
    """Put a symbolic link in the place of the file that leads nowhere."""
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))


def as_link_to_itself(path: Path) -> None:
    """Put a symbolic link in the place of the file that leads round in a circle."""
    path.unlink()
    path.symlink_to(path.name)


def as_unreadable(path: Path) -> None:
    """Make every read of the file fail."""
    path.unlink()
    path.symlink_to(UNREADABLE)


def remove(path: Path) -> None:
    """Remove the file."""
    path.unlink()


def files_of(folder: Path) -> Iterator[str]:
    """Return the files below a folder, by their paths in it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder))


def copied(store: Path, to: Path) -> Path:
    """Copy a store, its times too, so that nothing that is remembered is of another."""
    shutil.copytree(store, to, symlinks=True)
    return to
