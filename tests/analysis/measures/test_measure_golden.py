"""What NetworkX 3.6.1 gives for the Planetoid graphs (its Brandes takes most of an hour on PubMed)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.measures import MeasuredGraph, measure_graph
from glt.data import Graph, load_graph

GOLDEN = {
    "cora": (2708, 5278, 0, "0.240673", "0.0016528", "0.0010069"),
    "citeseer": (3327, 4552, 48, "0.141471", "0.0010171", "0.0008322"),
    "pubmed": (19717, 44324, 0, "0.060175", "0.00027070", "0.00014297"),
}
CITESEER_SELF_LOOPS = 124


@pytest.fixture
def graph(name: str, test_data: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    monkeypatch.setenv("GLT_DATA", str(test_data))
    return load_graph(name)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name: str, graph: Graph) -> None:
    nodes, edges, isolated, clustering, node_mean, edge_mean = GOLDEN[name]
    found = measure_graph(graph)
    assert (found["nodes"], found["edges"], found["isolated_nodes"]) == (nodes, edges, isolated)
    assert printed(found["average_clustering"], clustering) == clustering
    assert printed(found["mean_node_betweenness"], node_mean) == node_mean
    assert printed(found["mean_edge_betweenness"], edge_mean) == edge_mean


def printed(value: float, like: str) -> str:
    return f"{value:.{len(like) - 2}f}"


@pytest.mark.parametrize("name", ["citeseer"])
def test_native_self_loops_count_in_the_mean_over_edges_of_the_paper(graph: Graph) -> None:
    found = measure_graph(graph)
    with_loops = found["mean_edge_betweenness"] * graph.num_edges / (graph.num_edges + CITESEER_SELF_LOOPS)
    assert printed(with_loops, "0.0008102") == "0.0008102"


@pytest.mark.parametrize("name", ["cora"])
def test_structure_of_cora(graph: Graph) -> None:
    found = measure_graph(graph)
    assert (found["components"], found["triangles"]) == (78, 1630)
    assert found["largest_component_share"] == pytest.approx(2485 / 2708)
    assert found["edge_homophily"] == pytest.approx(0.810, abs=5e-4)
    assert found["mean_degree"] == pytest.approx(3.898, abs=5e-4)


@pytest.mark.parametrize("name", ["cora"])
def test_kept_edges_are_what_is_measured(graph: Graph) -> None:
    kept = np.random.default_rng(0).random(graph.num_edges) < 0.5
    found = measure_graph(graph, kept)
    assert found["edges"] == kept.sum()
    assert found["nodes"] == graph.num_nodes
    assert found["triangles"] == measure_graph(graph, kept)["triangles"] < 1630
    assert MeasuredGraph.of(graph, kept).content_hash != MeasuredGraph.of(graph).content_hash
