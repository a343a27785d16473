"""A disk that fails at one chosen write, and a tiny run computed again and again on it, each time with another one.

`python -m tests.robustness.faults.every_write FOLDER PART FAULT START:STOP:STEP`, with the fake engine on PYTHONPATH,
prints JSON lines. PART is the worker that computes a seed, or the command that starts one; each attempt is a process
forked from one that has everything imported. Modelled is what the kernel does: a write that finds no room leaves as
much as fits, a file that has blocks can be written over where a new one cannot be made. Reading never fails.
"""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glt.cli.main import main as glt
from glt.datasets import load_graph
from glt.jobs import launcher
from glt.jobs.worker import main as glt_worker
from glt.presets import resolve
from glt.store import Run, Store, run_name
from glt.store.locks import is_locked
from tests.robustness.faults.lives import comparable

# What pathlib itself calls is replaced here.
# ruff: noqa: PTH100, PTH110, PTH115


BLOCK = 4096
WRITING = os.O_WRONLY | os.O_RDWR
# Faults of the disk by the names of errno; KILL kills the process before the operation, or halfway through a write.
KILL = "KILL"

_real = {name: getattr(os, name) for name in "open write pwrite fsync replace rename mkdir truncate ftruncate".split()}
# Operations that need no room, and the argument that names their file.
NO_ROOM = {"fsync": 0, "replace": 1, "rename": 1, "truncate": 0, "ftruncate": 0}
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
            replace(os, name, self.counted(name, NO_ROOM[name]) if name in NO_ROOM else getattr(self, name))
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
        self.meet("pwrite", path_of(descriptor), self.grows(descriptor, offset + len(content)))
        return int(_real["pwrite"](descriptor, content, offset))

    def counted(self, name: str, argument: int) -> Callable[..., None]:
        """Return a function of `os` that needs no room; it is an operation on one of its arguments."""

        def call(*arguments: Any, **named: Any) -> None:
            place = arguments[argument]
            self.meet(name, path_of(place) if isinstance(place, int) else place, needs_room=False)
            _real[name](*arguments, **named)

        return call

    def mkdir(self, path: Any, *more: Any, **named: Any) -> None:
        if not os.path.exists(path):
            self.meet("mkdir", path)
        _real["mkdir"](path, *more, **named)

    def unlink(self, path: Any, **named: Any) -> None:
        """Remove, which needs no room; a missing file is no write."""
        if os.path.lexists(path):
            self.meet("unlink", path, needs_room=False)
        _real_unlink(path, **named)

    def open_file(self, file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
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
    return os.readlink(f"/proc/self/fd/{descriptor}")


SETTINGS = {"rounds": 1, "epochs": 1, "retrain_epochs": 2, "hidden": 16}
RUN = ["run", "--detach", "--set", *(f"{name}={value}" for name, value in SETTINGS.items())]
CONFIG = resolve(SETTINGS)
FAULTS: dict[str, dict[str, Any]] = {
    "full for a moment": {"fault": "ENOSPC"},
    "full": {"fault": "ENOSPC", "lasts": True},
    "broken flush": {"fault": "EIO", "only": "fsync"},
    "killed": {"fault": "KILL"},
    "read-only": {"fault": "EROFS", "lasts": True},
}
PATIENCE = 1800.0


class Place:
    """A folder for one attempt: the store, what is printed, and the operations on the store so far."""

    def __init__(self, folder: Path, part: str) -> None:
        folder.mkdir(parents=True)
        self.store = Store(folder / "store")
        self.operations, self.crash = folder / "operations", folder / "crash"
        self.path = self.store.root / run_name(CONFIG)
        self.seed = self.path / "seed-0"
        self.part = part
        if part == "worker":
            self.store.create(CONFIG).seed(0).make()
            self.log = self.seed / "log.txt"
        else:
            self.log = folder / "printed"
            self.store.root.mkdir()

    def work(self) -> int:
        if self.part == "worker":
            return glt_worker([str(self.store.root), self.path.name, "0"])
        return glt([*RUN, "--store", str(self.store.root)])

    def attempt(self, work: Callable[[], int], disk: Disk) -> tuple[int, list[str]]:
        """Work in a process of its own on this disk; return its exit code (-9 when killed) and the operations."""
        child = os.fork()
        if child == 0:
            code = 70
            try:
                disk.install()
                sys.stdout = sys.stderr = disk.log(self.log)
                code = work()
                with suppress(OSError):
                    sys.stdout.flush()
            except BaseException:
                disk.at = 0
                self.crash.write_text(traceback.format_exc())
            finally:
                disk.at = 0
                self.operations.write_text(json.dumps(disk.done))
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self._wait_for_worker()
        return code, json.loads(self.operations.read_text()) if self.operations.exists() else []

    def run_again(self) -> int:
        """Do as `glt run` does once more, with the worker in this process."""
        codes: list[int] = []

        def compute(_store: object, run: Run, seeds: list[int], *_: object) -> launcher.Started[Run]:
            codes.extend(glt_worker([str(self.store.root), self.path.name, str(seed)]) for seed in seeds)
            return launcher.Started(run)

        launcher._launch = compute  # type: ignore[assignment]
        launcher.start(self.store, CONFIG, [0])
        return max(codes, default=0)

    def _wait_for_worker(self) -> None:
        """Wait for a worker that was started, reported or not."""
        deadline = time.monotonic() + PATIENCE
        while is_locked(self.seed / "lock") and time.monotonic() < deadline:
            time.sleep(0.02)


def attempted(folder: Path, part: str, reference: dict[str, Any], fault: dict[str, Any], at: int) -> dict[str, Any]:
    """Break one operation, run again on a sound disk, and return the outcome of both."""
    place = Place(folder, part)
    code, operations = place.attempt(place.work, Disk(place.store.root, at, **fault))
    outcome = {
        "at": at,
        "operation": operations[at - 1] if len(operations) >= at else "",
        "code": code,
        "printed": place.log.read_text() if place.log.exists() else "",
        "crash": place.crash.read_text() if place.crash.exists() else "",
        "listed": [run.name for run in place.store.runs()],
        **_found(place, reference),
    }
    place.crash.unlink(missing_ok=True)
    again, _ = place.attempt(place.run_again, Disk(place.store.root))
    after = comparable(place.path)
    different = sorted(name for name in {*after, *reference} if after.get(name) != reference.get(name))
    return {**outcome, "again": again, "different": different}


def _found(place: Place, reference: dict[str, Any]) -> dict[str, Any]:
    """Return what lies in the seed's folder, as its readers see it."""
    if not (place.path / "config.json").exists():
        return {"state": "", "error": "", "has_status": False, "whole": 0, "sound": 0, "same": True}
    seed_run = Store(place.store.root).find(place.path.name).seed(0)
    status, whole = seed_run.status(), seed_run.whole_rounds()
    names = [f"seed-0/{kind}-{number:02d}.safetensors" for kind in ("round", "weights") for number in range(whole)]
    return {
        "state": status.state,
        "error": status.error or "",
        "has_status": (place.seed / "status.json").exists(),
        "whole": whole,
        "sound": seed_run.sound_rounds(),
        "same": all((place.path / name).read_bytes() == reference[name] for name in names),
    }


def run_all(folder: Path, part: str, fault: str, chosen: slice) -> None:
    """Print the operations of a sound attempt, then a line for each one that was broken."""
    load_graph(CONFIG.dataset)
    place = Place(folder / "reference", part)
    code, operations = place.attempt(place.work, Disk(place.store.root, only=FAULTS[fault].get("only", "")))
    assert code == 0, place.log.read_text()
    print(json.dumps(operations), flush=True)
    place.attempt(place.run_again, Disk(place.store.root))
    reference = comparable(place.path)
    for at in range(1, len(operations) + 1)[chosen]:
        print(json.dumps(attempted(folder / str(at), part, reference, FAULTS[fault], at)), flush=True)


if __name__ == "__main__":
    _, where, which, what, part_of_all = sys.argv
    run_all(Path(where), which, what, slice(*(int(part) if part else None for part in part_of_all.split(":"))))
