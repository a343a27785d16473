"""Cached measurements, and estimates from sampled sources on large graphs compared with exact values."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.measures import MEASURES, cache
from analysis.measures import bfs as search
from analysis.measures import graph as measured_graph
from analysis.measures.bfs import Distances, all_distances, half_width, sampled_distances
from analysis.measures.cache import MeasureCache
from analysis.measures.compute import is_measured, measure
from analysis.measures.graph import MeasuredGraph
from analysis.measures.null_model import random_survivors
from glt.datasets import load_graph

PATH = np.array([[0, 1, 2], [1, 2, 3]])


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []

    def counted(indptr: search.Indices, indices: search.Indices) -> search.Distances:
        calls.append(1)
        return search.all_distances(indptr, indices)

    monkeypatch.setattr(measured_graph, "all_distances", counted)
    return calls


def path_graph(labels: int = 0) -> MeasuredGraph:
    return MeasuredGraph(4, PATH, np.full(4, labels))


def test_slow_values_are_computed_once(searches: list[int], own_cache: Path) -> None:
    first = measure(path_graph())
    assert measure(path_graph()) == first
    cache._cache_in.cache_clear()
    assert measure(path_graph()) == first
    assert len(searches) == 1
    assert len(list((own_cache / "measures").iterdir())) == 1


def test_labels_nodes_and_edges_are_all_part_of_the_key(searches: list[int]) -> None:
    measure(path_graph())
    measure(path_graph(labels=1))
    measure(MeasuredGraph(5, PATH, np.zeros(5, dtype=np.int64)))
    measure(MeasuredGraph(4, PATH[:, :2], np.zeros(4, dtype=np.int64)))
    assert len(searches) == 4


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"reach@1": "high"}', '{"reach@1": true}', "\x00\xff"])
def test_a_damaged_cache_file_is_replaced(damage: str, own_cache: Path) -> None:
    first = measure(path_graph())
    (file,) = (own_cache / "measures").iterdir()
    whole = file.read_text()
    file.write_text(damage)
    cache._cache_in.cache_clear()
    assert measure(path_graph()) == first
    assert file.read_text() == whole


def test_an_older_version_of_a_measure_is_not_used(own_cache: Path) -> None:
    first = measure(path_graph())
    (file,) = (own_cache / "measures").iterdir()
    file.write_text(json.dumps({name.replace("@1", "@0"): 99.0 for name in json.loads(file.read_text())}))
    cache._cache_in.cache_clear()
    assert measure(path_graph()) == first


def test_undefined_values_survive_as_null(tmp_path: Path) -> None:
    MeasureCache(tmp_path).put("key", {"x@1": math.nan, "y@1": 2})
    assert json.loads((tmp_path / "key.json").read_text()) == {"x@1": None, "y@1": 2}
    found = MeasureCache(tmp_path).get("key")
    assert math.isnan(found["x@1"])
    assert found["y@1"] == 2


def test_an_unwritable_cache_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = MeasureCache(blocked / "measures")
    cache.put("key", {"x@1": 1.0})
    assert cache.get("key") == {"x@1": 1.0}
    assert "not saved" in caplog.text


ESTIMATED = ("average_path_length", "mean_node_betweenness", "mean_edge_betweenness")


@pytest.fixture
def pruned() -> MeasuredGraph:
    """Cora with a part of its edges: many components and isolated nodes."""
    graph = load_graph("cora")
    return MeasuredGraph.of(graph, random_survivors(graph.num_edges, 3600, 0))


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_graph, "MOST_VISITS", 0)


@pytest.mark.parametrize("name", ESTIMATED)
def test_nearly_all_intervals_hold_the_exact_value(pruned: MeasuredGraph, name: str) -> None:
    indptr, indices = pruned.adjacency.indptr, pruned.adjacency.indices
    exact = all_distances(indptr, indices)

    def value(found: Distances) -> float:
        return MEASURES.get(name).compute(pruned.with_distances(found))

    held, halves = 0, []
    for seed in range(60):
        found = sampled_distances(indptr, indices, exact.pairs, 512, seed)
        halves.append(half_width(found, pruned.num_nodes, value))
        held += abs(value(found) - value(exact)) <= halves[-1]
    assert 0.85 * 60 <= held < 60
    assert 0 < np.mean(halves) < 0.06 * value(exact)


def test_as_many_sources_as_nodes_are_exact(pruned: MeasuredGraph) -> None:
    indptr, indices = pruned.adjacency.indptr, pruned.adjacency.indices
    found = sampled_distances(indptr, indices, pruned.connected_pairs, pruned.num_nodes)
    assert found == all_distances(indptr, indices)
    assert found.pairs == pruned.connected_pairs
    assert half_width(found, pruned.num_nodes, lambda each: each.total) == 0


def test_hubs_beyond_the_block_size_are_searched_completely() -> None:
    leaves = np.arange(1, 401)
    graph = MeasuredGraph(402, np.stack([np.zeros(400, dtype=np.int64), leaves]), np.zeros(402, dtype=np.int64))
    assert all_distances(graph.adjacency.indptr, graph.adjacency.indices) == Distances(401 * 400, 800 + 2 * 400 * 399)


@pytest.mark.usefixtures("small_is_large")
def test_large_graphs_name_their_estimates(pruned: MeasuredGraph, tmp_path: Path) -> None:
    cache = MeasureCache(tmp_path)
    assert not is_measured(pruned, cache)
    found = measure(pruned, cache)
    assert set(found.errors) == set(ESTIMATED)
    assert is_measured(pruned, cache)
    # Another process finds it all, and this one what another has written.
    again = measure(pruned, MeasureCache(tmp_path))
    assert again == found
    assert again.errors == found.errors
    other = MeasureCache(tmp_path)
    assert other.get("new") == {}
    MeasureCache(tmp_path).put("new", {"reach@1": 0.5})
    assert other.get("new") == {"reach@1": 0.5}


@pytest.mark.parametrize(
    ("nodes", "edges", "large"), [(19717, 44324, False), (3327, 4552, False), (21168, 144998, True)]
)
def test_paths_are_estimated_beyond_pubmed(nodes: int, edges: int, large: bool) -> None:
    graph = MeasuredGraph(nodes, np.zeros((2, edges), dtype=np.int64), np.zeros(nodes, dtype=np.int64))
    assert graph.is_large is large
    assert graph.keeping(np.arange(edges) < 10).is_large is large


@pytest.mark.usefixtures("small_is_large")
def test_estimates_are_cached_apart_from_exact_values(pruned: MeasuredGraph, tmp_path: Path) -> None:
    cache = MeasureCache(tmp_path)
    estimate = measure(pruned, cache, ["average_path_length"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured_graph, "MOST_VISITS", 10**12)
        exact = measure(replace(pruned), cache, ["average_path_length"])
    assert exact != estimate
    assert exact.errors == {}
