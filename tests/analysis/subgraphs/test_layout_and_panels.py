from __future__ import annotations

import numpy as np
import pytest

from analysis.subgraphs import (
    BACKWARD,
    BOTH,
    FORWARD,
    REMOVED,
    Panel,
    edge_states,
    make_panel,
    original_panel,
    panels_html,
    sample_nodes,
    take,
)
from analysis.subgraphs.html import JUST_REMOVED, LARGEST, SMALLEST, edge_looks, network_data, replay_frame
from analysis.subgraphs.layout import layout
from glt.data import Graph
from glt.masks import EdgeMask

ALL = np.arange(7)
# The columns of two_triangles are 0-1, 0-2, 1-2, 2-3, 3-4, 3-5, 4-5.
FORTH = [1, 1, 0, 0, 1, 1, 1]
BACK = [1, 0, 1, 0, 1, 1, 1]


@pytest.fixture
def mask() -> EdgeMask:
    return EdgeMask("directed", np.array(FORTH + BACK))


@pytest.fixture
def panel(two_triangles: Graph, mask: EdgeMask) -> Panel:
    return make_panel(two_triangles, take(two_triangles, ALL), mask, "UGS, round 3")


def test_positions_are_the_same_again_and_apart(cora: Graph) -> None:
    nodes = sample_nodes(cora, size=120)
    first, second = take(cora, nodes).positions, take(cora, nodes[::-1]).positions
    assert np.array_equal(first, second)
    assert not np.array_equal(first, take(cora, nodes, seed=1).positions)
    distances = np.linalg.norm(first[:, None] - first[None], axis=2) + np.eye(len(first))
    assert distances.min() > 0.02
    assert np.median(distances.min(axis=1)) > 0.4
    assert np.allclose(first.max(axis=0), -first.min(axis=0))


def test_a_component_covers_about_one_unit_a_node(cora: Graph) -> None:
    width, height = np.ptp(take(cora, sample_nodes(cora, "ego", size=150)).positions, axis=0)
    assert width >= height
    assert 90 < width * height < 230


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_nodes_without_edges_lie_in_rows(count: int) -> None:
    positions = layout(count, np.empty((2, 0), dtype=np.int64))
    assert positions.shape == (count, 2)
    assert len({tuple(place) for place in positions.tolist()}) == count


def test_components_do_not_overlap(two_triangles: Graph) -> None:
    apart = layout(6, two_triangles.edges[:, [0, 1, 2, 4, 5, 6]])
    left, right = sorted((apart[:3, 0], apart[3:, 0]), key=np.min)
    assert left.max() < right.min()


def test_the_induced_subgraph_keeps_its_place_in_the_graph(two_triangles: Graph) -> None:
    part = take(two_triangles, np.array([4, 2, 3]))
    assert part.nodes.tolist() == [2, 3, 4]
    assert part.edges.tolist() == [[0, 1], [1, 2]]
    assert two_triangles.edges[:, part.edge_ids].tolist() == [[2, 3], [3, 4]]
    assert part.names == ("2", "3", "4")
    assert take(two_triangles, ALL).class_name(6) == "unknown class"


def test_states_tell_both_directions(two_triangles: Graph, mask: EdgeMask) -> None:
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


def test_edges_are_drawn_by_their_state(panel: Panel) -> None:
    edges = {edge["id"]: edge for edge in network_data(panel, dark=False)["edges"]}
    assert [number for number, edge in edges.items() if "dashes" in edge] == [3]
    assert [number for number, edge in edges.items() if edge["removed"]] == [3]
    assert edges[3]["color"]["opacity"] == 0.45
    assert edges[3]["color"]["color"] != edges[0]["color"]["color"]
    one_way = {number: (edge["from"], edge["to"]) for number, edge in edges.items() if "arrows" in edge}
    assert one_way == {1: (0, 2), 2: (2, 1)}
    assert network_data(panel, dark=False)["edges"][0]["id"] == 3


def test_edges_of_this_round_are_told_from_those_removed_earlier(two_triangles: Graph, mask: EdgeMask) -> None:
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


def test_an_edge_that_comes_back_is_not_fresh(two_triangles: Graph) -> None:
    part = take(two_triangles, ALL)
    before, after = (EdgeMask("undirected", np.arange(7) != gone) for gone in (2, 5))
    panel = make_panel(two_triangles, part, after, "", before)
    assert np.flatnonzero(panel.fresh).tolist() == [5]
    assert "removed in this round" not in make_panel(two_triangles, part, after, "").caption[0]


def test_nodes_shrink_with_their_degree_and_hollow_out(two_triangles: Graph) -> None:
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


def test_physics_is_off(panel: Panel) -> None:
    assert network_data(panel, dark=True)["options"]["physics"] == {"enabled": False}


def test_panels_of_different_samples_are_refused(two_triangles: Graph, panel: Panel) -> None:
    other = original_panel(two_triangles, take(two_triangles, np.arange(3)))
    with pytest.raises(ValueError, match="same nodes"):
        panels_html([panel, other])
    with pytest.raises(ValueError, match="at least one"):
        panels_html([])
