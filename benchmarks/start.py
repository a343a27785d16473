"""From the command that starts the server to the first page that can be used, and what the server imports for it."""

from __future__ import annotations

import statistics
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, sync_playwright

from benchmarks.generated_store import fill
from benchmarks.serving import cpu_seconds, megabytes, opened_store, server_of, settled
from docs.screenshots import CHROMIUM, FLAGS, free_port, serving
from glt.user_path import user_path

Taken = dict[str, float]


def measure_start(words: Sequence[str]) -> dict[str, Any]:
    """Measure as the command line says."""
    parser = ArgumentParser(prog="python -m benchmarks start", description=__doc__)
    parser.add_argument("--starts", type=int, default=5, help="starts of the server (default: 5, after a first one)")
    parser.add_argument("--runs", type=int, default=0, help="runs in the store that is opened (default: none)")
    parser.add_argument("--store", type=user_path, help="open this store instead")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as home, opened_store(Path(home), arguments.store):
        if arguments.runs and not arguments.store:
            fill(Path(home) / "runs", arguments.runs)
        return times_of_starts(arguments.starts, home)


def times_of_starts(repeats: int, home: str) -> dict[str, Any]:
    """Return the first start by itself, which fills the file cache, and the medians of so many after it.

    `listening`: seconds until the server answers. `usable`: until a page that was asked for then has come whole and
    takes clicks. `server_cpu_seconds` and `memory` (MB) are the server's, at that moment. The browser runs already and
    keeps what it has loaded, as a person's does: the address stays the same.
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
