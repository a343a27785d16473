"""Whole runs of UGS with the GCN by the workers that `glt run` starts: `python -m benchmarks runs`.

Two rounds of 60 epochs unless `--full` asks for all: 20 rounds are 41 trainings of 200 epochs. CPU seconds are those of
the workers, wall seconds from the start of the first to the end of the last; "longest seed" leaves out their start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.own_process import ROOT
from benchmarks.results import Measured, document, single
from benchmarks.subjects import SMALL
from glt.errors import JobError
from glt.jobs.devices import Settings
from glt.presets import resolve
from glt.store import Store

SHORT = {"rounds": 2, "epochs": 60, "retrain_epochs": 60}
FULL = {"rounds": 20}


@dataclass(frozen=True)
class Taken:
    """CPU and wall seconds of all workers, and of each seed what its rounds took by their own clock."""

    cpu: float
    wall: float
    rounds: tuple[float, ...]


def measure_runs(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU and wall seconds of a run on each graph, all seeds together."""
    parser = ArgumentParser(prog="python -m benchmarks runs", description=__doc__)
    parser.add_argument("--subjects", nargs="+", default=["cora"], choices=SMALL)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="they run side by side (default: 0)")
    parser.add_argument("--full", action="store_true", help="20 rounds of 200 epochs instead of 2 of 60")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
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
    """Run UGS on a GCN with the preset `official` into a store that is thrown away, a worker a seed side by side.

    Raises JobError when one of them fails.
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
    # The object must not wait for a process that is gone.
    worker.returncode = os.waitstatus_to_exitcode(state)
    if worker.returncode:
        raise JobError(f"A worker ended with exit code {worker.returncode}; what it said stands above.")
    return used.ru_utime + used.ru_stime
