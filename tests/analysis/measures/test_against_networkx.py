from __future__ import annotations

from itertools import combinations
from math import isnan

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.measures import Measure, MeasuredGraph, centrality, in_order
from glt.datasets.graph import simple_edges


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
        "adjusted_homophily": float("nan"),
        **of_degrees([degree for _, degree in graph.degree], graph),
        **of_largest_component(graph.subgraph(max(pieces, key=len)) if pieces else graph),
        "largest_core": max(nx.core_number(graph).values(), default=0),
        "pagerank_spearman": order_kept(list(pagerank(graph).values())),
        "degree_spearman": order_kept([degree for _, degree in graph.degree]),
    }


def of_degrees(degrees: list[int], graph: nx.Graph) -> dict[str, float]:
    differences = sum(abs(one - other) for one in degrees for other in degrees)
    alike = len({graph.degree[node] for edge in graph.edges for node in edge}) < 2
    return {
        "largest_degree": max(degrees, default=float("nan")),
        "degree_gini": differences / (2 * len(degrees) * sum(degrees)) if sum(degrees) else float("nan"),
        "degree_assortativity": float("nan") if alike else nx.degree_assortativity_coefficient(graph),
    }


def of_largest_component(piece: nx.Graph) -> dict[str, float]:
    size, edges = len(piece), piece.number_of_edges()
    if not edges:
        names = ("bridge_share", "algebraic_connectivity", "mean_effective_resistance")
        return dict.fromkeys(names, float("nan"))
    return {
        "bridge_share": len(list(nx.bridges(piece))) / edges,
        "algebraic_connectivity": np.linalg.eigvalsh(nx.laplacian_matrix(piece).toarray().astype(float))[1],
        "mean_effective_resistance": nx.effective_graph_resistance(piece) / (size * (size - 1) / 2),
    }


def pagerank(graph: nx.Graph) -> dict[int, float]:
    return {node: round(len(graph) * v, 7) for node, v in nx.pagerank(graph, tol=1e-14, max_iter=1000).items()}


def order_kept(values: list[float]) -> float:
    return 1.0 if len(set(values)) > 1 else float("nan")


def karate_club() -> nx.Graph:
    weighted = nx.karate_club_graph()
    graph = nx.create_empty_copy(weighted)
    graph.add_edges_from(weighted.edges)
    return graph


def two_components() -> nx.Graph:
    return nx.disjoint_union(nx.cycle_graph(5), nx.barbell_graph(4, 2))


SMALL = {
    "path": nx.path_graph(7),
    "star": nx.star_graph(6),
    "K5": nx.complete_graph(5),
    "two components and a lone node": nx.disjoint_union(two_components(), nx.empty_graph(1)),
    "karate club": karate_club(),
    "more nodes than bits in a word": nx.connected_watts_strogatz_graph(150, 4, 0.2, seed=1),
    "no edges": nx.empty_graph(4),
    "empty": nx.empty_graph(0),
    "one node": nx.empty_graph(1),
    "two nodes": nx.path_graph(2),
}


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())
def test_every_measure_equals_networkx_on_small_graphs(graph: nx.Graph) -> None:
    assert values(graph) == pytest.approx(reference(graph), rel=1e-8, abs=1e-12, nan_ok=True)


@st.composite
def random_graphs(draw: st.DrawFn) -> nx.Graph:
    size = draw(st.integers(0, 12))
    graph = nx.empty_graph(size)
    pairs = list(combinations(range(size), 2))
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph


@given(random_graphs())
def test_every_measure_equals_networkx_on_random_graphs(graph: nx.Graph) -> None:
    assert values(graph) == pytest.approx(reference(graph), rel=1e-8, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["karate club", "more nodes than bits in a word"])
def test_kept_orders_equal_scipy_on_pruned_graphs(name: str) -> None:
    whole = SMALL[name]
    subject = measured(whole)
    kept = np.random.default_rng(3).random(subject.num_edges) < 0.7
    pruned = nx.empty_graph(len(whole))
    pruned.add_edges_from(subject.edges[:, kept].T.tolist())
    found = {m.name: m.compute(subject.keeping(kept)) for m in in_order() if m.against_original}
    assert found == pytest.approx(
        {
            "pagerank_spearman": spearmanr(in_line(pagerank(whole)), in_line(pagerank(pruned))).statistic,
            "degree_spearman": spearmanr(in_line(dict(whole.degree)), in_line(dict(pruned.degree))).statistic,
        }
    )
    assert 0 < found["pagerank_spearman"] < 1


def in_line(values: dict[int, float]) -> list[float]:
    return [values[node] for node in sorted(values)]


def test_pagerank_is_networkx() -> None:
    graph = nx.disjoint_union(karate_club(), nx.empty_graph(3))
    expected = nx.pagerank(graph, tol=1e-14, max_iter=1000)
    assert centrality.pagerank(measured(graph)) == pytest.approx(in_line(expected), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_bridges_of_sparse_graphs_equal_networkx(seed: int) -> None:
    graph = nx.gnm_random_graph(60, 70, seed=seed)
    piece = graph.subgraph(max(nx.connected_components(graph), key=len))
    assert by_name("bridge_share").compute(measured(graph)) == len(list(nx.bridges(piece))) / piece.number_of_edges()
    assert by_name("largest_core").compute(measured(graph)) == max(nx.core_number(graph).values())


@pytest.mark.parametrize("seed", range(5))
def test_loops_and_repeated_entries_in_either_direction_leave_the_simple_graph(seed: int) -> None:
    entries = np.random.default_rng(seed).integers(0, 40, size=(2, 150))
    entries = np.concatenate([entries, entries[::-1, :60], entries[:, :30]], axis=1)
    edges, duplicates, loops = simple_edges(entries, 42)
    graph = nx.empty_graph(42)
    graph.add_edges_from(map(tuple, entries.T.tolist()))
    assert duplicates > 0
    assert loops == (entries[0] == entries[1]).sum() > 0
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    subject = MeasuredGraph(42, edges, np.zeros(42, dtype=np.int64))
    found = {measure.name: measure.compute(subject) for measure in in_order()}
    assert found == pytest.approx(reference(graph), rel=1e-8, abs=1e-12, nan_ok=True)


def test_adjusted_homophily_is_the_assortativity_of_the_labels() -> None:
    graph = karate_club()
    labels = [int(graph.nodes[node]["club"] == "Officer") for node in graph]
    expected = nx.attribute_assortativity_coefficient(graph, "club")
    assert by_name("adjusted_homophily").compute(measured(graph, labels)) == pytest.approx(expected)


def test_hand_known_spectra() -> None:
    found = values(nx.complete_graph(6))
    assert found["algebraic_connectivity"] == pytest.approx(6)
    assert found["mean_effective_resistance"] == pytest.approx(2 / 6)
    path = values(nx.path_graph(40))
    assert path["algebraic_connectivity"] == pytest.approx(2 - 2 * np.cos(np.pi / 40))
    assert path["mean_effective_resistance"] == pytest.approx(41 / 3)
    assert (path["bridge_share"], path["largest_core"]) == (1.0, 1)


def by_name(name: str) -> Measure:
    return next(measure for measure in in_order() if measure.name == name)


def test_homophily_leaves_unknown_labels_out() -> None:
    path = measured(nx.path_graph(4), [0, 0, 1, -1])
    found = by_name("edge_homophily")
    assert found.compute(path) == 0.5
    assert isnan(found.compute(measured(nx.path_graph(2), [-1, 0])))


def test_known_answers_by_hand() -> None:
    star = values(nx.star_graph(4))
    assert (star["average_path_length"], star["mean_node_betweenness"]) == (1.6, 0.2)
    complete = values(nx.complete_graph(5))
    assert (complete["triangles"], complete["average_clustering"], complete["mean_edge_betweenness"]) == (10, 1.0, 0.1)
