"""A run of a million epochs, eight hours' worth: what a page, a figure and `show` take to say where it stands."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from benchmarks.generated_store import ROUNDS, configs, write_run
from benchmarks.serving import cpu_seconds, megabytes, server_of
from benchmarks.visitor import Visitor
from docs.screenshots import ROOT, serving
from glt.config import canonical_json
from glt.store import Event, Run, Store

LINES = 1_000_000
LOG_LINES = 200_000

Taken = dict[str, float]


def measure_events(words: Sequence[str]) -> dict[str, Any]:
    """Measure as the command line says."""
    parser = ArgumentParser(prog="python -m benchmarks events", description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES, help="lines of events (default: 1,000,000)")
    parser.add_argument("--repeats", type=int, default=5, help="looks at each (default: 5)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as home:
        run = fill_events(Path(home) / "runs", arguments.lines)
        return {"lines": arguments.lines, "rounds": ROUNDS + 1, **_times(home, run, arguments.repeats)}


def fill_events(folder: Path, lines: int) -> Run:
    """Write a run of one seed whose rounds have so many epochs together, and a long log."""
    store, generator = Store(folder), np.random.default_rng(0)
    run = store.create(next(configs()))
    write_run(run, [0], generator)
    seed_run, each = run.seed(0), lines // (2 * (ROUNDS + 1))
    with seed_run.event_file.path.open("w") as file:
        for number in range(ROUNDS + 1):
            for stage in ("search", "retrain"):
                for epoch, (loss, val, test) in enumerate(generator.random((each, 3)).tolist()):
                    event = Event(round=number, stage=stage, epoch=epoch, loss=loss, val=val, test=test)
                    file.write(f"{canonical_json(event.model_dump())}\n")
    seed_run.log_path.write_text("".join(f"a line of the log, the {line}th\n" for line in range(LOG_LINES)))
    return run


def _times(home: str, run: Run, repeats: int) -> dict[str, Any]:
    with serving(home) as address:
        pages = asyncio.run(_pages(address, run, repeats))
        memory = megabytes(server_of())
    show = [sys.executable, "-m", "glt", "show", str(run.path), "--json"]
    return {
        "pages": pages,
        "server_memory": memory,
        "show": _timed(lambda: subprocess.run(show, cwd=ROOT, check=True, stdout=subprocess.DEVNULL), repeats),
        "figure_of_a_round": _timed(lambda: draw("training", [run], FigureChoices()), repeats),
        "every_line_read": _timed(lambda: run.seed(0).events(), 1),
    }


async def _pages(address: str, run: Run, repeats: int) -> dict[str, Taken]:
    """Time the page of the run, its first look apart, and a look at a round that nobody has seen yet."""
    taken: dict[str, Taken] = {}
    async with Visitor(address, random.Random(0)) as visitor:  # noqa: S311
        server = server_of()
        for name, views in (
            ("first_of_all", [{}]),
            ("runs_first", [{"run": run.name}]),
            ("runs", [{"run": run.name}] * repeats),
            ("runs_another_round", [{"run": run.name, "training_round": str(k)} for k in range(repeats)]),
            ("export", [{"runs": run.name, "x": "training"}] * repeats),
        ):
            page = "launch" if name == "first_of_all" else name.partition("_")[0]
            before, seconds = cpu_seconds(server), []
            for view in views:
                seconds.append(await visitor.open(page, **view))
                await asyncio.sleep(1.1)
            cpu = (cpu_seconds(server) - before) / len(views)
            taken[name] = {"seconds": round(statistics.median(seconds), 3), "server_cpu_seconds": round(cpu, 3)}
        if visitor.errors:
            sys.exit("\n".join(visitor.errors))
    return taken


def _timed(step: Callable[[], object], repeats: int) -> Taken:
    """Return the median of so many repetitions; CPU seconds are this process's and its ended children's."""
    taken = []
    for _ in range(repeats):
        begun, before = time.perf_counter(), sum(os.times()[:4])
        step()
        taken.append((time.perf_counter() - begun, sum(os.times()[:4]) - before))
    seconds, cpu = (round(statistics.median(column), 3) for column in zip(*taken, strict=True))
    return {"seconds": seconds, "cpu_seconds": cpu}
