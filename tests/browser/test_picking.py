"""Selection of nodes and edges in the pictures of Subgraphs by click, keyboard and URL."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser.conftest import MILLISECONDS

DATA = "JSON.parse(document.getElementById('data').textContent)"
VIEW = "JSON.parse(sessionStorage.getItem('glt-studio-panels') ?? '{}').view"
# The middle of an edge that lies far from every node, in the coordinates of the picture, and the edge's ends.
LONELY_MIDDLE = f"""() => {{
  const {{ nodes, edges }} = {DATA}.panels[0];
  const edge_rooms = edges.map(({{ from, to }}) => {{
    const [x, y] = [(nodes[from].x + nodes[to].x) / 2, (nodes[from].y + nodes[to].y) / 2];
    return {{ x, y, room: Math.min(...nodes.map((node) => Math.hypot(node.x - x, node.y - y) - node.size)) }};
  }});
  return edge_rooms.reduce((best, one) => (one.room > best.room ? one : best));
}}"""


@pytest.fixture
def pictures(page: Page, address: str) -> Frame:
    """The frame of the pictures of round 2 of UGS."""
    page.goto(f"{address}/subgraphs?round=2&size=50&section=losers")
    expect(page.locator(".st-key-pictures iframe")).to_be_visible()
    handle = page.locator(".st-key-pictures iframe").element_handle()
    frame = handle.content_frame() if handle else None
    assert frame is not None
    expect(frame.locator("canvas")).to_have_count(2)
    return frame


def click(page: Page, frame: Frame, panel: int, x: float, y: float) -> None:
    """Click on a place of a panel, given in the coordinates of the picture."""
    view: dict[str, Any] = frame.evaluate(VIEW)
    box = frame.locator("canvas").nth(panel).bounding_box()
    assert box is not None
    scale, middle = view["scale"], view["position"]
    page.mouse.click(
        box["x"] + box["width"] / 2 + scale * (x - middle["x"]),
        box["y"] + box["height"] / 2 + scale * (y - middle["y"]),
    )


def wait_for_view(frame: Frame) -> None:
    """Wait until the picture has reported its view (its policy forbids Playwright's own way to wait)."""
    deadline = time.monotonic() + MILLISECONDS / 1000
    while not frame.evaluate(f"Boolean({VIEW})"):
        assert time.monotonic() < deadline, "the picture does not say where it looks"
        frame.page.wait_for_timeout(100)


def query_of(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def look_closely(frame: Frame) -> dict[str, Any]:
    """Find the node of most neighbours, by keyboard: it then lies in the middle of its panel."""
    node: dict[str, Any] = frame.evaluate(
        f"(() => {{ const d = {DATA}, n = d.panels[0].nodes, b = n.reduce((a, c) => (c.size > a.size ? c : a));"
        " return { ...b, name: d.names[b.id], index: d.indices[b.id] }; })()"
    )
    frame.locator("#search").fill(node["name"])
    frame.locator("#search").press("Enter")
    wait_for_view(frame)
    return node


def test_clicking_a_node_or_edge_opens_its_section(page: Page, pictures: Frame) -> None:
    node = look_closely(pictures)
    page.wait_for_url(re.compile(r"at="))
    assert query_of(page)["section"] == "why"
    assert (query_of(page)["at"], query_of(page)["to"]) == (node["name"], "all")
    # A table of the view before may still stand for a moment.
    expect(page.locator("[data-testid=stDataFrame]")).to_have_count(1)
    expect(page.locator("[data-testid=stDataFrame]")).to_be_visible()
    expect(page.get_by_text("The message from")).to_have_count(0)

    pictures.locator("#fit").click()
    place = pictures.evaluate(LONELY_MIDDLE)
    # Showing all forgets the view, so that the page's width may change: a turn of the wheel fixes it again.
    box = pictures.locator("canvas").nth(1).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.wheel(0, -1)
    wait_for_view(pictures)
    click(page, pictures, 1, place["x"], place["y"])
    page.wait_for_url(re.compile(r"to=\d"))
    expect(page.get_by_text("The message from")).to_have_count(2)
    chosen = query_of(page)
    ends = pictures.evaluate(
        f"((at, to) => {{ const d = {DATA}; return [d.names.indexOf(at), d.indices.indexOf(Number(to))]; }})"
        f"('{chosen['at']}', '{chosen['to']}')"
    )
    pairs = pictures.evaluate(f"{DATA}.panels[0].edges.map(({{ from, to }}) => [from, to])")
    assert ends in pairs or ends[::-1] in pairs
    assert pictures.locator("#message").inner_text().startswith("Edge ")


def test_pictures_highlight_the_selection_in_the_url(page: Page, pictures: Frame) -> None:
    low, high = pictures.evaluate(f"(() => {{ const d = {DATA}, e = d.panels[0].edges[0];"
                                  " return [d.names[e.from], d.indices[e.to]]; })()")  # fmt: skip
    page.goto(f"{page.url.split('?')[0]}?round=2&size=50&section=why&at={low}&to={high}")
    frame = page.frame_locator(".st-key-pictures iframe")
    expect(frame.locator("#message")).to_contain_text(f"Edge {low} to ")
    frame.locator("body").evaluate("body => { body.dataset.same = 'yes' }")
    page.get_by_label("Node", exact=True).fill("")
    page.get_by_label("Node", exact=True).press("Enter")
    page.wait_for_url(re.compile(r"^(?!.*at=)"))
    assert frame.locator("body").get_attribute("data-same") == "yes", "the pictures are not loaded anew"


def test_nothing_is_selected_without_the_url(page: Page, pictures: Frame) -> None:
    bare = page.url
    look_closely(pictures)
    page.wait_for_url(re.compile(r"at="))
    page.goto(bare)
    frame = page.frame_locator(".st-key-pictures iframe")
    expect(frame.locator("canvas")).to_have_count(2)
    expect(frame.locator("#message")).to_have_text("")


def test_a_node_search_reports_its_result(page: Page, pictures: Frame) -> None:
    node = look_closely(pictures)
    page.wait_for_url(re.compile(r"at="))
    begins = pictures.evaluate(f"(() => {{ const d = {DATA}; return d.names.find((name) => name.length > 4); }})()")
    pictures.locator("#search").fill(begins[:4])
    pictures.locator("#search").press("Enter")
    expect(pictures.locator("#message")).to_contain_text(f"No node {begins[:4]} here, but the ")
    page.wait_for_url(re.compile(rf"at=(?!{node['name']}&)"))
    expect(pictures.locator("#message")).to_contain_text("with it: Node ")
    pictures.locator("#search").fill("zzz")
    pictures.locator("#search").press("Enter")
    page.wait_for_url(re.compile(r"^(?!.*at=)"))
    expect(pictures.locator("#message")).to_have_text("No node zzz in this sample")


def test_focusable_elements_of_pictures_have_names(pictures: Frame) -> None:
    stops = pictures.evaluate("""[...document.querySelectorAll("a, button, input, [tabindex]")]
      .filter((e) => e.tabIndex >= 0 && e.getClientRects().length)
      .map((e) => e.ariaLabel || e.innerText || e.labels?.[0]?.innerText || "")""")
    assert len(stops) >= 3
    assert "" not in stops


def test_the_line_above_the_pictures_is_not_clipped(page: Page, pictures: Frame) -> None:
    look_closely(pictures)
    page.set_viewport_size({"width": 700, "height": 1000})
    message = pictures.locator("#message")
    message.evaluate("e => { e.textContent = 'Random pruning, round 13: degree 74, 30 left · '.repeat(4) }")
    assert message.evaluate("e => getComputedStyle(e).textOverflow !== 'ellipsis' && e.scrollWidth <= e.clientWidth")


def test_messages_from_other_windows_are_ignored(page: Page, pictures: Frame) -> None:
    page.evaluate("postMessage({ kind: 'glt-picked', at: 3, to: null }, origin)")
    pictures.evaluate("parent.postMessage({ kind: 'glt-picked', at: 'x', to: '<img src=x>' }, origin)")
    look_closely(pictures)
    page.wait_for_url(re.compile(r"at="))
    assert query_of(page)["at"] != "3"
    expect(page.locator("[data-testid=stAlert]")).to_have_count(0)
