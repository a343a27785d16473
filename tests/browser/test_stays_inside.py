"""No browser and no process of ours asks another machine for anything: pages, a job, the visit of a foreign page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.main import PAGES
from glt.store import Store
from tests.browser.conftest import serving
from tests.browser.raw_requests import handshake
from tests.browser.test_accessible import SETTLED
from tests.browser.test_running import SHORT, start

GUARD = Path(__file__).parents[1] / "network_guard"
ROOT = Path(__file__).parents[2]


def guarded(log: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(GUARD), str(ROOT)]), "GLT_NETWORK_LOG": str(log)}


def test_the_guard_notices_a_request(tmp_path: Path) -> None:
    script = "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=1)"
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **guarded(tmp_path / "log")}, check=False)
    assert done.returncode
    assert "192.0.2.1" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("titles", [("Runs",), pytest.param(PAGES, marks=pytest.mark.long)])
def test_no_page_asks_for_anything(page: Page, store: Store, tmp_path: Path, titles: tuple[str, ...]) -> None:
    """The fixture `context` lets the browser reach the app alone and fails the test for any other request."""
    log = tmp_path / "network.log"
    with serving(store.root, guarded(log)) as address:
        for title in titles:
            page.goto(f"{address}/{title.lower()}")
            page.wait_for_function(SETTLED)
        assert handshake(address, Origin="http://evil.example") == 403
    assert not log.exists(), log.read_text()


@pytest.mark.long
def test_no_job_asks_for_anything(page: Page, store: Store, tmp_path: Path) -> None:
    log = tmp_path / "network.log"
    with serving(store.root, guarded(log)) as address:
        start(page, address, SHORT)
        expect(page.locator(".st-key-seed-row-0")).to_contain_text("done")
    assert not log.exists(), log.read_text()


@pytest.mark.long
def test_reading_a_data_set_of_ogb_asks_nobody(test_data: Path, tmp_path: Path) -> None:
    """Its package starts a thread that looks for a newer version of itself, where nobody stops it."""
    log = tmp_path / "network.log"
    environment = {**os.environ, **guarded(log), "GLT_DATA": str(test_data / "ogb_sample"), "GLT_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "glt.datasets.cache", "ogbn-arxiv"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not log.exists(), log.read_text()


@pytest.mark.parametrize("verb", ["list", "doctor"])
def test_a_command_asks_nobody(store: Store, tmp_path: Path, verb: str) -> None:
    log = tmp_path / "network.log"
    command = [sys.executable, "-m", "glt", verb, "--store", str(store.root)]
    subprocess.run(command, env={**os.environ, **guarded(log)}, capture_output=True, check=False, cwd=ROOT)
    assert not log.exists(), log.read_text()
