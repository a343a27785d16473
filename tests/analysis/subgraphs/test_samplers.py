"""Samplers of nodes: reproducible samples with the properties of their kind."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from analysis.subgraphs.samplers import SAMPLERS, find_communities, sample_nodes
from glt.datasets import Graph
from glt.errors import ConfigError

FROM_THE_GRAPH = [sampler.name for sampler in SAMPLERS if not sampler.uses & {"cut", "nodes"}]


def as_networkx(graph: Graph) -> nx.Graph:
    whole = nx.empty_graph(graph.num_nodes)
    whole.add_edges_from(graph.edges.T.tolist())
    return whole


@pytest.mark.parametrize("kind", FROM_THE_GRAPH)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_are_sorted_unique_and_reproducible(cora: Graph, kind: str, seed: int) -> None:
    nodes = sample_nodes(cora, kind, size=80, seed=seed)
    assert 1 <= nodes.size <= 80
    assert (np.diff(nodes) > 0).all()
    assert np.array_equal(nodes, sample_nodes(cora, kind, size=80, seed=seed))


@pytest.mark.parametrize("kind", FROM_THE_GRAPH)
def test_other_seeds_give_other_samples(cora: Graph, kind: str) -> None:
    found = {sample_nodes(cora, kind, size=40, seed=seed, center=None).tobytes() for seed in range(5)}
    assert len(found) > 1


@pytest.mark.parametrize("kind", ["walk", "ego"])
def test_walk_and_ego_hold_their_center_and_are_connected(cora: Graph, kind: str) -> None:
    nodes = sample_nodes(cora, kind, size=60, center=1358)
    assert nodes.size == 60
    assert 1358 in nodes
    assert nx.is_connected(as_networkx(cora).subgraph(nodes.tolist()))


def test_ego_takes_the_nearest_nodes(two_triangles: Graph) -> None:
    assert sample_nodes(two_triangles, "ego", size=3, center=0).tolist() == [0, 1, 2]
    assert sample_nodes(two_triangles, "ego", size=4, center=0).tolist() == [0, 1, 2, 3]
    assert sample_nodes(two_triangles, "ego", size=99, center=0).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", ["walk", "ego"])
def test_an_isolated_center_is_a_sample_of_one(two_triangles: Graph, kind: str) -> None:
    assert sample_nodes(two_triangles, kind, center=6).tolist() == [6]


def test_the_class_sampler_holds_one_class(cora: Graph) -> None:
    nodes = sample_nodes(cora, "class", size=150, label=2)
    assert nodes.size == 150
    assert (cora.labels[nodes] == 2).all()
    whole = sample_nodes(cora, "class", size=10_000, label=2)
    assert np.array_equal(whole, np.flatnonzero(cora.labels == 2))


def test_the_community_sampler_holds_the_centers_community(two_triangles: Graph) -> None:
    assert sample_nodes(two_triangles, "community", center=0).tolist() == [0, 1, 2]
    assert sample_nodes(two_triangles, "community", center=4).tolist() == [3, 4, 5]


def test_communities_are_dense_inside(cora: Graph) -> None:
    parts = find_communities(cora)
    groups = [set(np.flatnonzero(parts == number).tolist()) for number in range(parts.max() + 1)]
    assert nx.community.modularity(as_networkx(cora), groups) > 0.8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "wlak"}, "did you mean 'walk'"),
        ({"size": 0}, "at least 1"),
        ({"center": 7}, "no node 7"),
        ({"center": -1}, "no node -1"),
        ({"kind": "class", "label": 5}, "class 5"),
        ({"kind": "changed"}, "needs a round"),
        ({"kind": "nodes"}, "needs at least one node"),
        ({"kind": "nodes", "nodes": [0, 7]}, "no node 7"),
    ],
)
def test_bad_samples_are_refused(two_triangles: Graph, arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        sample_nodes(two_triangles, **arguments)


def test_the_most_changed_sample_grows_along_removed_edges(two_triangles: Graph) -> None:
    # The columns are 0-1, 0-2, 1-2, 2-3, 3-4, 3-5, 4-5: node 3 loses three edges.
    cut = np.array([1, 0, 0, 1, 1, 1, 0], dtype=np.bool_)
    assert sample_nodes(two_triangles, "changed", size=4, cut=cut).tolist() == [2, 3, 4, 5]
    assert sample_nodes(two_triangles, "changed", size=99, cut=cut).tolist() == [0, 1, 2, 3, 4, 5]
    assert sample_nodes(two_triangles, "changed", size=2, seed=1, cut=cut).tolist() == [0, 1]


def test_the_most_changed_sample_of_an_unpruned_graph_is_around_its_hub(two_triangles: Graph) -> None:
    nothing = np.zeros(7, dtype=np.bool_)
    assert 2 in sample_nodes(two_triangles, "changed", size=4, cut=nothing)


def test_the_most_changed_nodes_of_cora_lost_more_than_others(cora: Graph) -> None:
    cut = np.random.default_rng(1).random(cora.num_edges) < 0.2
    lost = np.bincount(cora.edges[:, cut].ravel(), minlength=cora.num_nodes)
    nodes = sample_nodes(cora, "changed", size=80, cut=cut)
    assert nodes.size == 80
    assert lost.argmax() in nodes
    assert (lost[nodes] > 0).all()


def test_named_nodes_include_their_neighbours(two_triangles: Graph) -> None:
    assert sample_nodes(two_triangles, "nodes", nodes=[0, 6]).tolist() == [0, 1, 2, 6]
    assert sample_nodes(two_triangles, "nodes", size=1, nodes=[5, 0, 5]).tolist() == [0, 5]
    assert sample_nodes(two_triangles, "nodes", size=3, nodes=[3]).size == 3


@pytest.mark.parametrize("kind", ["walk", "ego"])
def test_samples_do_not_end_in_small_components(kind: str, two_triangles: Graph) -> None:
    """Many pairs of nodes beside one path of thirty: a sample of twenty always lies on the path."""
    edges = np.array([(node, node + 1) for node in [*range(29), *range(30, 230, 2)]]).T
    features, labels = csr_array((230, 1), dtype=np.float32), np.zeros(230, dtype=np.int64)
    graph = replace(two_triangles, edges=edges, features=features, labels=labels)
    for draw in range(8):
        found = sample_nodes(graph, kind, size=20, seed=draw)
        assert found.size == 20
        assert found.max() < 30
    assert sample_nodes(graph, kind, size=200, seed=0).size == 30, "the largest, where none holds so many"
