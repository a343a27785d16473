"""Load: browser tabs and websocket clients on live pages while jobs run; errors, memory and response times.

The exit status is 1 after any error on a page, traceback in the server's log or broken connection.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.async_api import Browser, Error, Page, async_playwright
from playwright.async_api import TimeoutError as NotInTime
from websockets import ConnectionClosed

from app.main import PAGES
from benchmarks.results import command_parser
from benchmarks.session import Visitor, cpu_seconds, server_of
from docs.screenshots import CHROMIUM, FLAGS, SETTLED, serving
from glt import jobs
from glt.jobs.queue import SLOTS_VARIABLE
from glt.presets import resolve
from glt.store import Run, Store
from glt.user_path import user_path

TABS = 3
JOBS = 4
SLOTS = 2
# Small runs that last as long as the load.
LASTING = {"dataset": "cora", "hidden": 16, "rounds": 20, "epochs": 5000, "retrain_epochs": 5000}
# Pages of the websocket clients, mostly the live one.
STAYS = (*["runs"] * 11, "curves", "measurements", "tickets", "compare", "launch", "subgraphs")
# Seconds between clicks of a client.
PAUSE = (3.0, 9.0)
# Seconds that Streamlit keeps a closed session.
FORGOTTEN = 130.0
MILLISECONDS = 120_000
TRACEBACK = "Traceback (most recent call last):\n"
GONE = "WebSocketDisconnected"


@dataclass
class Seen:
    """Errors and response times of all clients."""

    errors: list[str] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    live: list[float] = field(default_factory=list)
    tabs: list[float] = field(default_factory=list)


def measure_load(words: Sequence[str]) -> dict[str, Any]:
    """Return errors, response times and memory under load."""
    parser = command_parser("load", "Many simultaneous clients: errors, memory and response times.")
    parser.add_argument("--clients", type=int, default=20, help=f"tabs ({TABS} of them) and sockets (default: 20)")
    parser.add_argument("--minutes", type=float, default=5, help="duration (default: 5)")
    parser.add_argument("--log", type=user_path, help="file for the server log")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as home:
        log = arguments.log or Path(home) / "server.log"
        return asyncio.run(_load(home, log, arguments.clients, arguments.minutes))


async def _load(home: str, log: Path, clients: int, minutes: float) -> dict[str, Any]:
    store, seen, chance = Store(Path(home) / "runs"), Seen(), random.Random(0)  # noqa: S311
    with log.open("wb") as written, serving(home, written) as address:
        server = server_of()
        os.environ[SLOTS_VARIABLE] = str(SLOTS)
        runs = [jobs.start(store, resolve({**LASTING, "method": m}), [seed]).run for m, seed in _asked()]
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
                memory, cpu = await _visited(address, browser, server, runs, seen, chance, clients, minutes)
                await browser.close()
            states = dict(Counter(run.seed(seed).status().state for run, (_, seed) in zip(runs, _asked(), strict=True)))
            await asyncio.sleep(FORGOTTEN)
            after = _memory(server)
        finally:
            for run in {run.name: run for run in runs}.values():
                jobs.stop(run, grace=5.0)
    failures, cut_off = _failures(log.read_text(errors="replace"))
    seen.errors += failures
    return {
        "clients": {"tabs": min(TABS, clients), "sockets": max(clients - TABS, 0), "minutes": minutes},
        "errors": {"count": len(seen.errors), "first": sorted(set(seen.errors))[:10]},
        "cut_off": cut_off,
        "seconds": {name: _spread(getattr(seen, name)) for name in ("pages", "live", "tabs")},
        "memory": {"by_minute": memory, "after_all_have_gone": after, "uss_mb_a_minute": _slope(memory)},
        "server_cpu_share": round(cpu, 3),
        "jobs": states,
    }


def _asked() -> list[tuple[str, int]]:
    """Return the method and seed of each job."""
    return [("ugs", 0), ("random", 0), ("ugs", 1), ("random", 1)][:JOBS]


async def _visited(
    address: str,
    browser: Browser,
    server: psutil.Process,
    runs: Sequence[Run],
    seen: Seen,
    chance: random.Random,
    clients: int,
    minutes: float,
) -> tuple[list[dict[str, float]], float]:
    """Run all clients; return the server's memory by minute and its CPU share."""
    memory = [_memory(server)]
    begun, before = time.monotonic(), cpu_seconds(server)
    ends = begun + 60 * minutes
    tabs = [_tab(browser, address, seen, random.Random(k), ends) for k in range(min(TABS, clients))]  # noqa: S311
    sockets = [
        _socket(address, STAYS[k % len(STAYS)], runs[k % len(runs)], seen, random.Random(100 + k), ends)  # noqa: S311
        for k in range(max(clients - TABS, 0))
    ]
    watched = asyncio.gather(*tabs, *sockets)
    while not watched.done():
        await asyncio.wait([watched], timeout=min(60.0, 60 * minutes / 2))
        memory.append({**_memory(server), "minute": round((time.monotonic() - begun) / 60, 2)})
    await watched
    return memory, (cpu_seconds(server) - before) / (time.monotonic() - begun)


async def _socket(address: str, page: str, run: Run, seen: Seen, chance: random.Random, ends: float) -> None:
    """Stay on one page and click now and then; what lives on it asks by itself."""
    # People do not come all at once.
    await asyncio.sleep(chance.uniform(0, 10))
    visitor = Visitor(address, chance)
    try:
        async with visitor:
            await visitor.open(page, **({"run": run.name} if page == "runs" else {}))
            while time.monotonic() < ends:
                await asyncio.sleep(chance.uniform(*PAUSE))
                await visitor.click()
    except (OSError, ConnectionClosed) as error:
        seen.errors.append(f"{page}: {error}")
    seen.errors += visitor.errors
    for answer in visitor.answers:
        (seen.live if answer.live else seen.pages).append(answer.seconds)


async def _tab(browser: Browser, address: str, seen: Seen, chance: random.Random, ends: float) -> None:
    """Visit pages in a browser tab and flip toggles."""
    page = await (await browser.new_context()).new_page()
    page.set_default_timeout(MILLISECONDS)
    page.on("pageerror", lambda error: seen.errors.append(f"tab on {page.url.partition('?')[0]}: {error}"))
    try:
        await page.goto(f"{address}/runs")
        await _settled(page)
        while time.monotonic() < ends:
            await asyncio.sleep(chance.uniform(*PAUSE))
            begun = time.perf_counter()
            await _switch(page, chance.choice(PAGES))
            seen.tabs.append(time.perf_counter() - begun)
            errors = page.locator("[data-testid=stException], [data-testid=stAlertContentError]")
            seen.errors += [f"tab: {words}" for words in await errors.all_inner_texts()]
            await _flip(page, chance)
    except Error as error:
        seen.errors.append(f"tab: {error.message.splitlines()[0]}")
    await page.context.close()


async def _switch(page: Page, title: str) -> None:
    await page.get_by_test_id("stTopNavLink").get_by_text(title, exact=True).click()
    await page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title)
    await _settled(page)


async def _flip(page: Page, chance: random.Random) -> None:
    toggles = page.locator("[data-testid=stCheckbox] label:visible")
    count = await toggles.count()
    if not count:
        return
    chosen = chance.randrange(count)
    try:
        await toggles.nth(chosen).click()
    except NotInTime:
        # A live page may have removed the toggle meanwhile.
        if await toggles.count() > chosen:
            raise
    await _settled(page)


async def _settled(page: Page) -> None:
    await page.wait_for_function("document.querySelector('h1')")
    await page.wait_for_function(SETTLED)


def _failures(log: str) -> tuple[list[str], int]:
    """Return the last line of every traceback in a log, and the count of closed clients.

    Streamlit logs a traceback if a tab is closed while data is sent to it.
    """
    ends = [re.search(r"^\S[^\n]*", part, re.MULTILINE) for part in log.split(TRACEBACK)[1:]]
    told = [end[0] if end else "a traceback without an end" for end in ends]
    failures = [one for one in told if GONE not in one]
    return failures, len(told) - len(failures)


def _memory(server: psutil.Process) -> dict[str, float]:
    """Return unique and resident memory in MB."""
    used = server.memory_full_info()
    return {"uss": round(used.uss / 1e6, 1), "rss": round(used.rss / 1e6, 1)}


def _slope(memory: Sequence[dict[str, float]]) -> float | None:
    """Return MB per minute in the second half, when all caches are full."""
    later = [each for each in memory if "minute" in each and each["minute"] >= memory[-1]["minute"] / 2]
    if len(later) < 2:
        return None
    return round(float(np.polyfit([each["minute"] for each in later], [each["uss"] for each in later], 1)[0]), 2)


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {"count": 0}
    p50, p95 = (round(float(np.percentile(seconds, share)), 3) for share in (50, 95))
    return {"count": len(seconds), "p50": p50, "p95": p95, "most": round(max(seconds), 3)}
