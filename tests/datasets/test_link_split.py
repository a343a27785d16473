"""The split for link prediction: exact counts, no leak, components as they were, negatives that are no edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from glt.datasets import Graph, Provenance, Split, load_graph, simple_edges
from glt.datasets.graph import IntArray
from glt.datasets.link_split import NonEdges, spanning_forest, split_links, training_graph
from glt.errors import DataError
from glt.seeds import stream


def codes(pairs: IntArray, num_nodes: int = 10**6) -> set[int]:
    assert (pairs[0] < pairs[1]).all()
    found = set((pairs[0] * num_nodes + pairs[1]).tolist())
    assert len(found) == pairs.shape[1]
    return found


def components(edges: IntArray, num_nodes: int) -> IntArray:
    matrix = csr_array((np.ones(edges.shape[1]), tuple(edges)), shape=(num_nodes, num_nodes))
    return connected_components(matrix, directed=False)[1]


def random_graph(num_nodes: int, num_edges: int, seed: int) -> Graph:
    pairs = np.random.default_rng(seed).integers(num_nodes, size=(2, num_edges))
    edges, _, _ = simple_edges(pairs, num_nodes)
    nodes = np.arange(num_nodes)
    split, source = Split(nodes[:1], nodes[:1], nodes[:1]), Provenance("drawn", num_edges, 0, 0)
    return Graph("drawn", edges, csr_array(np.eye(num_nodes, 2, dtype=np.float32)), nodes * 0, split, source)


def test_cora_is_split_without_a_leak() -> None:
    graph = load_graph("cora")
    split = split_links(graph, 0)
    assert {name: part.shape[1] for name, part in vars(split).items()} == {
        "train": 4488,
        "val": 263,
        "test": 527,
        "val_negatives": 263,
        "test_negatives": 527,
    }
    found = {name: codes(part) for name, part in vars(split).items()}
    assert found["train"] | found["val"] | found["test"] == codes(graph.edges)
    assert not (found["val_negatives"] | found["test_negatives"]) & codes(graph.edges)
    assert not found["val_negatives"] & found["test_negatives"]
    before = components(graph.edges, graph.num_nodes)
    assert np.array_equal(components(split.train, graph.num_nodes), before)


@given(nodes=st.integers(20, 60), density=st.integers(5, 12), seed=st.integers(0, 99))
def test_any_graph_with_enough_edges_is_split(nodes: int, density: int, seed: int) -> None:
    graph = random_graph(nodes, nodes * density // 2, seed)
    split = split_links(graph, seed)
    known = codes(graph.edges)
    assert codes(split.train) | codes(split.val) | codes(split.test) == known
    negatives = np.concatenate([split.val_negatives, split.test_negatives], axis=1)
    assert not codes(negatives) & known
    assert np.array_equal(components(split.train, nodes), components(graph.edges, nodes))


def test_a_split_depends_on_its_seed_and_is_cached() -> None:
    graph = load_graph("cora")
    again = split_links(replace(graph), 0)
    assert again is not split_links(graph, 0)
    assert split_links(graph, 0) is split_links(graph, 0)
    assert np.array_equal(again.test, split_links(graph, 0).test)
    assert np.array_equal(again.test_negatives, split_links(graph, 0).test_negatives)
    assert not np.array_equal(split_links(graph, 1).test, again.test)


def test_the_training_graph_keeps_everything_but_held_out_edges() -> None:
    graph = load_graph("cora")
    training = training_graph(graph, 0)
    assert training.num_edges == 4488
    assert training.features is graph.features
    assert training.provenance == graph.provenance
    assert training.split is graph.split
    assert training.content_hash != graph.content_hash


def test_held_out_edges_do_not_depend_on_node_order() -> None:
    """In a clique every edge is equally likely outside the spanning forest, whatever the order of nodes."""
    graph = random_graph(12, 2000, 0)
    assert graph.num_edges == 66
    counts = np.zeros(66)
    for seed in range(600):
        generator = stream(seed, 0, "link split")
        spare = np.flatnonzero(~spanning_forest(graph, generator))
        counts[spare] += 1 / spare.size
    # 55 of 66 edges are outside each time, so a count of 500 has a standard deviation of about 9.
    assert abs(55 * counts - 500).max() < 5 * 9.2


def test_non_edges_are_drawn_uniformly() -> None:
    graph = random_graph(9, 20, 1)
    others = NonEdges(graph.edges, 9)
    listed = others.pairs(np.arange(others.count))
    assert codes(listed, 9) == {9 * i + j for i in range(9) for j in range(i + 1, 9)} - codes(graph.edges, 9)
    drawn = others.draw(20_000, np.random.default_rng(0))
    _, counts = np.unique(drawn[0] * 9 + drawn[1], return_counts=True)
    expected = 20_000 / others.count
    assert counts.size == others.count
    assert abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_graphs_without_enough_edges_or_non_edges_are_refused(small_graph: Graph) -> None:
    tree = replace(random_graph(100, 2, 0), edges=np.stack([np.arange(99), np.arange(1, 100)]))
    for graph, sentence in (
        (small_graph, "small has too few edges for link prediction: 1 of 5 can be"),
        (tree, "0 of 99 can be held out without splitting a component"),
        (random_graph(12, 2000, 0), "too few pairs without an edge for link prediction: 0, but 9"),
    ):
        with pytest.raises(DataError, match=sentence):
            split_links(graph, 0)
