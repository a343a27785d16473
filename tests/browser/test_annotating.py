"""The editor of a run's words closes when they are saved, and says so."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_a_saved_annotation_closes_its_editor_and_says_so(page: Page, address: str) -> None:
    page.goto(f"{address}/runs")
    page.get_by_role("button", name="Annotate").click()
    page.get_by_label("Title").fill("A name of mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Saved")
    expect(page.get_by_label("Title")).to_have_count(0)
    expect(page.get_by_role("heading", name="A name of mine")).to_be_visible()
