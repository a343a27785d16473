"""Every page of the app over a store of a thousand runs: seconds to load it, seconds to switch to it, CPU seconds."""

from __future__ import annotations

import statistics
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from app.main import PAGES
from benchmarks.generated_store import fill
from benchmarks.serving import browser_cpu_seconds, cpu_seconds, megabytes, server_of, settled
from docs.screenshots import CHROMIUM, FLAGS, serving
from glt.user_path import user_path

RUNS = 1000
MILLISECONDS = 240_000

Taken = dict[str, float]


def measure_pages(words: Sequence[str]) -> dict[str, Any]:
    """Measure as the command line says: over a store that is there, or over one of a thousand runs made for it."""
    parser = ArgumentParser(prog="python -m benchmarks pages", description=__doc__)
    parser.add_argument("--epochs", type=int, default=100, help="loads of every page (default: 100)")
    parser.add_argument("--store", type=user_path, help="store to measure (default: a drawn one of a thousand runs)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    arguments = parser.parse_args(words)
    return times_of_pages(arguments.epochs, arguments.store)


def times_of_pages(repeats: int, store: Path | None = None) -> dict[str, Any]:
    """Return for each page the median seconds of so many loads (a fresh tab) and of as many switches by a click.

    The first load of every page stands by itself: it imports what a page needs and fills the caches. `memory` is that
    of the server in MB, before any page and after all. The store of a person is only read.
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
