"""Whole runs of UGS with the GCN, by the workers that `glt run` starts, and two seeds side by side.

Two rounds of 60 epochs, or with `--full` 20 rounds of 200. Wall seconds run from the start of the first worker to the
end of the last; "longest seed" is without their start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import ROOT, Measured, command_parser, document, single, spread
from benchmarks.subjects import SMALL
from glt.errors import ConfigError, JobError
from glt.jobs.devices import Settings
from glt.presets import resolve
from glt.store import Store

SHORT = {"rounds": 2, "epochs": 60, "retrain_epochs": 60}
FULL = {"rounds": 20}


@dataclass(frozen=True)
class Taken:
    """CPU and wall seconds of all workers, and the recorded seconds of each seed's rounds."""

    cpu: float
    wall: float
    rounds: tuple[float, ...]


def measure_runs(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU and wall seconds of a run by graph, all seeds together."""
    parser = command_parser("runs", "CPU and wall seconds of whole UGS runs with the GCN.")
    parser.add_argument("--subjects", nargs="+", default=["cora"], choices=SMALL)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="seeds, run side by side (default: 0)")
    parser.add_argument("--full", action="store_true", help="20 rounds of 200 epochs instead of 2 of 60")
    options = parser.parse_args(words)
    results: list[Measured] = []
    for subject in options.subjects:
        taken = run_once(subject, options.seeds, FULL if options.full else SHORT)
        rounds = "20 rounds" if options.full else "2 rounds of 60 epochs"
        seeds = f", {len(options.seeds)} seeds" if len(options.seeds) > 1 else ""
        name = f"runs/{subject}/{rounds}{seeds}"
        results += [single(name, taken.cpu, "CPU s"), single(f"{name}, wall", taken.wall, "s")]
        results.append(single(f"{name}, longest seed", max(taken.rounds), "s"))
    return document(results)


def run_once(subject: str, seeds: Sequence[int], settings: dict[str, int]) -> Taken:
    """Run UGS with a GCN (preset `official`) in a temporary store, one worker per seed.

    Raises JobError if a worker fails.
    """
    config = resolve({"dataset": subject, "method": "ugs", **settings}, "official")
    with tempfile.TemporaryDirectory() as folder:
        run, begun = Store(Path(folder)).create(config), time.perf_counter()
        words = [sys.executable, "-m", "glt.jobs.worker", folder, run.name]
        workers = [subprocess.Popen([*words, str(seed)], env=Settings().variables(), cwd=ROOT) for seed in seeds]
        cpu = sum([_cpu_of_ended(worker) for worker in workers])
        wall = time.perf_counter() - begun
        rounds = tuple(sum(record.seconds for record in run.seed(seed).rounds()) for seed in seeds)
    return Taken(cpu, wall, rounds)


def _cpu_of_ended(worker: subprocess.Popen[bytes]) -> float:
    """Wait for a worker and return its CPU seconds."""
    _, state, used = os.wait4(worker.pid, 0)
    # Popen must not wait for a process that has been waited for.
    worker.returncode = os.waitstatus_to_exitcode(state)
    if worker.returncode:
        raise JobError(f"A worker ended with exit code {worker.returncode}; see its output above.")
    return used.ru_utime + used.ru_stime


# Two seeds side by side.

SETTINGS = {"rounds": 1, "epochs": 100, "retrain_epochs": 100}


def measure_parallel(words: Sequence[str]) -> dict[str, Any]:
    """Return seconds of one seed, of the slower of two, and ratios.

    Raises ConfigError on a single core. Wall seconds need an otherwise idle machine.
    """
    parser = command_parser("parallel", "Time of two seeds side by side and of one alone.")
    parser.add_argument("--subject", default="cora", choices=SMALL)
    parser.add_argument("--turns", type=int, default=3, help="repetitions (default: 3)")
    options = parser.parse_args(words)
    if (os.cpu_count() or 1) < 2:
        raise ConfigError("Two seeds side by side need two cores, and this machine has one.")
    turns = [
        (run_once(options.subject, [0], SETTINGS), run_once(options.subject, [0, 1], SETTINGS))
        for _ in range(options.turns)
    ]
    return document(_results(f"parallel/{options.subject}", turns))


def _results(name: str, turns: Sequence[tuple[Taken, Taken]]) -> list[Measured]:
    wall = [(max(one.rounds), max(two.rounds)) for one, two in turns]
    return [
        spread(f"{name}/one seed", [one for one, _ in wall], "s"),
        spread(f"{name}/two seeds side by side", [two for _, two in wall], "s"),
        spread(f"{name}/two over one", [two / one for one, two in wall], "ratio"),
        spread(f"{name}/two over one, CPU seconds a seed", [two.cpu / 2 / one.cpu for one, two in turns], "ratio"),
    ]
