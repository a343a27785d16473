"""Launching, watching, stopping and deleting runs in a real browser, with the real engine."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Page, expect

from glt.store import Store

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


def test_a_run_goes_to_the_trash_and_the_trash_is_emptied(page: Page, address: str, store: Store) -> None:
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
