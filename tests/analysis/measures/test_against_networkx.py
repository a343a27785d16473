from __future__ import annotations

from itertools import combinations
from math import isnan

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures import MeasuredGraph, in_order


def measured(graph: nx.Graph, labels: list[int] | None = None) -> MeasuredGraph:
    pairs = sorted(tuple(sorted(edge)) for edge in graph.edges)
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return MeasuredGraph(graph.number_of_nodes(), edges, np.array(labels or [0] * len(graph), dtype=np.int64))


def values(graph: nx.Graph) -> dict[str, float]:
    subject = measured(graph)
    return {measure.name: measure.compute(subject) for measure in in_order()}


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else float("nan")


def reference(graph: nx.Graph) -> dict[str, float]:
    reached = dict(nx.all_pairs_shortest_path_length(graph))
    distances = [d for source, found in reached.items() for target, d in found.items() if target != source]
    pairs = len(graph) * (len(graph) - 1)
    pieces = list(nx.connected_components(graph))
    clustering = nx.clustering(graph)
    return {
        "nodes": len(graph),
        "edges": graph.number_of_edges(),
        "mean_degree": mean([degree for _, degree in graph.degree]),
        "isolated_nodes": nx.number_of_isolates(graph),
        "components": len(pieces),
        "largest_component_share": max(map(len, pieces)) / len(graph) if pieces else float("nan"),
        "reach": len(distances) / pairs if pairs else float("nan"),
        "average_path_length": mean(distances),
        "average_clustering": nx.average_clustering(graph) if len(graph) else float("nan"),
        "clustering_degree_two": mean([clustering[node] for node, degree in graph.degree if degree > 1]),
        "triangles": sum(nx.triangles(graph).values()) // 3,
        "mean_node_betweenness": mean(list(nx.betweenness_centrality(graph).values())),
        "mean_edge_betweenness": mean(list(nx.edge_betweenness_centrality(graph).values())),
        "edge_homophily": 1.0 if graph.number_of_edges() else float("nan"),
    }


def two_components() -> nx.Graph:
    return nx.disjoint_union(nx.cycle_graph(5), nx.barbell_graph(4, 2))


SMALL = {
    "path": nx.path_graph(7),
    "star": nx.star_graph(6),
    "K5": nx.complete_graph(5),
    "two components and a lone node": nx.disjoint_union(two_components(), nx.empty_graph(1)),
    "karate club": nx.karate_club_graph(),
    "more nodes than bits in a word": nx.connected_watts_strogatz_graph(150, 4, 0.2, seed=1),
    "no edges": nx.empty_graph(4),
    "empty": nx.empty_graph(0),
    "one node": nx.empty_graph(1),
    "two nodes": nx.path_graph(2),
}


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())
def test_every_measure_equals_networkx_on_small_graphs(graph: nx.Graph) -> None:
    assert values(graph) == pytest.approx(reference(graph), rel=1e-12, nan_ok=True)


@st.composite
def random_graphs(draw: st.DrawFn) -> nx.Graph:
    size = draw(st.integers(0, 12))
    graph = nx.empty_graph(size)
    pairs = list(combinations(range(size), 2))
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph


@given(random_graphs())
def test_every_measure_equals_networkx_on_random_graphs(graph: nx.Graph) -> None:
    assert values(graph) == pytest.approx(reference(graph), rel=1e-12, nan_ok=True)


def test_homophily_leaves_unknown_labels_out() -> None:
    path = measured(nx.path_graph(4), [0, 0, 1, -1])
    found = next(measure for measure in in_order() if measure.name == "edge_homophily")
    assert found.compute(path) == 0.5
    assert isnan(found.compute(measured(nx.path_graph(2), [-1, 0])))


def test_known_answers_by_hand() -> None:
    star = values(nx.star_graph(4))
    assert (star["average_path_length"], star["mean_node_betweenness"]) == (1.6, 0.2)
    complete = values(nx.complete_graph(5))
    assert (complete["triangles"], complete["average_clustering"], complete["mean_edge_betweenness"]) == (10, 1.0, 0.1)
