"""Every measure against NetworkX: the faster versions, and NetworkX itself as the engine."""

from __future__ import annotations

import math
from itertools import combinations
from math import isnan

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.measures import Measure, centrality, in_order, networkx_engine
from analysis.measures.cache import MeasureCache
from analysis.measures.compute import measure, networkx_seconds
from analysis.measures.descriptions import explanation
from analysis.measures.graph import MeasuredGraph
from analysis.measures.networkx_engine import DEFINITIONS, NetworkXGraph, compute
from glt.datasets import Graph, load_graph
from glt.datasets.graph import simple_edges
from glt.errors import ConfigError


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
def test_node_rankings_equal_scipy_on_pruned_graphs(name: str) -> None:
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


def test_pagerank_equals_networkx() -> None:
    graph = nx.disjoint_union(karate_club(), nx.empty_graph(3))
    expected = nx.pagerank(graph, tol=1e-14, max_iter=1000)
    assert centrality.pagerank(measured(graph)) == pytest.approx(in_line(expected), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_self_loops_and_repeated_entries_are_dropped(seed: int) -> None:
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


def by_name(name: str) -> Measure:
    return next(measure for measure in in_order() if measure.name == name)


def test_homophily_ignores_unknown_labels() -> None:
    path = measured(nx.path_graph(4), [0, 0, 1, -1])
    found = by_name("edge_homophily")
    assert found.compute(path) == 0.5
    assert isnan(found.compute(measured(nx.path_graph(2), [-1, 0])))


# These have no definition in NetworkX.
OURS = {"degree_gini"}


def by_networkx(graph: nx.Graph) -> dict[str, float]:
    return compute(measured(graph), DEFINITIONS)


def expected(graph: nx.Graph) -> dict[str, float]:
    return {name: value for name, value in reference(graph).items() if name not in OURS}


def test_every_standard_measure_has_a_networkx_definition() -> None:
    assert {each.name for each in in_order()} - OURS == DEFINITIONS.keys()
    missing = [d.functions for d in DEFINITIONS.values() if not hasattr(nx, d.functions)]
    assert missing == []


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())
def test_values_are_those_of_networkx_functions_on_whole_graphs(graph: nx.Graph) -> None:
    assert by_networkx(graph) == pytest.approx(expected(graph), rel=1e-8, abs=1e-12, nan_ok=True)


@given(random_graphs())
def test_values_are_those_of_networkx_on_random_graphs(graph: nx.Graph) -> None:
    assert by_networkx(graph) == pytest.approx(expected(graph), rel=1e-8, abs=1e-12, nan_ok=True)


def test_source_batches_add_up_and_report_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = SMALL["more nodes than bits in a word"]
    monkeypatch.setattr(networkx_engine, "BATCH", 7 * (len(graph) + graph.number_of_edges()))
    shares: list[float] = []
    found = compute(measured(graph), ["mean_node_betweenness", "mean_edge_betweenness"], shares.append)
    assert found["mean_node_betweenness"] == pytest.approx(np.mean(list(nx.betweenness_centrality(graph).values())))
    assert found["mean_edge_betweenness"] == pytest.approx(
        np.mean(list(nx.edge_betweenness_centrality(graph).values()))
    )
    assert len(shares) == 2 * math.ceil(len(graph) / 7)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_an_error_in_the_progress_callback_ends_the_computation() -> None:
    class Stopped(Exception):
        pass

    def stop(share: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        compute(measured(SMALL["karate club"]), ["mean_node_betweenness"], stop)


def test_the_networkx_engine_reports_values_and_differences() -> None:
    subject = measured(SMALL["karate club"])
    found = measure(subject, MeasureCache(None), slow=True, engine="networkx")
    assert found.differences.keys() == DEFINITIONS.keys()
    assert max(found.differences.values()) < 1e-8
    assert found == pytest.approx(measure(subject, MeasureCache(None), slow=True, engine="fast"), rel=1e-8, nan_ok=True)
    assert list(found) == list(measure(subject, MeasureCache(None), slow=True, engine="fast"))
    assert measure(subject, MeasureCache(None)).differences == {}


def test_a_wrong_fast_value_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = measured(SMALL["karate club"])
    wrong = measured(nx.path_graph(34)).distances
    found = measure(whole.with_distances(wrong), MeasureCache(None), engine="networkx")
    assert found.differences["average_path_length"] > 0.1
    assert found["average_path_length"] == pytest.approx(nx.average_shortest_path_length(SMALL["karate club"]))


def test_networkx_values_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, cache = measured(SMALL["karate club"]), MeasureCache(None)
    first = measure(subject, cache, engine="networkx")
    monkeypatch.setattr(NetworkXGraph, "__init__", None)
    assert measure(subject, cache, engine="networkx") == first


def test_networkx_by_default_computes_quick_measures_of_small_graphs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed: list[str] = []

    def spy(graph: MeasuredGraph, names: list[str], report: object = None) -> dict[str, float]:
        computed.extend(names)
        return compute(graph, names)

    monkeypatch.setattr(networkx_engine, "compute", spy)
    measure(measured(SMALL["karate club"]), MeasureCache(None))
    assert {"average_clustering", "components", "mean_degree", "reach"} <= set(computed)
    assert {"mean_node_betweenness", "pagerank_spearman"} & set(computed) == set()
    computed.clear()
    monkeypatch.setattr(networkx_engine, "MOST_QUICK", 10)
    measure(measured(SMALL["karate club"]), MeasureCache(None))
    assert computed == []


def test_a_graph_too_large_for_networkx_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networkx_engine, "MOST_EDGES", 10)
    with pytest.raises(ConfigError, match=r"78 edges .* leave the engine at its default"):
        measure(measured(SMALL["karate club"]), MeasureCache(None), engine="networkx")


def test_dense_eigenvalues_are_for_small_components_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networkx_engine, "DEFINITIONS", dict(DEFINITIONS))
    path = measured(nx.path_graph(networkx_engine.MOST_NODES_DENSE + 1))
    assert not networkx_engine.defines("mean_effective_resistance", path)
    assert networkx_engine.defines("components", path)


def test_the_estimate_grows_with_nodes_times_size() -> None:
    small, large = measured(nx.path_graph(50)), measured(nx.path_graph(500))
    assert networkx_seconds(large) == pytest.approx(100 * networkx_seconds(small), rel=0.05)


def test_explanations_name_the_engine() -> None:
    assert explanation("average_clustering").engine.startswith("Computed by NetworkX (average_clustering)")
    assert "(betweenness_centrality), computed by our faster version" in explanation("mean_node_betweenness").engine
    assert explanation("degree_gini").engine == "Our own definition: NetworkX has none."


def test_a_data_set_as_networkx_has_ids_labels_and_classes(small_graph: Graph) -> None:
    cora = load_graph("cora")
    graph = cora.to_networkx()
    assert (graph.number_of_nodes(), graph.number_of_edges(), graph.name) == (2708, 5278, "cora")
    assert round(nx.average_clustering(graph), 6) == 0.240673
    assert cora.node_ids is not None
    assert graph.nodes[5] == {
        "id": cora.node_ids[5],
        "label": int(cora.labels[5]),
        "class": cora.class_names[cora.labels[5]],
    }
    kept = np.arange(cora.num_edges) % 2 == 0
    assert sorted(cora.to_networkx(kept).edges) == sorted(map(tuple, cora.edges[:, kept].T.tolist()))
    assert small_graph.to_networkx().nodes[3] == {"id": "3", "label": 1, "class": None}
