"""Accessibility of every page: names of pictures and controls, visible keyboard focus, contrast."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from app.main import PAGES

VIEWS = [
    *(title.lower() for title in PAGES),
    "subgraphs?section=losers&round=2",
    "subgraphs?section=whole&round=2",
    "measurements?view=trend",
]
SETTLED = """() => document.querySelector("h1")
  && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
  && !document.querySelector("[data-testid=stSkeleton]")"""
NAMELESS = """() => {
  const named = (e) => [e.getAttribute("aria-label"), e.title, ...[...(e.labels ?? [])].map((l) => l.innerText),
    ...(e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.innerText)]
    .some((text) => text?.trim());
  const seen = (e) => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
  const all = (what) => [...document.querySelectorAll(what)].filter((e) => !e.closest("[aria-hidden=true]"));
  return {
    images: all("img:not([alt])").length,
    frames: all("iframe").filter((e) => !e.title.trim()).length,
    charts: all("[data-testid=stPlotlyChart]")
      .filter((e) => e.role !== "figure" || !/\\d/.test(e.ariaLabel ?? "")).map((e) => e.outerHTML.slice(0, 200)),
    inputs: all("input:not([type=hidden]), select, textarea").filter((e) => !named(e)).map((e) => e.outerHTML),
    buttons: all("button, a[href], [role=slider]").filter((e) => seen(e) && !named(e) && !e.innerText.trim()
      && !e.querySelector("img[alt]:not([alt=''])")).map((e) => e.outerHTML),
    jumps: all("[tabindex]").filter((e) => e.tabIndex > 0).length,
  };
}"""
# Contrast of quiet text, of links in the bar, and of the words on strong and on chosen buttons against their ground.
CONTRASTS = """() => {
  const parse = (c) => { const [r, g, b, a = 1] = c.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a));
  const channel = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const chain = (e) => (e ? [e, ...chain(e.parentElement)] : []);
  const page = parse(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  const ratio = (e) => {
    const layers = chain(e).map((n) => parse(getComputedStyle(n).backgroundColor)).reverse();
    const ground = layers.reduce((under, layer) => over(layer, under), page);
    const opacity = chain(e).reduce((product, n) => product * getComputedStyle(n).opacity, 1);
    const [r, g, b, a] = parse(getComputedStyle(e).color);
    const [low, high] = [light(over([r, g, b, a * opacity], ground)), light(ground)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = "[data-testid=stCaptionContainer] p, [data-testid=stMarkdownContainer] p, "
    + "[data-testid=stTopNavLink] p, button p";
  return [...document.querySelectorAll(texts)]
    .filter((e) => e.getClientRects().length && e.innerText.trim() && !e.closest("[disabled], [data-testid=stSlider]"))
    .map((e) => [Math.round(100 * ratio(e)) / 100, e.innerText.slice(0, 40)]);
}"""
FOCUS = """() => {
  const e = document.activeElement;
  const ring = (n) => {
    const { outlineWidth, outlineStyle } = getComputedStyle(n);
    return parseFloat(outlineWidth) >= 2 && outlineStyle !== "none";
  };
  return { tag: e.tagName, type: e.type ?? "", text: (e.getAttribute("aria-label") ?? e.innerText ?? "").trim(),
    ringed: ring(e) || [...document.querySelectorAll(":has(> :focus-visible), :has(:focus-visible)")].some(ring) };
}"""


def open_view(page: Page, address: str, view: str) -> None:
    """Open a view and wait until it is settled twice with the same words: a page may be drawn once more."""
    page.goto(f"{address}/{view}")
    before = None
    while True:
        page.wait_for_function(SETTLED)
        words = page.evaluate("document.body.innerText")
        if words == before:
            return
        before = words
        page.wait_for_timeout(500)


@pytest.mark.parametrize("view", VIEWS)
def test_every_element_has_an_accessible_name(view: str, page: Page, address: str) -> None:
    open_view(page, address, view)
    nothing: dict[str, Any] = {"images": 0, "frames": 0, "charts": [], "inputs": [], "buttons": [], "jumps": 0}
    assert page.evaluate(NAMELESS) == nothing
    assert page.title() == f"{page.locator('h1').inner_text()} · GLT Studio"
    assert page.evaluate("document.documentElement.lang") == "en"
    for frame in page.frames[1:]:
        assert frame.evaluate(NAMELESS) == nothing


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["curves", "launch", "export"])
def test_text_has_enough_contrast(view: str, theme: str, page: Page, address: str) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    open_view(page, address, view)
    found = page.evaluate(CONTRASTS)
    assert len(found) > 10
    assert [pair for pair in found if pair[0] < 4.5] == []


def test_keyboard_focus_follows_reading_order_and_is_visible(page: Page, address: str) -> None:
    open_view(page, address, "subgraphs?round=2&section=losers")
    reached = []
    for _ in range(45):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUS))
    order = [one["text"] for one in reached]
    wanted = ["Skip to main content", "Launch", "Export", "Seed", "Round", "Compare with", "Sample", "Draw"]
    places = [next((place for place, text in enumerate(order) if text.startswith(word)), None) for word in wanted]
    assert None not in places, dict(zip(wanted, places, strict=True))
    assert places == sorted(places)
    unseen = [one for one in reached if one["tag"] in ("A", "BUTTON") and not one["ringed"]]
    assert unseen == []


def test_sliders_and_popovers_work_by_keyboard(page: Page, address: str) -> None:
    open_view(page, address, "subgraphs?round=2&section=losers")
    page.get_by_role("slider", name="Round").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/subgraphs?*round=1*")
    page.goto(f"{address}/curves")
    page.wait_for_function(SETTLED)
    opener = page.locator(".st-key-pick-runs button").first
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-testid=stPopoverBody]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)


TABLE = "[class*='st-key-figures-measurements'] [data-testid=stTable] > div"
NAME_LEFT = "(e) => e.querySelector('tbody tr td, tbody tr th').getBoundingClientRect().left"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_wide_table_keeps_row_names_and_marks_overflow(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 700, "height": 900})
    open_view(page, address, "measurements?round=3&also=1&also=2&null=1")
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
