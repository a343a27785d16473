"""Every page of the app over a store of a thousand runs: seconds to load it, seconds to switch to it, CPU seconds."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from app.main import PAGES
from benchmarks.generated_store import fill
from docs.screenshots import CHROMIUM, FLAGS, SETTLED, serving

RUNS = 1000
MILLISECONDS = 240_000


def measure_pages(repeats: int) -> dict[str, Any]:
    """Return for each page the median seconds of so many loads (a fresh tab) and of as many switches by a click.

    A first round over all pages is not counted: it imports what a page needs and fills the caches.
    """
    with tempfile.TemporaryDirectory() as home:
        fill(Path(home) / "runs", RUNS)
        with serving(home) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            page = browser.new_page()
            page.set_default_timeout(MILLISECONDS)
            server = _server()
            loads = _rounds(lambda title: _load(page, f"{address}/{title.lower()}"), server, repeats)
            switches = _rounds(lambda title: _switch(page, title), server, repeats)
            browser.close()
    return {title: {"load": loads[title], "switch": switches[title]} for title in PAGES}


def _rounds(show: Callable[[str], None], server: psutil.Process, repeats: int) -> dict[str, dict[str, float]]:
    taken: dict[str, list[tuple[float, float]]] = {title: [] for title in PAGES}
    for _ in range(repeats + 1):
        for title in PAGES:
            taken[title].append(_timed(lambda title=title: show(title), server))
    return {title: _medians(times[1:]) for title, times in taken.items()}


def _medians(times: list[tuple[float, float]]) -> dict[str, float]:
    seconds, cpu = zip(*times, strict=True)
    return {"seconds": round(statistics.median(seconds), 3), "server_cpu_seconds": round(statistics.median(cpu), 3)}


def _timed(show: Callable[[], None], server: psutil.Process) -> tuple[float, float]:
    before, started = _cpu(server), time.perf_counter()
    show()
    return time.perf_counter() - started, _cpu(server) - before


def _load(page: Page, address: str) -> None:
    page.goto(address)
    _settled(page)


def _switch(page: Page, title: str) -> None:
    page.get_by_test_id("stTopNavLink").get_by_text(title, exact=True).click()
    page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title)
    _settled(page)


def _settled(page: Page) -> None:
    page.wait_for_function("document.querySelector('h1')")
    page.wait_for_function(SETTLED)


def _server() -> psutil.Process:
    return next(child for child in psutil.Process().children() if "streamlit" in child.cmdline())


def _cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)
