"""Two sessions on one store, and a server that is killed: no error page, and no run is lost."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest

from glt.jobs import start, stop
from glt.presets import resolve
from glt.store import Run, Store
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as bare  # noqa: F401
from tests.browser.conftest import MILLISECONDS, serving
from tests.browser.conftest import browser as browser  # noqa: PLC0414 - the browser tests' fixtures
from tests.robustness.faults.conftest import THOROUGH

PAGES = ["runs", "curves", "tickets", "subgraphs", "measurements"] if THOROUGH else ["runs", "curves"]
LONG = {"rounds": 400, "epochs": 1, "retrain_epochs": 3, "hidden": 16}


@pytest.fixture
def store(bare: Store) -> Iterator[Store]:  # noqa: F811
    yield bare
    for run in bare.runs():
        stop(run, grace=0)


@pytest.fixture
def begun(store: Store, fake_engine: pytest.MonkeyPatch) -> Run:
    """A run at work."""
    fake_engine.setenv("FAKE_EPOCH", "0.05")
    return start(store, resolve(LONG), [0]).run


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def fine(*apps: AppTest) -> None:
    for app in apps:
        assert not app.exception
        assert not app.error


def test_what_one_stops_and_deletes_the_other_has_on_its_page(
    begun: Run, store: Store, open_page: Callable[..., AppTest]
) -> None:
    one, other = open_page("runs", run=begun.name), open_page("runs", run=begun.name)
    press(one, f"stop-{begun.name}")
    assert begun.seed(0).status().state == "stopped"
    # The other page still has its button.
    press(other, f"stop-{begun.name}")
    fine(one, other)
    press(one, f"resume-{begun.name}")
    press(other, f"resume-{begun.name}")
    assert not other.exception
    assert begun.seed(0).status().state in ("queued", "running")
    fine(one.run(), other.run())


def test_what_one_deletes_while_the_other_page_shows_it(
    make_run: Callable[..., Run], store: Store, open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs", states=("done", "stopped"))
    pages = [open_page(name, run=run.name) for name in PAGES]
    store.move_to_trash(run.path)
    press(pages[0], f"resume-{run.name}")
    assert not pages[0].exception
    for page in pages:
        page.run()
        assert not page.exception
        said = [error.value for error in page.error]
        assert len(said) == 1, said
        assert run.name in said[0]
    assert store.runs() == []
    assert not store.damaged()


def test_a_folder_in_the_trash_is_not_made_again_by_whoever_resumes(make_run: Callable[..., Run], store: Store) -> None:
    from glt.errors import StoreError
    from glt.jobs import resume

    run = make_run("ugs", states=("done", "stopped"), rounds=1)
    store.move_to_trash(run.path)
    with pytest.raises(StoreError, match=run.name):
        resume(store, run, [1])
    assert not run.path.exists()


ADDRESS = "methods=random&seeds=0&hidden=8&rounds=20&epochs=2000&retrain_epochs=2000"


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
        page.goto(f"{address}/launch?{ADDRESS}")
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
