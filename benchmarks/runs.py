"""Whole runs of UGS with the GCN, as `glt run` computes them: `python -m benchmarks runs`.

Two rounds of 60 epochs unless `--full` asks for all: 20 rounds are 41 trainings of 200 epochs. CPU seconds are those of
everything the command starts, wall seconds from its start to its end; `rounds` adds up what the rounds say they took.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.own_process import ROOT
from benchmarks.results import Measured, document, single
from benchmarks.subjects import SMALL
from glt.jobs.settings import Settings
from glt.store import Store

SHORT = {"rounds": 2, "epochs": 60, "retrain_epochs": 60}
FULL = {"rounds": 20}


@dataclass(frozen=True)
class Taken:
    """CPU and wall seconds of a command, and of each seed what its rounds took by their own clock."""

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
    """Run UGS on a GCN with the preset `official` into a store that is thrown away; raises CalledProcessError."""
    chosen = [f"{name}={value}" for name, value in settings.items()]
    numbers = ",".join(map(str, seeds))
    command = ["run", "--dataset", subject, "--method", "ugs", "--preset", "official", "--seeds", numbers, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        whole = [sys.executable, "-m", "glt", *command, "--store", folder, "--set", *chosen]
        before, begun = _children(), time.perf_counter()
        subprocess.run(whole, env=Settings().variables(), stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
        wall, cpu = time.perf_counter() - begun, _children() - before
        run = Store(folder).runs()[0]
        rounds = tuple(sum(record.seconds for record in run.seed(seed).rounds()) for seed in seeds)
    return Taken(cpu, wall, rounds)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
