"""A disk that breaks: whatever writes below a folder is counted, and the operation that was chosen goes wrong.

What is modelled is what the kernel does: a write that finds no room leaves as much as fits, a file that has blocks can
be written over where a new one cannot be made. Reading never fails.
"""

# What pathlib itself calls is replaced here.
# ruff: noqa: PTH100, PTH110, PTH115

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BLOCK = 4096
WRITING = os.O_WRONLY | os.O_RDWR
# Faults of the disk by the names of errno; KILL kills the process before the operation, or halfway through a write.
KILL = "KILL"

_real = {name: getattr(os, name) for name in "open write pwrite fsync replace rename mkdir truncate ftruncate".split()}
_real_unlink = os.unlink
_real_open = io.open


@dataclass
class Disk:
    """Operations below `root`; number `at` (from 1) fails with `fault`, all later ones too if that `lasts`."""

    root: Path
    at: int = 0
    fault: str = "ENOSPC"
    lasts: bool = False
    only: str = ""
    done: list[str] = field(default_factory=list)

    def install(self, replace: Callable[[Any, str, Any], None] = setattr) -> None:
        """Have this process write through the disk, for good or as long as what `replace` does lasts."""
        for name in _real:
            replace(os, name, getattr(self, name))
        for module in (io, builtins):
            replace(module, "open", self.open_file)
        for name in ("unlink", "remove"):
            replace(os, name, self.unlink)

    def log(self, path: Path) -> io.TextIOWrapper:
        """Return what stands for the output of a process whose log was opened by another one."""
        return io.TextIOWrapper(io.BufferedWriter(_CountedFile(self, path, "a")), line_buffering=True)

    def meet(
        self, operation: str, path: Any, needs_room: bool = True, begin: Callable[[], object] | None = None
    ) -> None:
        """Count an operation, and fail if it is the one; `begin` does a part of it first."""
        if not self._is_below(path) or (self.only and operation not in self.only.split()):
            return
        self.done.append(f"{operation} {Path(os.fsdecode(path)).name}")
        is_the_one = len(self.done) == self.at
        if is_the_one or (self.lasts and 0 < self.at < len(self.done) and (needs_room or self.fault != "ENOSPC")):
            if begin is not None and self.fault in ("ENOSPC", KILL):
                begin()
            self._fail(path)

    def _fail(self, path: Any) -> None:
        if self.fault == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        number = getattr(errno, self.fault)
        raise OSError(number, os.strerror(number), os.fsdecode(path))

    def _is_below(self, path: Any) -> bool:
        return os.path.abspath(os.fsdecode(path)).startswith(os.fsdecode(self.root))

    # What stands in for the functions of `os`

    def open(self, path: Any, flags: int, *more: Any, **named: Any) -> int:
        """Open; making a file needs room."""
        if flags & WRITING:
            self.meet("open", path, needs_room=not os.path.exists(path))
        return int(_real["open"](path, flags, *more, **named))

    def write(self, descriptor: int, content: bytes) -> int:
        """Write; with no room for all of it, half is written."""
        half = content[: len(content) // 2]
        end = os.fstat(descriptor).st_size + len(content)
        self.meet("write", path_of(descriptor), self.grows(descriptor, end), lambda: _real["write"](descriptor, half))
        return int(_real["write"](descriptor, content))

    def pwrite(self, descriptor: int, content: bytes, offset: int) -> int:
        """Write at a place."""
        self.meet("pwrite", path_of(descriptor), self.grows(descriptor, offset + len(content)))
        return int(_real["pwrite"](descriptor, content, offset))

    def fsync(self, descriptor: int) -> None:
        """Flush."""
        self.meet("fsync", path_of(descriptor), needs_room=False)
        _real["fsync"](descriptor)

    def replace(self, source: Any, target: Any, **named: Any) -> None:
        """Rename over."""
        self.meet("replace", target, needs_room=False)
        _real["replace"](source, target, **named)

    def rename(self, source: Any, target: Any, **named: Any) -> None:
        """Rename."""
        self.meet("rename", target, needs_room=False)
        _real["rename"](source, target, **named)

    def mkdir(self, path: Any, *more: Any, **named: Any) -> None:
        """Make a folder."""
        if not os.path.exists(path):
            self.meet("mkdir", path)
        _real["mkdir"](path, *more, **named)

    def truncate(self, path: Any, length: int) -> None:
        """Cut by name."""
        self.meet("truncate", path, needs_room=False)
        _real["truncate"](path, length)

    def ftruncate(self, descriptor: int, length: int) -> None:
        """Cut."""
        self.meet("ftruncate", path_of(descriptor), needs_room=False)
        _real["ftruncate"](descriptor, length)

    def unlink(self, path: Any, **named: Any) -> None:
        """Remove, which needs no room; a missing file is no write."""
        if os.path.lexists(path):
            self.meet("unlink", path, needs_room=False)
        _real_unlink(path, **named)

    def open_file(self, file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
        """Open as a file object whose writes are counted too."""
        if isinstance(file, int) or not set(mode) & set("wax+") or not self._is_below(file):
            return _real_open(file, mode, buffering, *more, **named)
        self.meet("open", file, needs_room=not os.path.exists(file))
        raw = _CountedFile(self, file, mode.replace("b", "").replace("t", ""))
        buffer = io.BufferedWriter(raw)
        return buffer if "b" in mode else io.TextIOWrapper(buffer, *more, **named)

    @staticmethod
    def grows(descriptor: int, end: int) -> bool:
        """Say whether a file that ends there needs a block more than it has."""
        return -(-end // BLOCK) > -(-os.fstat(descriptor).st_size // BLOCK)


class _CountedFile(io.FileIO):
    def __init__(self, disk: Disk, path: Any, mode: str) -> None:
        super().__init__(path, mode)
        self._disk = disk

    def write(self, content: Any, /) -> int:
        half = bytes(content)[: len(content) // 2]
        grows = self._disk.grows(self.fileno(), os.fstat(self.fileno()).st_size + len(content))
        self._disk.meet("write", os.fsdecode(self.name), grows, lambda: io.FileIO.write(self, half))
        return int(super().write(content) or 0)


def path_of(descriptor: int) -> str:
    """Return what an open descriptor stands for."""
    return os.readlink(f"/proc/self/fd/{descriptor}")
