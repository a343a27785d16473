"""A tiny run computed again and again, each time with another operation on its store going wrong; prints JSON lines.

`python -m tests.robustness.faults.every_write FOLDER PART FAULT START:STOP:STEP`, with the fake engine on PYTHONPATH.
PART is the worker that computes a seed, or the command that starts one. Each attempt is a process of its own, forked
from one that has everything imported.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from glt.cli.main import main as glt
from glt.datasets import load_graph
from glt.jobs import launcher
from glt.jobs.worker import main as glt_worker
from glt.presets import resolve
from glt.store import Run, Store, run_name
from glt.store.locks import is_locked
from tests.robustness.faults.faulty_disk import Disk
from tests.robustness.faults.lives import comparable

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
        self.told, self.crash = folder / "operations", folder / "crash"
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
        """Do what the disk is to break."""
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
                self.told.write_text(json.dumps(disk.done))
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self._wait_for_worker()
        return code, json.loads(self.told.read_text()) if self.told.exists() else []

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
        """Wait for a worker that was started; one that computes though nobody was told of it would be found later."""
        deadline = time.monotonic() + PATIENCE
        while is_locked(self.seed / "lock") and time.monotonic() < deadline:
            time.sleep(0.02)


def attempted(folder: Path, part: str, reference: dict[str, Any], fault: dict[str, Any], at: int) -> dict[str, Any]:
    """Break one operation, run again on a sound disk, and return what is to be known of both."""
    place = Place(folder, part)
    code, operations = place.attempt(place.work, Disk(place.store.root, at, **fault))
    told = {
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
    return {**told, "again": again, "different": different}


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
