"""The four augmentations: exact counts, symmetric simple edges, the same draw for the same seed, and their limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from glt.datasets import Graph, load_graph
from glt.datasets.graph import IntArray, Provenance, Split
from glt.errors import DataError
from glt.pretraining.augmentations import AUGMENTATIONS, new_edges, walked
from glt.seeds import stream

SHARE = 0.2


def make_graph(nodes: int, pairs: list[tuple[int, int]]) -> Graph:
    edges: IntArray = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    none = np.empty(0, dtype=np.int64)
    features = csr_array(np.eye(nodes, dtype=np.float32))
    return Graph("drawn", edges, features, np.zeros(nodes, dtype=np.int64), Split(none, none, none), HAND_MADE)


HAND_MADE = Provenance("by hand", 0, 0, 0)


def codes(graph: Graph, edges: IntArray) -> set[int]:
    return set((edges[0] * graph.num_nodes + edges[1]).tolist())


@pytest.fixture(scope="module")
def cora() -> Graph:
    return load_graph("cora")


def test_the_registry_has_the_four() -> None:
    assert AUGMENTATIONS.names() == ["edges", "features", "nodes", "subgraph"]


@pytest.mark.parametrize("name", ["edges", "features", "nodes", "subgraph"])
def test_a_view_is_a_simple_graph_and_drawn_alike_from_a_seed(cora: Graph, name: str) -> None:
    view, again, other = (AUGMENTATIONS.get(name).view(cora, SHARE, stream(seed, 0, "view")) for seed in (3, 3, 4))
    low, high = view.edges
    assert (low < high).all()
    assert (np.diff(low * cora.num_nodes + high) > 0).all()
    for field in ("edges", "members", "visible"):
        np.testing.assert_array_equal(getattr(view, field), getattr(again, field))
    different = [not np.array_equal(getattr(view, f), getattr(other, f)) for f in ("edges", "members", "visible")]
    assert any(different)


def test_edges_drops_and_adds_the_same_number(cora: Graph) -> None:
    view = AUGMENTATIONS.get("edges").view(cora, SHARE, stream(0, 0, "view"))
    before, after = codes(cora, cora.edges), codes(cora, view.edges)
    assert len(after) == len(before) == view.edges.shape[1]
    assert len(before - after) == len(after - before) == cora.num_edges // 5
    assert view.members.all()
    assert view.visible.all()


def test_nodes_leave_with_their_edges(cora: Graph) -> None:
    view = AUGMENTATIONS.get("nodes").view(cora, SHARE, stream(0, 0, "view"))
    assert (~view.members).sum() == cora.num_nodes // 5
    touched = ~view.members[cora.edges].all(axis=0)
    assert codes(cora, view.edges) == codes(cora, cora.edges[:, ~touched])
    assert view.visible.all()


def test_features_are_hidden_and_edges_stay(cora: Graph) -> None:
    view = AUGMENTATIONS.get("features").view(cora, SHARE, stream(0, 0, "view"))
    assert (~view.visible).sum() == cora.num_nodes // 5
    assert view.members.all()
    np.testing.assert_array_equal(view.edges, cora.edges)


def test_a_subgraph_is_what_a_walk_reaches(cora: Graph) -> None:
    view = AUGMENTATIONS.get("subgraph").view(cora, SHARE, stream(0, 0, "view"))
    assert view.members.sum() == cora.num_nodes - cora.num_nodes // 5
    assert view.members[view.edges].all()
    assert view.edges.shape[1] == view.members[cora.edges].all(axis=0).sum()


def test_a_walk_stays_in_a_component_until_it_is_exhausted() -> None:
    graph = make_graph(9, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)])
    for seed in range(20):
        reached = set(np.flatnonzero(walked(graph, 4, stream(seed, 0, "walk"))).tolist())
        whole = {0, 1, 2, 3} <= reached or {4, 5, 6, 7} <= reached
        assert whole or 8 in reached, reached


def test_a_walk_reaches_all_nodes_of_a_graph_without_edges() -> None:
    assert walked(make_graph(5, []), 5, stream(0, 0, "walk")).all()


def test_every_pair_without_an_edge_can_be_added() -> None:
    graph = make_graph(6, [(0, 1), (0, 5), (1, 2), (3, 4), (4, 5)])
    every = {(i, j) for i in range(6) for j in range(i + 1, 6)}
    added = new_edges(graph, 10, stream(0, 0, "view"))
    assert {(int(i), int(j)) for i, j in added.T} == every - {(0, 1), (0, 5), (1, 2), (3, 4), (4, 5)}


def test_new_pairs_are_drawn_evenly() -> None:
    graph = make_graph(4, [(0, 1), (2, 3)])
    drawn = [tuple(new_edges(graph, 1, stream(seed, 0, "view"))[:, 0].tolist()) for seed in range(400)]
    assert {pair: drawn.count(pair) > 60 for pair in set(drawn)} == {
        (0, 2): True,
        (0, 3): True,
        (1, 2): True,
        (1, 3): True,
    }


def full(nodes: int) -> Graph:
    return make_graph(nodes, [(i, j) for i in range(nodes) for j in range(i + 1, nodes)])


@pytest.mark.parametrize(
    ("name", "graph", "words"),
    [
        ("edges", lambda: make_graph(5, []), "of 0 edges is none"),
        ("edges", lambda: full(6), "only 0 pairs of nodes without an edge"),
        ("nodes", lambda: make_graph(4, []), "of 4 nodes is none"),
        ("features", lambda: make_graph(2, [(0, 1)]), "of 2 nodes is none"),
        ("subgraph", lambda: make_graph(1, []), "of 1 nodes is none"),
    ],
)
def test_too_little_to_change_is_one_sentence(name: str, graph: Callable[[], Graph], words: str) -> None:
    with pytest.raises(DataError, match=words):
        AUGMENTATIONS.get(name).view(graph(), SHARE, stream(0, 0, "view"))


def test_a_large_share_leaves_at_least_one_node() -> None:
    for name in ("nodes", "subgraph"):
        assert AUGMENTATIONS.get(name).view(full(3), 0.99, stream(0, 0, "view")).members.sum() == 1
