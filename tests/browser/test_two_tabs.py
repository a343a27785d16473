"""Two tabs of Launch whose Start is pressed at the same moment: the run is started once, and nobody stops it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from glt.jobs import stop
from glt.store import Store
from glt.store.locks import ACTIVE

ENGINE = Path(__file__).parents[1] / "fake_engine"
# Workers of these wait to be stopped.
ENDLESS = "methods=ugs&methods=random&seeds=0,1&rounds=200&epochs=1&retrain_epochs=3"
PRESS = "document.querySelector('.st-key-start button').click()"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("tabs") / "store")
    yield store
    for run in store.runs():
        stop(run, grace=0)


@pytest.fixture(scope="module")
def address(store: Store, serve: Callable[..., AbstractContextManager[str]]) -> Iterator[str]:
    """A server whose workers need no torch."""
    with serve(store.root, {"PYTHONPATH": str(ENGINE)}) as address:
        yield address


@pytest.mark.parametrize("hidden", [8, 9, 10])
def test_both_come_to_the_run_and_it_is_at_work(
    context: BrowserContext, address: str, store: Store, hidden: int
) -> None:
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(f"{address}/launch?{ENDLESS}&hidden={hidden}")
        expect(tab.get_by_role("button", name="Start 2 runs")).to_be_enabled()
    for tab in tabs:
        tab.evaluate(PRESS)
    for tab in tabs:
        tab.wait_for_url(re.compile(r"/runs\?"))
        expect(tab.locator(".st-key-seed-row-1").first).to_be_visible()
        expect(tab.get_by_text("in use by")).to_have_count(0)
    runs = [run for run in store.runs() if run.config.hidden == hidden]
    assert [run.seeds() for run in runs] == [[0, 1], [0, 1]]
    states = [run.seed(seed).status().state for run in runs for seed in run.seeds()]
    assert set(states) <= set(ACTIVE), states
