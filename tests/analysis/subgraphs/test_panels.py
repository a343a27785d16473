"""Panels of subgraphs: layout, states of edges, the interactive document, and the static picture of a graph."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from itertools import product

import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Page, expect

from analysis.removal.edges import Removals
from analysis.subgraphs.html import JUST_REMOVED, LARGEST, SMALLEST, edge_looks, network_data, panels_html, replay_frame
from analysis.subgraphs.layout import LARGE, layout, pivot_layout
from analysis.subgraphs.overview import overview_png
from analysis.subgraphs.panel import (
    BACKWARD,
    BOTH,
    FORWARD,
    REMOVED,
    GraphPanel,
    edge_states,
    make_panel,
    original_panel,
    panel_table,
    take,
)
from analysis.subgraphs.samplers import find_communities, sample_nodes
from glt.datasets import Graph
from glt.masks import EdgeMask
from glt.removal_causes import CAUSES
from tests.analysis.subgraphs.conftest import MILLISECONDS

ALL = np.arange(7)
# The columns of two_triangles are 0-1, 0-2, 1-2, 2-3, 3-4, 3-5, 4-5.
FORTH = [1, 1, 0, 0, 1, 1, 1]
BACK = [1, 0, 1, 0, 1, 1, 1]


@pytest.fixture
def mask() -> EdgeMask:
    return EdgeMask("directed", np.array(FORTH + BACK))


@pytest.fixture
def panel(two_triangles: Graph, mask: EdgeMask) -> GraphPanel:
    return make_panel(two_triangles, take(two_triangles, ALL), mask, "UGS, round 3")


def test_layout_is_reproducible_and_positions_distinct(cora: Graph) -> None:
    nodes = sample_nodes(cora, size=120)
    first, second = take(cora, nodes).positions, take(cora, nodes[::-1]).positions
    assert np.array_equal(first, second)
    assert not np.array_equal(first, take(cora, nodes, seed=1).positions)
    distances = np.linalg.norm(first[:, None] - first[None], axis=2) + np.eye(len(first))
    assert distances.min() > 0.02
    assert np.median(distances.min(axis=1)) > 0.4
    assert np.allclose(first.max(axis=0), -first.min(axis=0))


def test_a_component_covers_about_one_unit_per_node(cora: Graph) -> None:
    width, height = np.ptp(take(cora, sample_nodes(cora, "ego", size=150)).positions, axis=0)
    assert width >= height
    assert 90 < width * height < 230


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_isolated_nodes_form_rows(count: int) -> None:
    positions = layout(count, np.empty((2, 0), dtype=np.int64))
    assert positions.shape == (count, 2)
    assert len({tuple(place) for place in positions.tolist()}) == count


def test_components_do_not_overlap(two_triangles: Graph) -> None:
    apart = layout(6, two_triangles.edges[:, [0, 1, 2, 4, 5, 6]])
    left, right = sorted((apart[:3, 0], apart[3:, 0]), key=np.min)
    assert left.max() < right.min()


def test_the_induced_subgraph_keeps_its_edge_entries(two_triangles: Graph) -> None:
    part = take(two_triangles, np.array([4, 2, 3]))
    assert part.nodes.tolist() == [2, 3, 4]
    assert part.edges.tolist() == [[0, 1], [1, 2]]
    assert two_triangles.edges[:, part.edge_ids].tolist() == [[2, 3], [3, 4]]
    assert part.names == ("2", "3", "4")
    assert take(two_triangles, ALL).class_name(6) == "unknown class"


def test_edge_states_of_both_directions(two_triangles: Graph, mask: EdgeMask) -> None:
    states = edge_states(take(two_triangles, ALL), mask)
    assert states.tolist() == [BOTH, FORWARD, BACKWARD, REMOVED, BOTH, BOTH, BOTH]
    undirected = EdgeMask("undirected", np.array(FORTH))
    assert set(edge_states(take(two_triangles, ALL), undirected).tolist()) == {REMOVED, BOTH}


def test_counts_of_sample_and_graph(two_triangles: Graph, mask: EdgeMask) -> None:
    panel = make_panel(two_triangles, take(two_triangles, np.array([2, 3, 4])), mask, "")
    assert panel.caption == (
        "Shown: 3 nodes · 1 of 2 edges kept · 1 without an edge here (0 without any in the whole graph) · 2 components",
        "Whole graph: 7 nodes · 6 of 7 edges kept (4 both ways) · 1 isolated · 3 components",
    )
    alone = make_panel(two_triangles, take(two_triangles, np.array([2, 6])), mask, "")
    assert "2 without an edge here (1 without any in the whole graph)" in alone.caption[0]
    assert len(replay_frame(alone)["lonely"]) == 1
    assert panel.degrees.tolist() == [2, 2, 2]
    assert panel.full_degrees.tolist() == [3, 3, 2]
    before = original_panel(two_triangles, panel.subgraph).sample.sentence()
    assert before == "3 nodes · 2 edges · 0 isolated · 1 component"


def test_edges_are_drawn_by_their_state(panel: GraphPanel) -> None:
    edges = {edge["id"]: edge for edge in network_data(panel, dark=False)["edges"]}
    assert [number for number, edge in edges.items() if "dashes" in edge] == [3]
    assert [number for number, edge in edges.items() if edge["removed"]] == [3]
    assert edges[3]["color"]["opacity"] == 0.45
    assert edges[3]["color"]["color"] != edges[0]["color"]["color"]
    one_way = {number: (edge["from"], edge["to"]) for number, edge in edges.items() if "arrows" in edge}
    assert one_way == {1: (0, 2), 2: (2, 1)}
    assert network_data(panel, dark=False)["edges"][0]["id"] == 3


def test_edges_of_this_round_differ_from_those_removed_earlier(two_triangles: Graph, mask: EdgeMask) -> None:
    part = take(two_triangles, ALL)
    after = EdgeMask("directed", mask.keep & np.array([0, 1, 1, 1, 1, 1, 1] * 2, dtype=np.bool_))
    panel = make_panel(two_triangles, part, after, "", before=mask)
    assert panel.states.tolist()[0] == panel.states.tolist()[3] == REMOVED
    assert panel.fresh.tolist() == [True, *[False] * 6]
    assert edge_looks(panel).tolist() == [JUST_REMOVED, FORWARD, BACKWARD, REMOVED, BOTH, BOTH, BOTH]
    assert panel.caption[1].endswith("1 removed in this round")
    edges = {edge["id"]: edge for edge in network_data(panel, dark=False)["edges"]}
    assert edges[0]["removed"]
    assert edges[0]["dashes"] != edges[3]["dashes"]
    assert edges[0]["width"] > edges[3]["width"]
    frame = replay_frame(panel)
    assert frame["looks"] == "4120333"
    assert frame["lonely"] == [6]


@pytest.fixture
def by_cause(two_triangles: Graph, mask: EdgeMask) -> GraphPanel:
    """Edge 0 goes in round 2 by a gradient, edge 3 without one in round 1; edges 1 and 2 lose a direction."""
    after = EdgeMask("directed", mask.keep & np.array([0, 1, 1, 1, 1, 1, 1] * 2, dtype=np.bool_))
    missing = ~after.directions()
    rounds = np.where(missing, np.array([2, 1, 1, 1, 0, 0, 0]), 0).astype(np.int16)
    causes = np.where(missing, np.array([1, 1, 2, 2, 0, 0, 0]), 0).astype(np.int8)
    panel = make_panel(two_triangles, take(two_triangles, ALL), after, "UGS, round 2", before=mask)
    return replace(panel, removals=Removals(rounds, causes))


def test_removed_edges_have_the_look_of_their_cause(by_cause: GraphPanel) -> None:
    first, last = JUST_REMOVED + 1, JUST_REMOVED + 2
    assert edge_looks(by_cause).tolist() == [first + len(CAUSES) - 1, FORWARD, BACKWARD, last, BOTH, BOTH, BOTH]
    assert replay_frame(by_cause)["looks"] == "a126333"
    edges = {edge["id"]: edge for edge in network_data(by_cause, dark=False)["edges"]}
    assert [number for number, edge in edges.items() if edge["removed"]] == [0, 3]
    assert [edges[number]["cause"] for number in (0, 3)] == ["gradient", "no gradient"]
    assert edges[0]["title"] == "Removed in round 2, gradient"
    assert edges[0]["color"]["color"] != edges[3]["color"]["color"]
    assert edges[0]["dashes"] != edges[3]["dashes"]
    assert edges[0]["width"] > edges[3]["width"]
    kept, lost = edges[1]["title"].split("\n")
    assert (kept.endswith(": kept"), lost.endswith(": removed in round 1, gradient")) == (True, True)
    assert "title" not in edges[4]
    table = panel_table([by_cause])
    causes = table[table["kind"] == "edge"]["cause"].fillna("")
    assert causes.tolist() == ["gradient", "", "", "no gradient", "", "", ""]


def test_the_legend_names_the_causes_shown(by_cause: GraphPanel) -> None:
    document = panels_html([by_cause])
    legend = document.partition("<footer>")[2].partition("</footer>")[0]
    assert [cause for cause in CAUSES if f"removed: {cause}</li>" in legend] == ["gradient", "no gradient"]
    assert "removed earlier" not in legend
    without = panels_html([replace(by_cause, removals=None)]).partition("<footer>")[2]
    assert "removed earlier" in without
    assert "removed: " not in without.partition("</footer>")[0]


def test_the_last_direction_decides_about_the_cause() -> None:
    """Against a loop over all pairs of rounds (0: kept) and causes of both directions."""
    cases = list(product(product(range(3), repeat=2), product(range(1, 6), repeat=2)))
    rounds = np.array([pair[0] for pair in cases], dtype=np.int16).T
    causes = np.where(rounds > 0, np.array([pair[1] for pair in cases], dtype=np.int8).T, 0).astype(np.int8)
    expected = []
    for (one, other), (first, second) in zip(rounds.T.tolist(), causes.T.tolist(), strict=True):
        last = first if one > other else second if other > one else min(first, second)
        expected.append(last if one and other else 0)
    assert Removals(rounds, causes).decisive.tolist() == expected


def test_a_returning_edge_is_not_newly_removed(two_triangles: Graph) -> None:
    part = take(two_triangles, ALL)
    before, after = (EdgeMask("undirected", np.arange(7) != gone) for gone in (2, 5))
    panel = make_panel(two_triangles, part, after, "", before)
    assert np.flatnonzero(panel.fresh).tolist() == [5]
    assert "removed in this round" not in make_panel(two_triangles, part, after, "").caption[0]


def test_node_size_follows_degree(two_triangles: Graph) -> None:
    part = take(two_triangles, ALL)
    only_bridge = EdgeMask("undirected", np.arange(7) == 3)
    before = network_data(original_panel(two_triangles, part), dark=False)["nodes"]
    after = network_data(make_panel(two_triangles, part, only_bridge, ""), dark=False)["nodes"]
    assert before[2]["size"] == LARGEST
    assert LARGEST > after[2]["size"] > after[0]["size"] == SMALLEST
    assert [(node["x"], node["y"]) for node in before] == [(node["x"], node["y"]) for node in after]
    assert after[0]["color"]["background"] == "#FFFFFF"
    assert after[0]["title"].endswith("degree 2, 0 left")
    assert before[0]["color"]["background"] == after[0]["color"]["border"]


def test_physics_is_off(panel: GraphPanel) -> None:
    assert network_data(panel, dark=True)["options"]["physics"] == {"enabled": False}


def test_panels_of_different_samples_are_refused(two_triangles: Graph, panel: GraphPanel) -> None:
    other = original_panel(two_triangles, take(two_triangles, np.arange(3)))
    with pytest.raises(ValueError, match="same nodes"):
        panels_html([panel, other])
    with pytest.raises(ValueError, match="at least one"):
        panels_html([])


ATTACK = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def hostile(two_triangles: Graph) -> str:
    """Return panels whose class names and titles hold markup."""
    part = take(two_triangles, np.arange(7))
    pruned = make_panel(two_triangles, part, EdgeMask("directed", np.arange(14) % 3 > 0), ATTACK + "\u2028&")
    return panels_html([original_panel(two_triangles, part), pruned])


@pytest.fixture(scope="module")
def document() -> tuple[str, str]:
    from glt.datasets import load_graph

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


def test_the_document_loads_nothing(document: tuple[str, str]) -> None:
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


def test_the_vis_network_script_is_included_once(document: tuple[str, str]) -> None:
    assert len(document[0]) < 700_000


def test_labels_are_escaped(hostile: str) -> None:
    assert ATTACK not in hostile
    assert not [tag for tag, _ in Elements(hostile).found if tag in {"img", "i"}]
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', hostile, re.DOTALL)
    assert block
    assert not set("<>&\u2028\u2029") & set(block[1])
    assert ATTACK in json.loads(block[1])["panels"][0]["nodes"][0]["title"]


def test_themes_differ_in_background_and_text_colour(document: tuple[str, str]) -> None:
    light, dark = document
    assert "--ground: #FFFFFF" in light
    assert "--ground: #0E1117" in dark
    assert "--height: 700px" in dark


@pytest.mark.browser
def test_hostile_labels_are_not_executed(page: Page, hostile: str) -> None:
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
def test_removed_edges_can_be_hidden(page: Page, document: tuple[str, str]) -> None:
    page.set_content(document[1])
    assert page.inner_text("#message").startswith("Node 35 ")
    left, right = (drawn(page, number) for number in (0, 1))
    page.uncheck("#show-removed")
    eventually(page, lambda: inked(page, 1) < right)
    assert inked(page, 0) == left


@pytest.fixture(scope="module")
def played() -> str:
    """Return panels of the third round of a run, with the rounds before it."""
    from glt.datasets import load_graph

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
def test_playback_starts_at_round_0_and_restores_the_view(page: Page, played: str) -> None:
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.clock.install()
    page.set_content(played)
    title, counts = page.locator("figure .title").nth(1), page.locator("figure .counts").nth(1)
    before, printed = drawn(page, 1), counts.inner_text()
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
    assert counts.inner_text() == printed
    eventually(page, lambda: inked(page, 1) == pytest.approx(before, rel=0.02))
    assert failures == []


def eventually(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds: a picture is drawn some frames after its cause."""
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


def test_a_marked_sample_has_a_legend_key(two_triangles: Graph) -> None:
    panel = original_panel(two_triangles, take(two_triangles, np.arange(1, 7)))
    marked = panels_html([panel], marked=[2, 5, 0])
    assert '"marked": [1, 4]' in marked, "places of the nodes that are shown"
    assert "in the sample" in marked
    assert "in the sample" not in panels_html([panel])


@pytest.mark.browser
def test_marked_nodes_are_drawn(page: Page, two_triangles: Graph) -> None:
    panel = original_panel(two_triangles, take(two_triangles, np.arange(7)))
    page.set_content(panels_html([panel]))
    bare = inked(page, 0)
    page.set_content(panels_html([panel], marked=range(7)))
    assert inked(page, 0) > bare


PNG = b"\x89PNG"


def test_pivot_layout_reproduces_path_distances() -> None:
    """Distances on a path are distances on a line, which classical scaling reproduces up to one factor."""
    path = np.stack([np.arange(29), np.arange(1, 30)])
    along = pivot_layout(30, path, seed=0)[:, 0]
    steps = np.diff(along)
    assert np.allclose(steps, steps[0], rtol=1e-6)


def test_large_layouts_are_reproducible_and_keep_groups_together(cora: Graph) -> None:
    part = take(cora, np.arange(cora.num_nodes))
    assert part.nodes.size > LARGE
    assert np.array_equal(part.positions, layout(cora.num_nodes, part.edges))
    assert np.isfinite(part.positions).all()
    groups = find_communities(cora)
    largest = np.argsort(-np.bincount(groups))[:6]
    inside = [np.median(np.linalg.norm(spread(part.positions[groups == k]), axis=1)) for k in largest]
    whole = np.median(np.linalg.norm(spread(part.positions), axis=1))
    assert np.mean(inside) < 0.5 * whole
    assert len(np.unique(part.positions.round(3), axis=0)) > 0.99 * cora.num_nodes


def spread(positions: np.ndarray) -> np.ndarray:
    return positions - np.median(positions, axis=0)


def test_the_static_picture_shows_marked_nodes_and_removed_edges(cora: Graph) -> None:
    part = take(cora, np.arange(cora.num_nodes))
    original = original_panel(cora, part)
    nobody = overview_png(original, np.empty(0, dtype=np.int64))
    assert nobody.startswith(PNG)
    assert overview_png(original, np.empty(0, dtype=np.int64)) == nobody
    marked = overview_png(original, np.arange(100))
    full = EdgeMask.full("undirected", cora.num_edges)
    pruned = make_panel(cora, part, EdgeMask("undirected", np.arange(cora.num_edges) % 2 > 0), "", full)
    plain, with_marks, with_cuts = (pixels(png) for png in (nobody, marked, overview_png(pruned, np.arange(0))))
    assert dark(with_marks) > dark(plain) + 500, "outlines are as dark as text"
    assert orange(with_cuts) > orange(plain) + 5_000
    assert pixels(overview_png(original, np.arange(0), dark=True))[0, 0].sum() < 0.5


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(imread(BytesIO(png)))[..., :3]


def dark(picture: np.ndarray) -> int:
    return int((picture.max(axis=2) < 0.3).sum())


def orange(picture: np.ndarray) -> int:
    red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
    return int(((red - green > 0.25) & (green > blue)).sum())
