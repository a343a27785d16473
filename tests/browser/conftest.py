"""A server of the app over a store of its own, and a Chromium that may reach nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from glt.jobs import stop
from glt.presets import resolve
from glt.store import Store
from tests.opening import free_port, wait_for

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No other host is found. (Playwright's own way to cut requests off also switches the browser's memory off.)
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
)
# Workers load torch first, perhaps beside other work.
MILLISECONDS = 900_000

expect.set_options(timeout=MILLISECONDS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, draw_seed: Callable[..., None]) -> Iterator[Store]:
    """A store with two finished runs; running workers are stopped at the end."""
    store = Store(tmp_path_factory.mktemp("browser") / "store")
    for method in ("ugs", "random"):
        config = resolve({"method": method, "rounds": 3, "epochs": 5, "retrain_epochs": 5}, "official")
        run = store.create(config)
        for seed in (0, 1):
            draw_seed(run.seed(seed))
    yield store
    for run in store.runs():
        stop(run)


@pytest.fixture(scope="module")
def address(store: Store) -> Iterator[str]:
    """The address of a server over the store."""
    with serving(store.root) as address:
        yield address


@pytest.fixture(scope="module")
def serve() -> Callable[..., AbstractContextManager[str]]:
    """Return `serving`."""
    return serving


@contextmanager
def serving(store: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Serve the app over a store for as long as the context lasts, and give its address."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app/main.py", "--server.headless", "true"]
    log = store.parent / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, "--server.port", str(port), "--server.fileWatcherType", "none"],
            cwd=ROOT,
            env={**os.environ, "GLT_STORE": str(store), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(f"http://localhost:{port}/_stcore/health", server, log)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM} (CHROMIUM)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh browser profile; any request to another host than the app fails the test."""
    requests: list[str] = []

    def note(request: Request) -> None:
        if request.url.startswith("http") and "//localhost:" not in request.url:
            requests.append(request.url)

    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(MILLISECONDS)
    context.on("request", note)
    yield context
    context.close()
    assert requests == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab."""
    return context.new_page()
