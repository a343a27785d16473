"""What the benchmarks of the app share: the server that runs, what it uses, and when a page has come whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from playwright.sync_api import Page

from docs.screenshots import SETTLED


@contextmanager
def opened_store(home: Path, store: Path | None) -> Iterator[Path]:
    """Put a store where the server that has `home` as its home folder looks for one; a person's is only read."""
    runs = home / "runs"
    if store is not None:
        runs.symlink_to(store.absolute())
    yield runs


def settled(page: Page) -> None:
    """Wait until a page has its heading and nothing of it is still computed."""
    page.wait_for_function("document.querySelector('h1')")
    page.wait_for_function(SETTLED)


def server_of() -> psutil.Process:
    """Return the server that this process has started."""
    return next(child for child in psutil.Process().children() if "streamlit" in child.cmdline())


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds that a process has used."""
    used = process.cpu_times()
    return round(float(used.user + used.system), 3)


def browser_cpu_seconds(server: psutil.Process) -> float:
    """Return the CPU seconds of what this process has started beside the server: the browser and who steers it."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            used += cpu_seconds(process) if process != server else 0.0
    return used


def megabytes(process: psutil.Process) -> int:
    """Return the memory (MB) that a process has in RAM."""
    return round(process.memory_info().rss / 1e6)
