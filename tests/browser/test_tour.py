"""The guided tour in a real browser: by keyboard at a first start, not shown again later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

Serve = Callable[..., AbstractContextManager[str]]
FOCUSED = """text => document.activeElement.matches("button") && document.activeElement.innerText.includes(text)"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[tuple[str, Path]]:
    """A server over an empty store at a first start, and its state folder."""
    folder = tmp_path_factory.mktemp("first start")
    with serve(folder / "store", {"XDG_STATE_HOME": str(folder / "state")}) as address:
        yield address, folder / "state"


def press_until_focused(page: Page, key: str, text: str, most: int = 40) -> None:
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate(FOCUSED, text):
            return
    pytest.fail(f"{text!r} is not reached within {most} presses of {key}")


def test_the_tour_works_by_keyboard(page: Page, context: BrowserContext, fresh: tuple[str, Path]) -> None:
    address, state = fresh
    page.goto(address)
    expect(page.locator(".st-key-tour")).to_contain_text("step 1 of 5")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    press_until_focused(page, "Tab", "Next: Subgraphs")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/subgraphs\?.*tour=2"))
    expect(page.locator(".st-key-tour")).to_contain_text("step 2 of 5")
    expect(page.locator("iframe").first).to_be_visible()
    press_until_focused(page, "Tab", "End tour")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-tour")).to_have_count(0)
    page.wait_for_url(re.compile(r"^(?!.*tour=)"))
    assert list(state.rglob("tour-ended"))
    other = context.new_page()
    other.goto(address)
    expect(other.locator(".js-plotly-plot").first).to_be_visible()
    expect(other.locator(".st-key-tour")).to_have_count(0)
    other.locator(".st-key-tour-entry a").click()
    expect(other.locator(".st-key-tour")).to_contain_text("step 1 of 5")
