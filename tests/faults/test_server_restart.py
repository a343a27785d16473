"""A server that is killed takes no run with it: the next one shows it at work, and stops it (`make faults` only)."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, expect

from glt.store import Run, Store
from tests.browser.conftest import MILLISECONDS, serving
from tests.browser.conftest import browser as browser  # noqa: PLC0414 - the browser tests' fixtures
from tests.faults.effort import THOROUGH

LONG = "methods=random&seeds=0&hidden=8&rounds=20&epochs=2000&retrain_epochs=2000"


def kill_server(store: Path) -> None:
    """Kill the server over a store as a crash would, with no chance to tell anyone."""
    servers = [child for child in psutil.Process().children() if child.environ().get("GLT_STORE") == str(store)]
    for server in servers:
        os.kill(server.pid, signal.SIGKILL)
    assert len(servers) == 1


@pytest.mark.skipif(not THOROUGH, reason="two servers and a browser: make faults")
def test_a_run_outlives_its_server(tmp_path: Path, browser: Browser) -> None:
    store = tmp_path / "store"
    with serving(store) as address:
        page = browser.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.goto(f"{address}/launch?{LONG}")
        page.get_by_role("button", name="Start 1 run").click()
        page.wait_for_url(re.compile(r"/runs\?"))
        expect(page.locator(".st-key-seed-row-0")).to_contain_text("retrain")
        kill_server(store)
        page.close()
    run: Run = Store(store).runs()[0]
    before = run.seed(0).status()
    assert before.state == "running"
    with serving(store) as address:
        page = browser.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.goto(f"{address}/runs?run={run.name}")
        expect(page.locator(".st-key-seed-row-0")).to_contain_text("retrain")
        assert run.seed(0).status().pid == before.pid
        page.get_by_role("button", name="Stop all").click()
        # While the page is drawn anew, the old row stands beside the new one.
        expect(page.get_by_role("button", name="Resume all").first).to_be_visible()
    assert run.seed(0).status().state == "stopped"
