"""Sparse graphs as NetworkX, pandas and SciPy read them."""

from __future__ import annotations

import io
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from glt.datasets import Graph
from glt.errors import DataError
from glt.masks import EdgeMask
from glt.ticket_file.graph_formats import SparseGraph, adjacency, edge_list, graphml, read_adjacency

NAMES = ("a<b", "c&d", 'e"f', "g\x01h", "i,j", "=k")
# Entries of the small graph: (0,1) (0,2) (1,2) (2,3) (4,5), then the same the other way round.
DIRECTED = EdgeMask("directed", np.array([1, 0, 1, 1, 0, 1, 1, 0, 0, 0]))
UNDIRECTED = EdgeMask("undirected", np.array([1, 0, 1, 1, 0]))
LEFT = {(0, 1), (1, 2), (2, 3), (1, 0), (2, 0)}


@pytest.fixture
def graph(small_graph: Graph) -> Graph:
    named = replace(small_graph, node_ids=NAMES, class_names=("x", "y", "<z>"))
    return replace(named, labels=np.array([0, 1, 0, 1, 2, -1]))


def pairs(graph: nx.Graph, nodes: list[str]) -> set[tuple[int, int]]:
    return {(nodes.index(source), nodes.index(target)) for source, target in graph.edges}


def test_graphml_keeps_names_classes_and_isolated_nodes(graph: Graph) -> None:
    read = nx.read_graphml(io.BytesIO(graphml(SparseGraph.under(graph, DIRECTED, "one & only"))))
    assert read.is_directed()
    nodes = list(read.nodes)
    assert pairs(read, nodes) == LEFT
    labels = [read.nodes[node]["label"] for node in nodes]
    assert labels == [name.replace("\x01", "\N{REPLACEMENT CHARACTER}") for name in NAMES]
    assert [read.nodes[node]["class"] for node in nodes] == ["x", "y", "x", "y", "<z>", ""]


def test_an_undirected_mask_gives_an_undirected_graph(graph: Graph) -> None:
    sparse = SparseGraph.under(graph, UNDIRECTED, "t")
    read = nx.read_graphml(io.BytesIO(graphml(sparse)))
    assert not read.is_directed()
    assert pairs(read, list(read.nodes)) == {(0, 1), (1, 2), (2, 3)}
    assert set(pd.read_csv(io.BytesIO(edge_list(sparse)))["Type"]) == {"Undirected"}
    matrix = scipy.sparse.load_npz(io.BytesIO(adjacency(sparse)))
    assert (matrix != matrix.T).nnz == 0
    assert matrix.nnz == 6


def test_an_edge_list_has_names(graph: Graph) -> None:
    table = pd.read_csv(io.BytesIO(edge_list(SparseGraph.under(graph, DIRECTED, "t"))), dtype=str)
    assert list(table.columns) == ["Source", "Target", "Type"]
    read = nx.from_pandas_edgelist(table, "Source", "Target", create_using=nx.DiGraph)
    assert pairs(read, list(NAMES)) == LEFT


def test_a_matrix_has_sources_as_rows_and_needs_no_pickle(graph: Graph) -> None:
    content = adjacency(SparseGraph.under(graph, DIRECTED, "t"))
    matrix = scipy.sparse.load_npz(io.BytesIO(content))
    assert matrix.shape == (6, 6)
    read = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    assert set(read.edges) == LEFT
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert tuple(arrays["node_ids"]) == NAMES
        assert arrays["labels"].tolist() == [0, 1, 0, 1, 2, -1]


def test_nodes_and_classes_without_names_have_numbers(small_graph: Graph) -> None:
    sparse = SparseGraph.under(small_graph, DIRECTED, "t")
    assert list(sparse.node_ids) == list("012345")
    assert sparse.classes() == list("010122")


@pytest.mark.parametrize("mask", [DIRECTED, UNDIRECTED])
def test_a_matrix_is_read_back_as_the_graph_and_the_mask(graph: Graph, mask: EdgeMask) -> None:
    sparse = SparseGraph.under(graph, mask, "t")
    read = read_adjacency(adjacency(sparse), "t", mask.kind == "directed", graph.class_names)
    assert {tuple(edge) for edge in read.edges.T.tolist()} == {tuple(edge) for edge in sparse.edges.T.tolist()}
    assert (list(read.node_ids), read.classes()) == (list(NAMES), sparse.classes())
    found = read.mask(graph)
    assert (found.kind, found.keep.tolist()) == (mask.kind, mask.keep.tolist())


def test_a_graph_that_is_no_part_of_another_has_no_mask_there(graph: Graph) -> None:
    sparse = SparseGraph.under(graph, DIRECTED, "t")
    fewer = replace(graph, edges=graph.edges[:, 1:])
    with pytest.raises(DataError, match="is not a part of small"):
        sparse.mask(fewer)
