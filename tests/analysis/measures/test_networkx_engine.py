"""NetworkX as the engine: its values, its progress, what is kept of it, and how far the faster versions are from it."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from analysis.measures import MeasuredGraph, explanation, in_order, measure, networkx_engine, networkx_seconds
from analysis.measures.cache import MeasureCache
from analysis.measures.networkx_engine import DEFINITIONS, NetworkXGraph, compute
from glt.datasets import Graph, load_graph
from glt.errors import ConfigError
from tests.analysis.measures.test_against_networkx import SMALL, measured, random_graphs, reference

# These have no definition in NetworkX.
OURS = {"degree_gini"}


def by_networkx(graph: nx.Graph) -> dict[str, float]:
    return compute(measured(graph), DEFINITIONS)


def expected(graph: nx.Graph) -> dict[str, float]:
    return {name: value for name, value in reference(graph).items() if name not in OURS}


def test_every_measure_but_ours_has_a_definition_of_networkx() -> None:
    assert {each.name for each in in_order()} - OURS == DEFINITIONS.keys()
    missing = [d.functions for d in DEFINITIONS.values() if not hasattr(nx, d.functions)]
    assert missing == []


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())
def test_values_are_those_of_networkx_functions_on_whole_graphs(graph: nx.Graph) -> None:
    assert by_networkx(graph) == pytest.approx(expected(graph), rel=1e-8, abs=1e-12, nan_ok=True)


@given(random_graphs())
def test_values_are_those_of_networkx_on_random_graphs(graph: nx.Graph) -> None:
    assert by_networkx(graph) == pytest.approx(expected(graph), rel=1e-8, abs=1e-12, nan_ok=True)


def test_batches_of_sources_add_up_and_tell_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_a_report_raises_ends_the_computation() -> None:
    class Stopped(Exception):
        pass

    def stop(share: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        compute(measured(SMALL["karate club"]), ["mean_node_betweenness"], stop)


def test_the_engine_gives_its_values_and_how_far_the_faster_ones_are() -> None:
    subject = measured(SMALL["karate club"])
    found = measure(subject, MeasureCache(None), slow=True, engine="networkx")
    assert found.differences.keys() == DEFINITIONS.keys()
    assert max(found.differences.values()) < 1e-8
    assert found == pytest.approx(measure(subject, MeasureCache(None), slow=True, engine="fast"), rel=1e-8, nan_ok=True)
    assert list(found) == list(measure(subject, MeasureCache(None), slow=True, engine="fast"))
    assert measure(subject, MeasureCache(None)).differences == {}


def test_a_wrong_fast_value_is_seen_as_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = measured(SMALL["karate club"])
    wrong = measured(nx.path_graph(34)).distances
    found = measure(whole.with_distances(wrong), MeasureCache(None), engine="networkx")
    assert found.differences["average_path_length"] > 0.1
    assert found["average_path_length"] == pytest.approx(nx.average_shortest_path_length(SMALL["karate club"]))


def test_what_networkx_gave_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, cache = measured(SMALL["karate club"]), MeasureCache(None)
    first = measure(subject, cache, engine="networkx")
    monkeypatch.setattr(NetworkXGraph, "__init__", None)
    assert measure(subject, cache, engine="networkx") == first


def test_by_default_networkx_computes_what_is_quick_on_a_graph_that_is_not_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def spy(graph: MeasuredGraph, names: list[str], report: object = None) -> dict[str, float]:
        asked.extend(names)
        return compute(graph, names)

    monkeypatch.setattr(networkx_engine, "compute", spy)
    measure(measured(SMALL["karate club"]), MeasureCache(None))
    assert {"average_clustering", "components", "mean_degree", "reach"} <= set(asked)
    assert {"mean_node_betweenness", "pagerank_spearman"} & set(asked) == set()
    asked.clear()
    monkeypatch.setattr(networkx_engine, "MOST_QUICK", 10)
    measure(measured(SMALL["karate club"]), MeasureCache(None))
    assert asked == []


def test_a_graph_beyond_networkx_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networkx_engine, "MOST_EDGES", 10)
    with pytest.raises(ConfigError, match=r"78 edges .* leave the engine at its default"):
        measure(measured(SMALL["karate club"]), MeasureCache(None), engine="networkx")


def test_dense_eigenvalues_are_asked_of_small_components_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networkx_engine, "DEFINITIONS", dict(DEFINITIONS))
    path = measured(nx.path_graph(networkx_engine.MOST_NODES_DENSE + 1))
    assert not networkx_engine.defines("mean_effective_resistance", path)
    assert networkx_engine.defines("components", path)


def test_the_estimate_grows_with_nodes_times_size() -> None:
    small, large = measured(nx.path_graph(50)), measured(nx.path_graph(500))
    assert networkx_seconds(large) == pytest.approx(100 * networkx_seconds(small), rel=0.05)


def test_explanations_say_who_computes() -> None:
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
