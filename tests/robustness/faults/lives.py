"""One life of a run: the command that computes it, watched from outside and killed at a moment that was drawn."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

GLANCE = 0.002
# Generous, since the machine may be busy.
PATIENCE = 1800.0
STAGES = ("starting", "search", "pruning", "retraining", "writing")
SEARCHES = {"search", "solver network", "weights to prune"}
# After the last of these a method has all it needs to prune.
LAST_SEARCH = {"search", "weights to prune"}
WRITES = (
    r"\.init\..*\.writing",
    r"\.weights-.*\.writing",
    r"\.round-.*\.writing",
    r"\.checkpoint.*\.writing",
    r"\.status.*\.writing",
    r"weights-\d\d\.safetensors",
    r"round-\d\d\.safetensors",
    r"checkpoint\.safetensors",
    r"environment\.json",
)
VICTIMS = ("worker", "command", "both")


@dataclass(frozen=True)
class Moment:
    """When to kill, and whom: `delay` seconds after the start, or after the `count`-th sign of a pattern.

    A sign is the name of a new file, or an epoch as "epoch STAGE NUMBER".
    """

    victim: str
    delay: float
    count: int = 0
    sign: str = ""

    def __str__(self) -> str:
        after = f"sign {self.count} ({self.sign})" if self.count else "the start"
        return f"{self.victim} {self.delay * 1000:.1f} ms after {after}"


@dataclass(frozen=True)
class Plan:
    """What moments are drawn from: seconds to the first epoch and to the end, sizes of the run, its searches."""

    begin: float
    whole: float
    epochs: int
    rounds: int
    searches: frozenset[str]
    checkpoints: bool


def draw_moment(generator: np.random.Generator, stage: str, plan: Plan) -> Moment:
    """Draw a moment that is likely to fall into `stage`, or anywhere when the stage is "any"."""
    victim = str(generator.choice(VICTIMS))
    delay = float(generator.uniform(0, 0.01))
    if stage == "starting":
        return Moment(victim, float(generator.uniform(0, plan.begin)))
    if stage == "any":
        return Moment(victim, float(generator.uniform(0, plan.whole)))
    if stage == "writing":
        names = [name for name in WRITES if plan.checkpoints or "checkpoint" not in name]
        return Moment(victim, delay / 4, int(generator.integers(1, 3)), str(generator.choice(names)))
    if stage == "pruning":
        last = rf"epoch ({'|'.join(sorted(plan.searches & LAST_SEARCH))}) {plan.epochs - 1}"
        return Moment(victim, delay, 1, last if plan.searches else r"rounds\.jsonl")
    stages = "|".join(sorted(plan.searches)) if stage == "search" and plan.searches else "retrain"
    return Moment(victim, delay, int(generator.integers(1, plan.epochs)), rf"epoch ({stages}) \d+")


@dataclass
class Life:
    """A command that computes a run of a store; `signs` are the names and epochs that appeared since it was started."""

    command: subprocess.Popen[bytes]
    folder: Path
    started: float = field(default_factory=time.monotonic)
    signs: list[str] = field(default_factory=list)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    first_epoch: float | None = None
    _seen: set[str] = field(default_factory=set)
    _offset: int = 0
    _rounds: int = 0

    @classmethod
    def begin(cls, folder: Path, settings: Sequence[str], environment: Mapping[str, str]) -> Life:
        """Start `python -m glt run` on the run whose folder this will be."""
        arguments = ["run", "--store", str(folder.parent), *settings]
        with (folder.parent.parent / "command.txt").open("ab") as output:
            command = subprocess.Popen(
                [sys.executable, "-m", "glt", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, **environment},
            )
        life = cls(command, folder / "seed-0")
        life._seen = set(_names(life.folder))
        life._offset, life._rounds = _size(life.folder / "events.jsonl"), _size(life.folder / "rounds.jsonl")
        return life

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave no process behind."""
        for pid in [*self._workers(), *([self.command.pid] if self.command.poll() is None else [])]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.command.wait(PATIENCE)

    def end(self) -> int:
        """Watch to the end and return the exit code."""
        while self.command.poll() is None:
            self._glance()
        self._glance()
        return self.command.returncode

    def kill_at(self, moment: Moment) -> bool:
        """Kill at a moment; say whether it came before the end of the command."""
        deadline = time.monotonic() + PATIENCE
        while self.command.poll() is None:
            assert time.monotonic() < deadline, f"no sign of {moment}"
            self._glance()
            if self._has_come(moment):
                return self._kill(moment)
        return False

    def stage(self, plan: Plan) -> str:
        """Name the stage in which the run was killed, from the files it left."""
        names = _names(self.folder)
        rounds = (self.folder / "rounds.jsonl").read_bytes().count(b"\n") if "rounds.jsonl" in names else 0
        halves = [name for name in names if name.endswith(".writing")]
        parts = {f"{kind}-{rounds:02d}.safetensors" for kind in ("round", "weights")}
        if halves or parts & set(names) or rounds == plan.rounds:
            return "writing"
        self._glance()
        if not self.epochs:
            return "starting"
        last = self.epochs[-1]
        is_over = last["epoch"] == plan.epochs - 1
        if last["round"] < rounds:
            return "search" if plan.searches else "pruning"
        if last["stage"] in SEARCHES:
            return "pruning" if is_over and last["stage"] in LAST_SEARCH else "search"
        return "writing" if is_over else "retraining"

    def _has_come(self, moment: Moment) -> bool:
        if not moment.count:
            return time.monotonic() - self.started >= moment.delay
        if sum(re.fullmatch(moment.sign, sign) is not None for sign in self.signs) < moment.count:
            return False
        time.sleep(moment.delay)
        return True

    def _kill(self, moment: Moment) -> bool:
        """Kill as the moment says; the other process, if any, is given the time to end by itself."""
        workers = self._workers()
        victims = workers if moment.victim == "worker" and workers else [self.command.pid]
        victims = [*victims, *workers] if moment.victim == "both" else victims
        was_alive = self.command.poll() is None
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        code = self.command.wait(PATIENCE)
        psutil.wait_procs([psutil.Process(pid) for pid in workers if psutil.pid_exists(pid)], PATIENCE)
        # A worker that was done already leaves a command that is done.
        return was_alive and code != 0

    def _workers(self) -> list[int]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return [child.pid for child in psutil.Process(self.command.pid).children()]
        return []

    def _glance(self) -> None:
        names = _names(self.folder)
        self.signs += [name for name in names if name not in self._seen]
        # A final name that is written anew is no sign; a temporary one never comes twice.
        self._seen.update(names)
        rounds = _size(self.folder / "rounds.jsonl")
        if rounds > self._rounds:
            self.signs.append("rounds.jsonl")
        self._rounds = rounds
        self._read_epochs()
        time.sleep(GLANCE)

    def _read_epochs(self) -> None:
        path = self.folder / "events.jsonl"
        size = _size(path)
        self._offset = min(self._offset, size)
        if size == self._offset:
            return
        with path.open("rb") as file:
            file.seek(self._offset)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        epochs = [json.loads(line) for line in whole.splitlines()]
        self.epochs += epochs
        self.signs += [f"epoch {each['stage']} {each['epoch']}" for each in epochs]
        self.first_epoch = self.first_epoch or time.monotonic() - self.started


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


# The only things in which a run that was killed and resumed may differ from one that was not.
EXEMPT_FILES = {
    "log.txt",  # what was printed, each time
    "lock",  # the process that held it last, and its host
}
MOMENTS = {"heartbeat", "queued_at", "running_since", "progress"}
EXEMPT_FIELDS = {
    # Its checksum covers the other exempt fields.
    "status.json": {"pid", "process_started", "process_mark", "host", "crc32", *MOMENTS},
    "rounds.jsonl": {"seconds"},
}


def comparable(run: Path) -> dict[str, Any]:
    """Return the content of every file of a run's folder by its path in it, without what is exempt."""
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and path.name not in EXEMPT_FILES]
    return {path.relative_to(run).as_posix(): _content(path) for path in files}


def assert_equal(run: Path, reference: Path) -> None:
    """Compare two folders of the same run file by file."""
    found, expected = comparable(run), comparable(reference)
    assert sorted(found) == sorted(expected)
    for name in expected:
        assert found[name] == expected[name], name


def assert_nothing_is_lost(run: Path, reference: Path, rounds: int) -> int:
    """Assert that at least so many rounds are complete and equal to the reference; return their number."""
    from glt.store import Store

    if not (run / "seed-0" / "rounds.jsonl").exists():
        assert rounds == 0
        return 0
    seed_run = Store(run.parent).find(run.name).seed(0)
    whole = seed_run.whole_rounds()
    assert seed_run.sound_rounds() == whole >= rounds
    for number in range(whole):
        for kind in ("round", "weights"):
            name = f"seed-0/{kind}-{number:02d}.safetensors"
            assert (run / name).read_bytes() == (reference / name).read_bytes(), name
    return whole


def _content(path: Path) -> Any:
    content, exempt = path.read_bytes(), EXEMPT_FIELDS.get(path.name)
    if exempt is None:
        return content
    return [{name: value for name, value in json.loads(line).items() if name not in exempt} for line in _lines(content)]


def _lines(content: bytes) -> list[bytes]:
    assert content.endswith(b"\n") or content.count(b"\n") == 0
    return content.splitlines()
