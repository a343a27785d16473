"""Tables wider than the page: the names of rows stay in sight, and a shadow says that columns follow."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import Page

TABLE = "[class*='st-key-figures-measurements'] [data-testid=stTable] > div"
SETTLED = """() => document.querySelector("[class*='st-key-figures-measurements'] table")
  && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning\""""
NAME_LEFT = "(e) => e.querySelector('tbody tr td, tbody tr th').getBoundingClientRect().left"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_row_names_stay_and_the_cut_is_seen_until_the_end(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto(f"{address}/measurements?round=3&also=1&also=2&null=1")
    page.wait_for_function(SETTLED)
    table = page.locator(TABLE).first
    before = table.evaluate(NAME_LEFT)
    assert shadow(page) > 40
    table.evaluate("(e) => { e.scrollLeft = e.scrollWidth }")
    assert table.evaluate("(e) => e.scrollLeft") > 100
    assert table.evaluate(NAME_LEFT) == before
    assert shadow(page) < 10


def shadow(page: Page) -> int:
    """Return how far the ground at the table's right end, between two rows of words, is from that beside the table."""
    table = page.locator(TABLE).first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    end = {"x": box["x"] + box["width"] - 2, "y": box["y"] + 4, "width": 20, "height": 1}
    grey = Image.open(BytesIO(page.screenshot(clip=end))).convert("L")  # type: ignore[arg-type]
    return abs(int(grey.getpixel((0, 0))) - int(grey.getpixel((15, 0))))  # type: ignore[arg-type]
