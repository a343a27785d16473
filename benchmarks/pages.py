"""Pages of the app: time to load them, to start the server, and to read a run with a million events."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import BrowserContext, Page, sync_playwright

from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from app.main import PAGES
from benchmarks.results import command_parser
from benchmarks.session import Visitor, browser_cpu_seconds, cpu_seconds, megabytes, opened_store, server_of, settled
from benchmarks.stores import ROUNDS, configs, fill, write_run
from docs.screenshots import CHROMIUM, FLAGS, ROOT, free_port, serving
from glt.config import canonical_json
from glt.store import Event, Run, Store
from glt.user_path import user_path

RUNS = 1000
MILLISECONDS = 240_000

Taken = dict[str, float]


def measure_pages(words: Sequence[str]) -> dict[str, Any]:
    """Measure as the command line says: over a store that is there, or over one of a thousand runs made for it."""
    parser = command_parser("pages", "Time to load each page of the app and to switch to it.")
    parser.add_argument("--epochs", type=int, default=100, help="loads per page (default: 100)")
    parser.add_argument("--store", type=user_path, help="store to measure (default: a random one of 1,000 runs)")
    arguments = parser.parse_args(words)
    return times_of_pages(arguments.epochs, arguments.store)


def times_of_pages(repeats: int, store: Path | None = None) -> dict[str, Any]:
    """Return median seconds of loads (a new tab) and of switches (a click), by page.

    The first load is separate: it imports modules and fills caches. `memory` is the server's in MB, before and after.
    """
    with tempfile.TemporaryDirectory() as home:
        if store is None:
            fill(Path(home) / "runs", RUNS)
        else:
            (Path(home) / "runs").symlink_to(store.absolute())
        with serving(home) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            page = browser.new_page()
            page.set_default_timeout(MILLISECONDS)
            server = server_of()
            before = megabytes(server)
            loads = _rounds(lambda title: _load(page, f"{address}/{title.lower()}"), server, repeats)
            switches = _rounds(lambda title: _switch(page, title), server, repeats)
            memory = {"before": before, "after": megabytes(server)}
            browser.close()
    pages = {
        title: {"first": loads[title][0], "load": _medians(loads[title][1:]), "switch": _medians(switches[title][1:])}
        for title in PAGES
    }
    return {**pages, "memory": memory}


def _rounds(show: Callable[[str], None], server: psutil.Process, repeats: int) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {title: [] for title in PAGES}
    for _ in range(repeats + 1):
        for title in PAGES:
            taken[title].append(_timed(lambda title=title: show(title), server))
    return taken


def _medians(times: list[Taken]) -> Taken:
    return {name: round(statistics.median(each[name] for each in times), 3) for name in times[0]}


def _timed(show: Callable[[], None], server: psutil.Process) -> Taken:
    before, drawn, started = cpu_seconds(server), browser_cpu_seconds(server), time.perf_counter()
    show()
    return {
        "seconds": round(time.perf_counter() - started, 3),
        "server_cpu_seconds": round(cpu_seconds(server) - before, 3),
        "browser_cpu_seconds": round(browser_cpu_seconds(server) - drawn, 3),
    }


def _load(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)


def _switch(page: Page, title: str) -> None:
    page.get_by_test_id("stTopNavLink").get_by_text(title, exact=True).click()
    page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title)
    settled(page)


# Start of the server.


def measure_start(words: Sequence[str]) -> dict[str, Any]:
    """Return the start-up times of the server."""
    parser = command_parser("start", "Time from starting the server to a usable page.")
    parser.add_argument("--starts", type=int, default=5, help="starts of the server after a first one (default: 5)")
    parser.add_argument("--runs", type=int, default=0, help="runs in the store (default: none)")
    parser.add_argument("--store", type=user_path, help="open this store instead")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as home, opened_store(Path(home), arguments.store):
        if arguments.runs and not arguments.store:
            fill(Path(home) / "runs", arguments.runs)
        return times_of_starts(arguments.starts, home)


def times_of_starts(repeats: int, home: str) -> dict[str, Any]:
    """Return the first start, which fills the file cache, and medians of later ones.

    `listening`: seconds until the server answers; `usable`: until a page takes clicks. `server_cpu_seconds` and
    `memory` (MB) are the server's at that moment. The browser is running and keeps its cache.
    """
    port = free_port()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            f"{home}/browser", executable_path=CHROMIUM, args=list(FLAGS)
        )
        taken = [_start(browser, home, port) for _ in range(repeats + 1)]
        browser.close()
    warm = {name: round(statistics.median(each[name] for each in taken[1:]), 3) for name in taken[0]}
    return {"first": taken[0], "warm": warm, "starts": repeats}


def _start(browser: BrowserContext, home: str, port: int) -> Taken:
    begun = time.perf_counter()
    with serving(home, port=port) as address:
        listening = time.perf_counter() - begun
        page = browser.new_page()
        page.goto(address)
        settled(page)
        usable, server = time.perf_counter() - begun, server_of()
        cpu, memory = cpu_seconds(server), megabytes(server)
        page.close()
    return {"listening": round(listening, 3), "usable": round(usable, 3), "server_cpu_seconds": cpu, "memory": memory}


# A run with a million events.

LINES = 1_000_000
LOG_LINES = 200_000


def measure_events(words: Sequence[str]) -> dict[str, Any]:
    """Return the times to show and read a run with many events."""
    parser = command_parser("events", "Time to read a run with a million epochs.")
    parser.add_argument("--lines", type=int, default=LINES, help="number of events (default: 1,000,000)")
    parser.add_argument("--repeats", type=int, default=5, help="repetitions (default: 5)")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as home:
        run = fill_events(Path(home) / "runs", arguments.lines)
        return {"lines": arguments.lines, "rounds": ROUNDS + 1, **_times(home, run, arguments.repeats)}


def fill_events(folder: Path, lines: int) -> Run:
    """Write a run of one seed with `lines` epochs in all and a long log."""
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
        "show": _median_times(lambda: subprocess.run(show, cwd=ROOT, check=True, stdout=subprocess.DEVNULL), repeats),
        "figure_of_a_round": _median_times(lambda: draw("training", [run], FigureChoices()), repeats),
        "every_line_read": _median_times(lambda: run.seed(0).events(), 1),
    }


async def _pages(address: str, run: Run, repeats: int) -> dict[str, Taken]:
    """Time the page of the run: first view, later views, and a round not yet shown."""
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


def _median_times(step: Callable[[], object], repeats: int) -> Taken:
    """Return median seconds of repetitions; CPU seconds include ended children."""
    taken = []
    for _ in range(repeats):
        begun, before = time.perf_counter(), sum(os.times()[:4])
        step()
        taken.append((time.perf_counter() - begun, sum(os.times()[:4]) - before))
    seconds, cpu = (round(statistics.median(column), 3) for column in zip(*taken, strict=True))
    return {"seconds": seconds, "cpu_seconds": cpu}
