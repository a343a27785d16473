"""Betweenness and clustering of nodes and edges: values, ranks, samples, cache, and the verb `betweenness`."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from analysis.cli.main import main
from analysis.measures import centrality, networkx_engine
from analysis.measures.cache import keep_betweenness, known_betweenness
from analysis.measures.centrality import Betweenness, betweenness, spearman
from analysis.measures.compute import betweenness_seconds
from analysis.measures.graph import MeasuredGraph
from analysis.measures.networkx_engine import networkx_betweenness
from analysis.measures.tables import edge_table, node_table
from glt.datasets import Graph, Provenance, Split, load_graph
from glt.masks import EdgeMask
from glt.store import Run


def measured(graph: nx.Graph) -> MeasuredGraph:
    edges = np.array(sorted(tuple(sorted(edge)) for edge in graph.edges), dtype=np.int64).reshape(-1, 2).T
    return MeasuredGraph(len(graph), edges, np.zeros(len(graph), dtype=np.int64))


SMALL = {
    "path": nx.path_graph(5),
    "apart": nx.disjoint_union(nx.barbell_graph(4, 2), nx.empty_graph(2)),
    "random": nx.gnm_random_graph(60, 110, seed=4),
    "no edges": nx.empty_graph(3),
    "one node": nx.empty_graph(1),
    "empty": nx.empty_graph(0),
}


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())
def test_centralities_equal_networkx_for_all_batch_sizes(graph: nx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.measures.centrality.BATCH", 400)
    found, seen = betweenness(measured(graph), on_progress=(shares := []).append), shares
    assert found.nodes == pytest.approx([v for _, v in sorted(nx.betweenness_centrality(graph).items())])
    edges = {tuple(sorted(edge)): value for edge, value in nx.edge_betweenness_centrality(graph).items()}
    assert found.edges == pytest.approx([value for _, value in sorted(edges.items())])
    assert found.is_exact
    assert seen == sorted(seen)
    assert not seen or seen[-1] == 1


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())
def test_the_networkx_engine_gives_equal_values_and_is_cached_separately(graph: nx.Graph, own_cache: Path) -> None:
    subject = measured(graph)
    ours, found = betweenness(subject), networkx_betweenness(subject)
    assert found.nodes == pytest.approx([v for _, v in sorted(nx.betweenness_centrality(graph).items())])
    assert (found.nodes, found.edges) == (pytest.approx(ours.nodes), pytest.approx(ours.edges))
    keep_betweenness(subject, found)
    assert known_betweenness(subject) is None
    kept = known_betweenness(subject, by_networkx=True)
    assert kept is not None
    assert (kept.by_networkx, kept.nodes.tolist()) == (True, found.nodes.tolist())


def test_node_clustering_equals_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = SMALL["random"]
    expected = [value for _, value in sorted(nx.clustering(graph).items())]
    assert networkx_engine.node_clustering(measured(graph)).tolist() == expected
    monkeypatch.setattr(networkx_engine, "MOST_QUICK", 0)
    assert networkx_engine.node_clustering(measured(graph)) == pytest.approx(expected, rel=1e-12)


def test_sampled_values_are_marked_and_close() -> None:
    graph = measured(SMALL["random"])
    exact, sampled = betweenness(graph), betweenness(graph, sample=40)
    assert (sampled.sources, sampled.is_exact) == (40, False)
    assert sampled.nodes.mean() == pytest.approx(exact.nodes.mean(), rel=0.15)
    assert not np.allclose(sampled.nodes, exact.nodes)
    assert betweenness(graph, sample=99).is_exact
    assert betweenness_seconds(graph, 30) == pytest.approx(betweenness_seconds(graph) / 2)


def test_one_source_has_no_standard_error_and_zero_is_refused(
    make_run: Callable[..., Run], own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["betweenness", str(make_run().path), "--round", "2"]
    assert main([*arguments, "--sample", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["original"]["nodes"].count(None) == 1
    assert main([*arguments, "--sample", "1"]) == 0
    capsys.readouterr()
    assert main([*arguments, "--sample", "0"]) == 2
    assert "less than 1" in capsys.readouterr().err


@pytest.mark.parametrize("sources", [[0], [3], [1, 4], [0, 2, 3, 5]])
@pytest.mark.parametrize("graph", [nx.star_graph(5), nx.path_graph(6), SMALL["random"]], ids=["star", "path", "random"])
def test_estimates_equal_networkx_with_equal_sources(
    graph: nx.Graph, sources: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(centrality, "_sources", lambda nodes, sample: np.array(sources))
    found = betweenness(measured(graph), sample=len(sources))
    expected = nx.betweenness_centrality(graph, k=len(sources), seed=drawing(sources))
    assert found.nodes == pytest.approx([value for _, value in sorted(expected.items())], nan_ok=True)
    expected = nx.edge_betweenness_centrality(graph, k=len(sources), seed=drawing(sources))
    edges = {tuple(sorted(edge)): value for edge, value in expected.items()}
    assert found.edges == pytest.approx([value for _, value in sorted(edges.items())])


def drawing(sources: list[int]) -> random.Random:
    """A random generator that always draws these nodes."""

    class Drawing(random.Random):
        def sample(self, population: Any, k: int, **_: Any) -> list[int]:
            assert k == len(sources)
            return sources

    return Drawing()


def test_ranks_in_a_hypercube_are_equal() -> None:
    cube = measured(nx.convert_node_labels_to_integers(nx.hypercube_graph(6)))
    found = betweenness(cube)
    graph = with_edges_of(cube)
    mask = EdgeMask.full("directed", graph.num_edges)
    assert np.unique(found.edges).size > 1  # Rounding does tell them apart.
    nodes, edges = (make(graph, mask, found, found, "original") for make in (node_table, edge_table))
    assert set(nodes["rank_original"]) == set(edges["rank_pruned"]) == {1.0}
    assert nodes["node"].tolist() == sorted(nodes["node"])
    assert math.isnan(spearman(found.nodes, found.nodes))


def with_edges_of(measured: MeasuredGraph) -> Graph:
    nodes, none = measured.num_nodes, np.zeros(0, dtype=np.int64)
    features, labels = csr_array((nodes, 1), dtype=np.float32), np.zeros(nodes, dtype=np.int64)
    return Graph("drawn", measured.edges, features, labels, Split(none, none, none), Provenance("by hand", 0, 0, 0))


def test_rounding_differences_are_no_change() -> None:
    graph = with_edges_of(measured(nx.path_graph(3)))
    mask = EdgeMask.full("directed", graph.num_edges)
    before = Betweenness(np.array([0.0, 0.3, 0.2]), np.array([0.1, 0.2]), 3)
    after = Betweenness(np.array([0.0, 0.1 + 0.2, 0.1]), np.array([0.1, 0.2]), 3)
    table = node_table(graph, mask, before, after, "change").set_index("node")
    assert table.index[0] == 2
    assert table["change"].to_dict() == {2: -0.1, 0: 0.0, 1: 0.0}


def test_an_error_in_the_progress_callback_ends_the_computation() -> None:
    def refuse(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        betweenness(measured(SMALL["path"]), on_progress=refuse)


def test_values_are_cached_by_content_and_damage_is_ignored(own_cache: Path) -> None:
    graph, other = measured(SMALL["path"]), measured(SMALL["random"])
    found = betweenness(graph)
    keep_betweenness(graph, found)
    again = known_betweenness(graph)
    assert again is not None
    assert again.nodes.tolist() == found.nodes.tolist()
    assert known_betweenness(other) is None
    assert known_betweenness(graph, sample=2) is None
    (file,) = (own_cache / "betweenness").iterdir()
    for damage in (b"", b"PK\x03\x04", b"\x80\x04K\x01.", file.read_bytes()[:-40]):
        file.write_bytes(damage)
        assert known_betweenness(graph) is None
    keep_betweenness(graph, found)
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        read = known_betweenness(graph)
        assert read is None or read.nodes.tolist() == found.nodes.tolist()


def test_pickled_arrays_and_wrong_shapes_are_refused(own_cache: Path) -> None:
    graph = measured(SMALL["path"])
    keep_betweenness(graph, Betweenness(np.zeros(3), np.zeros(4), 5))
    assert known_betweenness(graph) is None
    keep_betweenness(graph, Betweenness(np.array([None] * 5, dtype=object), np.zeros(4), 5))
    assert known_betweenness(graph) is None


def test_nodes_and_edges_are_ranked_with_their_change(small_graph: Graph) -> None:
    mask = EdgeMask("directed", np.array([1, 1, 1, 0, 1, 0, 1, 1, 0, 1], dtype=bool))
    whole = MeasuredGraph.of(small_graph)
    before, after = betweenness(whole), betweenness(whole.keeping(mask.either_way()))
    nodes = node_table(small_graph, mask, before, after, "original")
    # A triangle with a tail at node 2, which every shortest path from the tail runs through.
    assert nodes["node"][0] == 2
    assert nodes["original"][0] == pytest.approx(2 / 10)
    assert (nodes["degree_original"][0], nodes["degree_pruned"][0], nodes["pruned"][0]) == (3, 2, 0)
    # One of the three pairs of its neighbours is joined, and the only pair that is left.
    assert (nodes["clustering_original"][0], nodes["clustering_pruned"][0]) == (pytest.approx(1 / 3), 1)
    edges = edge_table(small_graph, mask, before, after, "original")
    first = edges.iloc[0]
    assert (first["low"], first["high"], first["survives"]) == (2, 3, "removed")
    assert np.isnan(first["pruned"])
    assert np.isnan(first["change"])
    assert set(edges["survives"]) == {"removed", "one way", "both ways"}
    by_change = edge_table(small_graph, mask, before, after, "change")
    assert by_change["change"].abs().dropna().is_monotonic_decreasing
    assert by_change["survives"].iloc[-1] == "removed"


def test_betweenness_prints_progress_and_caches(
    make_run: Callable[..., Run], own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["betweenness", str(make_run().path), "--round", "2", "--sample", "64", "--json", "--progress"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["sparsified"]["exact"] is False
    assert document["original"]["sources"] == 64
    assert (len(document["original"]["nodes"]), len(document["original"]["edges"])) == (2708, 5278)
    assert len(document["sparsified"]["edges"]) < 5278
    shares = [float(line) for line in printed.err.split()]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(list((own_cache / "betweenness").iterdir())) == 2
    assert main(arguments) == 0
    again = capsys.readouterr()
    assert again.err == ""
    assert json.loads(again.out) == document


def test_betweenness_prints_original_ids_and_class_names(
    make_run: Callable[..., Run], own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, cora = ["betweenness", str(make_run().path), "--round", "2", "--sample", "64"], load_graph("cora")
    assert cora.node_ids is not None
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ids"] == list(cora.node_ids)
    assert document["classes"][35] == cora.class_names[cora.labels[35]]
    assert main(arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith(
        "Estimated: shortest paths from 64 of 2,708 nodes drawn at random (seed 0), scaled up."
    )
    first = printed[1].split()
    hub = int(np.argmax(document["original"]["nodes"]))
    assert first[0] == cora.node_ids[hub]
    assert cora.class_names[cora.labels[hub]].split()[0] in first


def test_networkx_takes_no_sample(make_run: Callable[..., Run], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["betweenness", str(make_run().path), "--round", "2", "--sample", "64", "--engine", "networkx"]
    assert main(arguments) == 2
    assert "leave out --sample, or take --engine fast" in capsys.readouterr().err
