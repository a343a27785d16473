from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from analysis.subgraphs import make_panel, original_panel, panels_html, sample_nodes, take
from glt.data import Graph
from glt.masks import EdgeMask
from tests.analysis.subgraphs.conftest import MILLISECONDS

ATTACK = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def hostile(two_triangles: Graph) -> str:
    """Return panels whose class names and titles try to break out."""
    part = take(two_triangles, np.arange(7))
    pruned = make_panel(two_triangles, part, EdgeMask("directed", np.arange(14) % 3 > 0), ATTACK + "\u2028&")
    return panels_html([original_panel(two_triangles, part), pruned])


@pytest.fixture(scope="module")
def document() -> tuple[str, str]:
    from glt.data import load_graph

    cora = load_graph("cora")
    part = take(cora, sample_nodes(cora, "ego", size=60, center=1358))
    mask = EdgeMask.full("directed", cora.num_edges).prune(np.random.default_rng(0).random(2 * cora.num_edges), 0.5)
    panels = [original_panel(cora, part), make_panel(cora, part, mask, "UGS")]
    return panels_html(panels), panels_html(panels, dark=True, height=700, selected=1358)


class Elements(HTMLParser):
    """Collect the elements of a document with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_nothing_is_loaded_from_anywhere(document: tuple[str, str]) -> None:
    for text in document:
        elements = Elements(text).found
        assert not [tag for tag, _ in elements if tag in {"link", "iframe", "img", "base", "object", "embed"}]
        sources = [value for _, attributes in elements for name in ("src", "href") if (value := attributes.get(name))]
        assert all(value.startswith("#") for value in sources)
        assert "sourceMappingURL" not in text
        policy = next(a["content"] for _, a in elements if a.get("http-equiv") == "Content-Security-Policy")
        assert policy is not None
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe-eval" not in policy


def test_the_same_panels_give_the_same_bytes(two_triangles: Graph, hostile: str) -> None:
    part = take(two_triangles, np.arange(7))
    pruned = make_panel(two_triangles, part, EdgeMask("directed", np.arange(14) % 3 > 0), ATTACK + "\u2028&")
    assert panels_html([original_panel(two_triangles, part), pruned]) == hostile


def test_the_script_of_vis_network_is_there_once(document: tuple[str, str]) -> None:
    assert len(document[0]) < 700_000


def test_labels_cannot_leave_their_place(hostile: str) -> None:
    assert ATTACK not in hostile
    assert not [tag for tag, _ in Elements(hostile).found if tag in {"img", "i"}]
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', hostile, re.DOTALL)
    assert block
    assert not set("<>&\u2028\u2029") & set(block[1])
    assert ATTACK in json.loads(block[1])["panels"][0]["nodes"][0]["title"]


def test_themes_differ_in_ground_and_ink(document: tuple[str, str]) -> None:
    light, dark = document
    assert "--ground: #FFFFFF" in light
    assert "--ground: #0E1117" in dark
    assert "--height: 700px" in dark


@pytest.mark.browser
def test_hostile_labels_run_nothing(page: Page, hostile: str) -> None:
    events: list[str] = []
    page.on("dialog", lambda dialog: (events.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: events.append(str(error)))
    page.on("console", lambda message: message.type == "error" and events.append(message.text))
    page.set_content(hostile)
    page.fill("#search", "0")
    page.press("#search", "Enter")
    assert ATTACK in page.inner_text("#message")
    assert page.locator("img").count() == 0
    assert events == []


@pytest.mark.browser
def test_panels_draw_offline_and_move_together(page: Page, document: tuple[str, str]) -> None:
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: message.type == "error" and failures.append(message.text))
    page.on("requestfailed", lambda request: failures.append(request.url))
    page.set_content(document[0])
    canvases = page.locator("canvas")
    assert canvases.count() == 2
    left, right = (drawn(page, number) for number in (0, 1))
    page.locator(".canvas").nth(0).hover()
    page.mouse.wheel(0, -400)
    eventually(page, lambda: inked(page, 0) > 1.1 * left and inked(page, 1) > 1.1 * right)
    page.click("#fit")
    eventually(page, lambda: [inked(page, number) for number in (0, 1)] == pytest.approx([left, right], rel=0.02))
    assert failures == []


@pytest.mark.browser
def test_a_node_is_found_in_all_panels(page: Page, document: tuple[str, str]) -> None:
    page.set_content(document[0])
    page.fill("#search", "35")
    page.press("#search", "Enter")
    expect(page.locator("#message")).to_contain_text("Node 35 (index 1358) · Genetic Algorithms · degree 168, ")
    page.fill("#search", "1358")
    page.press("#search", "Enter")
    assert page.inner_text("#message").startswith("Node 35 ")
    page.fill("#search", "no such node")
    page.press("#search", "Enter")
    assert page.inner_text("#message") == "No node no such node in this sample"


@pytest.mark.browser
def test_removed_edges_can_be_hidden_and_a_chosen_node_is_announced(page: Page, document: tuple[str, str]) -> None:
    page.set_content(document[1])
    assert page.inner_text("#message").startswith("Node 35 ")
    left, right = (drawn(page, number) for number in (0, 1))
    page.uncheck("#show-removed")
    eventually(page, lambda: inked(page, 1) < right)
    assert inked(page, 0) == left


@pytest.fixture(scope="module")
def played() -> str:
    """Return panels of the third round of a run, with the rounds before it."""
    from glt.data import load_graph

    cora = load_graph("cora")
    part = take(cora, sample_nodes(cora, "ego", size=60, center=1358))
    masks = [EdgeMask.full("directed", cora.num_edges)]
    generator = np.random.default_rng(0)
    for _ in range(3):
        masks.append(masks[-1].prune(generator.random(masks[-1].kept), 0.3))
    rounds = [make_panel(cora, part, mask, f"UGS, round {k}", masks[max(k - 1, 0)]) for k, mask in enumerate(masks)]
    original = original_panel(cora, part)
    return panels_html([original, rounds[-1]], replay=[[original], rounds])


def test_only_several_rounds_can_be_played(two_triangles: Graph, played: str) -> None:
    assert 'id="play"' in played
    part = take(two_triangles, np.arange(7))
    alone = original_panel(two_triangles, part)
    assert 'id="play"' not in panels_html([alone], replay=[[alone]])
    other = original_panel(two_triangles, take(two_triangles, np.arange(3)))
    with pytest.raises(ValueError, match="same nodes"):
        panels_html([alone], replay=[[alone, other]])


@pytest.mark.browser
def test_a_node_is_described_for_every_pruned_panel(page: Page, two_triangles: Graph) -> None:
    part = take(two_triangles, np.arange(7))
    masks = [EdgeMask("undirected", np.arange(7) != gone) for gone in (0, 6)]
    pruned = [make_panel(two_triangles, part, mask, title) for mask, title in zip(masks, "AB", strict=True)]
    page.set_content(panels_html([original_panel(two_triangles, part), *pruned], selected=0))
    assert page.inner_text("#message").endswith("A: degree 2, 1 left · B: degree 2")


@pytest.mark.browser
def test_playing_starts_at_round_0_and_ends_where_it_was(page: Page, played: str) -> None:
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.clock.install()
    page.set_content(played)
    title, counts = page.locator("figure .title").nth(1), page.locator("figure .counts").nth(1)
    before, told = drawn(page, 1), counts.inner_text()
    # Rounds change when the test says so.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 3600)
    page.click("#play")
    assert title.inner_text() == "UGS, round 0"
    assert page.inner_text("#playing") == "round 0 of 3"
    assert "removed" not in counts.inner_text()
    page.click("#play")
    assert page.inner_text("#play").endswith("Play")
    page.click("#play")
    assert title.inner_text() == "UGS, round 1"
    page.clock.resume()
    expect(page.locator("#playing")).to_have_text("")
    assert title.inner_text() == "UGS, round 3"
    assert counts.inner_text() == told
    eventually(page, lambda: inked(page, 1) == pytest.approx(before, rel=0.02))
    assert failures == []


def eventually(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds: a picture is drawn some frames after what it follows from."""
    deadline = time.monotonic() + MILLISECONDS / 1000
    while not condition():
        assert time.monotonic() < deadline
        page.evaluate("new Promise((done) => requestAnimationFrame(done))")


def drawn(page: Page, number: int) -> int:
    """Wait until a canvas has its nodes and edges and stays as it is, and return how many pixels are drawn on."""
    seen = [0, 0]

    def is_settled() -> bool:
        seen.append(inked(page, number))
        return seen[-1] > 5_000 and len(set(seen[-3:])) == 1

    eventually(page, is_settled)
    return seen[-1]


def inked(page: Page, number: int) -> int:
    """Return how many pixels of a canvas are drawn on."""
    script = """number => {
      const canvas = document.querySelectorAll("canvas")[number];
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, place) => place % 4 === 3 && value > 0).length;
    }"""
    return int(page.evaluate(script, number))


def test_a_sample_is_marked_and_its_key_stands_only_then(two_triangles: Graph) -> None:
    panel = original_panel(two_triangles, take(two_triangles, np.arange(1, 7)))
    marked = panels_html([panel], marked=[2, 5, 0])
    assert '"marked": [1, 4]' in marked, "places of the nodes that are shown"
    assert "in the sample" in marked
    assert "in the sample" not in panels_html([panel])


@pytest.mark.browser
def test_marks_are_drawn(page: Page, two_triangles: Graph) -> None:
    panel = original_panel(two_triangles, take(two_triangles, np.arange(7)))
    page.set_content(panels_html([panel]))
    bare = inked(page, 0)
    page.set_content(panels_html([panel], marked=range(7)))
    assert inked(page, 0) > bare
