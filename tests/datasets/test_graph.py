"""Graph and simple_edges: what is kept, what is dropped, what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from glt.datasets import Graph, Provenance, Split, simple_edges

MAX_NODES = 12
nodes = st.integers(0, MAX_NODES - 1)


def graph(edges: list[list[int]], nodes: int = 4, rows: int | None = None) -> Graph:
    none = np.empty(0, dtype=np.int64)
    return Graph(
        name="tiny",
        edges=np.array(edges, dtype=np.int64),
        features=csr_array(np.eye(nodes if rows is None else rows, dtype=np.float32)),
        labels=np.zeros(nodes, dtype=np.int64),
        split=Split(none, none, none),
        provenance=Provenance("by hand", len(edges), 0, 0),
    )


@given(st.lists(st.tuples(nodes, nodes), max_size=40))
def test_simple_edges_are_the_set_of_unordered_pairs(rows: list[tuple[int, int]]) -> None:
    edges, duplicates, loops = simple_edges(np.array(rows, dtype=np.int64).reshape(-1, 2).T, MAX_NODES)
    expected = sorted({(min(row), max(row)) for row in rows if row[0] != row[1]})
    assert [tuple(pair) for pair in edges.T.tolist()] == expected
    assert loops == sum(a == b for a, b in rows)
    assert duplicates + loops + edges.shape[1] == len(rows)


@given(st.lists(st.tuples(nodes, nodes), max_size=40))
def test_a_graph_takes_what_simple_edges_gives(rows: list[tuple[int, int]]) -> None:
    edges, _, _ = simple_edges(np.array(rows, dtype=np.int64).reshape(-1, 2).T, MAX_NODES)
    assert graph(edges.tolist(), MAX_NODES).num_edges == edges.shape[1]


@pytest.mark.parametrize(
    "edges",
    [
        [[1], [0]],  # the larger end first
        [[2], [2]],  # a self-loop
        [[0, 0], [1, 1]],  # a repeat
        [[1, 0], [2, 1]],  # not sorted
        [[0, 0], [3, 1]],  # not sorted in the second end
        [[0], [4]],  # beyond the last node
        [[-1], [0]],
        [[0, 1]],  # not pairs
    ],
)
def test_bad_edges_are_refused(edges: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"edges must be|not enough values"):
        graph(edges)


def test_features_must_have_a_row_for_every_node() -> None:
    with pytest.raises(ValueError, match="3 feature rows for 4 nodes"):
        graph([[0], [1]], rows=3)


def test_entries_list_every_edge_each_way() -> None:
    assert graph([[0, 1], [1, 3]]).entries().tolist() == [[0, 1, 1, 3], [1, 3, 0, 1]]


def test_content_hash_is_about_content() -> None:
    one = graph([[0, 1], [1, 3]])
    assert one.content_hash == dataclasses.replace(one, name="other").content_hash
    assert one.content_hash != graph([[0, 1], [1, 2]]).content_hash
    assert one.content_hash != dataclasses.replace(one, labels=np.array([0, 0, 0, 1])).content_hash
    assert one.content_hash != dataclasses.replace(one, split=Split(*np.eye(3, dtype=np.int64))).content_hash
    narrow = dataclasses.replace(one, edges=one.edges.astype(np.int32))
    assert one.content_hash == narrow.content_hash
