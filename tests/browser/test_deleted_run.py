"""A run that is deleted in one tab: another tab that shows it says so, and its buttons do nothing to another run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from glt.presets import resolve
from glt.store import Run, Store


@pytest.fixture
def spare(store: Store, draw_seed: Callable[..., None]) -> Iterator[Run]:
    """A run that a test may delete."""
    run = store.create(resolve({"method": "admm", "rounds": 3, "epochs": 5, "retrain_epochs": 5}, "official"))
    draw_seed(run.seed(0))
    yield run
    if run.path.exists():
        store.move_to_trash(run.path)
    store.empty_trash()


def delete(page: Page, run: Run) -> None:
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_text(run.name).wait_for()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_test_id("stAlert").first).to_contain_text(f"The run {run.name} is no longer in the store")


@pytest.mark.parametrize("action", ["Check", "Delete"])
def test_a_button_of_a_stale_tab_acts_on_no_other_run(
    context: BrowserContext, address: str, store: Store, spare: Run, action: str
) -> None:
    stale, acting = context.new_page(), context.new_page()
    for tab in (stale, acting):
        tab.goto(f"{address}/runs?run={spare.name}")
        expect(tab.get_by_role("button", name="Delete", exact=True)).to_be_visible()
    others = sorted(run.name for run in store.runs() if run.name != spare.name)
    delete(acting, spare)
    stale.get_by_role("button", name=action, exact=True).click()
    expect(stale.get_by_test_id("stAlert").first).to_contain_text(f"The run {spare.name} is no longer in the store")
    expect(stale.get_by_role("button", name=action, exact=True)).to_have_count(0)
    expect(stale.get_by_role("dialog")).to_have_count(0)
    assert f"run={spare.name}" in stale.url
    assert sorted(run.name for run in store.runs()) == others
    # The tab goes on with whatever is chosen in it.
    stale.locator(f".st-key-open-{others[0]} button").click()
    expect(stale.locator(".st-key-run-head")).to_contain_text(others[0])


def test_a_page_of_its_subgraphs_says_that_the_run_is_gone(
    context: BrowserContext, address: str, store: Store, spare: Run, tmp_path: Path
) -> None:
    shown = context.new_page()
    shown.goto(f"{address}/subgraphs?run={spare.name}")
    expect(shown.locator("iframe").first).to_be_visible()
    store.move_to_trash(spare.path)
    shown.get_by_text("Who loses", exact=True).click()
    expect(shown.get_by_test_id("stAlert").first).to_contain_text(f"The run {spare.name} is no longer in the store")
    expect(shown.get_by_role("combobox", name="Run")).to_have_value("")
    expect(shown.locator("iframe")).to_have_count(0)
