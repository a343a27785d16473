"""Runs in a real browser: launched, watched, annotated, stopped, deleted in another tab, and restored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from glt.jobs import stop
from glt.presets import resolve
from glt.store import Run, Store
from glt.store.locks import ACTIVE


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


def test_annotations_survive_a_check(page: Page, address: str, store: Store, spare: Run) -> None:
    """The browser draws the fields anew after a check; Save must not write them as empty."""
    store.annotate(spare.name, {"title": "Keep me", "color": "blue"})
    page.goto(f"{address}/runs?run={spare.name}")
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_test_id("stToast").or_(page.get_by_role("dialog")).first.wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Annotate").click()
    expect(page.get_by_label("Title")).to_have_value("Keep me")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_test_id("stToast").filter(has_text="Saved")).to_be_visible()
    annotation = store.annotations().of(spare.name)
    assert (annotation.title, annotation.color) == ("Keep me", "blue")


def test_the_subgraphs_page_reports_a_missing_run(
    context: BrowserContext, address: str, store: Store, spare: Run, tmp_path: Path
) -> None:
    shown = context.new_page()
    shown.goto(f"{address}/subgraphs?run={spare.name}")
    expect(shown.locator("iframe").first).to_be_visible()
    store.move_to_trash(spare.path)
    shown.get_by_text("Losses by class and degree", exact=True).click()
    expect(shown.get_by_test_id("stAlert").first).to_contain_text(f"The run {spare.name} is no longer in the store")
    expect(shown.get_by_role("combobox", name="Run")).to_have_value("")
    expect(shown.locator("iframe")).to_have_count(0)


def test_saving_an_annotation_closes_its_editor(page: Page, address: str) -> None:
    page.goto(f"{address}/runs")
    page.get_by_role("button", name="Annotate").click()
    page.get_by_label("Title").fill("A name of mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Saved")
    expect(page.get_by_label("Title")).to_have_count(0)
    expect(page.get_by_role("heading", name="A name of mine")).to_be_visible()


SHORT = "methods=ugs&seeds=0&hidden=8&rounds=1&epochs=3&retrain_epochs=3"
LONG = "methods=random&seeds=0&hidden=8&rounds=20&epochs=2000&retrain_epochs=2000"


def start(page: Page, address: str, settings: str) -> None:
    page.goto(f"{address}/launch?{settings}")
    page.get_by_role("button", name="Start 1 run").click()
    page.wait_for_url(re.compile(r"/runs\?"))


def test_a_short_run_is_launched_and_finishes(page: Page, context: BrowserContext, address: str) -> None:
    start(page, address, SHORT)
    row = page.locator(".st-key-seed-row-0")
    expect(row).to_contain_text("done")
    expect(row).to_contain_text("round 1 of 1")
    # The button to stop it leaves a moment later.
    expect(row.get_by_role("button")).to_have_count(0)
    shown = row.inner_text()
    page.reload()
    expect(row).to_contain_text("done")
    assert row.inner_text() == shown
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator(".st-key-seed-row-0")).to_contain_text("round 1 of 1")
    assert other.locator(".st-key-seed-row-0").inner_text() == shown
    expect(other.locator(".js-plotly-plot .scatterlayer path.js-line").first).to_be_attached()


def test_a_run_is_stopped(page: Page, address: str, store: Store) -> None:
    start(page, address, LONG)
    row = page.locator(".st-key-seed-row-0")
    expect(row).to_contain_text("retrain")
    page.get_by_role("button", name="Stop all").click()
    expect(row).to_contain_text("stopped")
    name = re.search(r"run=([\w-]+)", page.url)
    assert name is not None
    assert store.find(name.group(1)).seed(0).status().state == "stopped"
    expect(page.get_by_role("button", name="Resume all")).to_be_visible()


def test_a_run_is_deleted_and_the_trash_emptied(page: Page, address: str, store: Store) -> None:
    run = next(run for run in store.runs() if run.config.method == "random" and run.config.rounds == 3)
    page.goto(f"{address}/runs?run={run.name}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_text("1 run in the trash")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("in the trash")).to_have_count(0)
    assert run.name in [other.name for other in store.runs()]
    page.goto(f"{address}/runs?run={run.name}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_text("1 run in the trash")).to_be_visible()
    assert run.name not in [other.name for other in store.runs()]
    page.get_by_role("button", name="Empty trash").click()
    page.get_by_role("dialog").get_by_role("button", name="Empty trash").click()
    expect(page.get_by_text("in the trash")).to_have_count(0)
    assert store.trashed() == []


ENGINE = Path(__file__).parents[1] / "fake_engine"
# Workers of these wait to be stopped.
ENDLESS = "methods=ugs&methods=random&seeds=0,1&rounds=200&epochs=1&retrain_epochs=3"
PRESS = "document.querySelector('.st-key-start-runs button').click()"


@pytest.fixture(scope="module")
def idle_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("tabs") / "store")
    yield store
    for run in store.runs():
        stop(run, grace=0)


@pytest.fixture(scope="module")
def idle_address(idle_store: Store, serve: Callable[..., AbstractContextManager[str]]) -> Iterator[str]:
    """A server whose workers need no torch."""
    with serve(idle_store.root, {"PYTHONPATH": str(ENGINE)}) as address:
        yield address


@pytest.mark.parametrize("hidden", [8, 9, 10])
def test_two_tabs_starting_one_run_both_show_it(
    context: BrowserContext, idle_address: str, idle_store: Store, hidden: int
) -> None:
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(f"{idle_address}/launch?{ENDLESS}&hidden={hidden}")
        expect(tab.get_by_role("button", name="Start 2 runs")).to_be_enabled()
    for tab in tabs:
        tab.evaluate(PRESS)
    for tab in tabs:
        tab.wait_for_url(re.compile(r"/runs\?"))
        expect(tab.locator(".st-key-seed-row-1").first).to_be_visible()
        expect(tab.get_by_text("in use by")).to_have_count(0)
    runs = [run for run in idle_store.runs() if run.config.hidden == hidden]
    assert [run.seeds() for run in runs] == [[0, 1], [0, 1]]
    states = [run.seed(seed).status().state for run in runs for seed in run.seeds()]
    assert set(states) <= set(ACTIVE), states
