from __future__ import annotations

import numpy as np
import pytest

from analysis import published
from analysis.published import FACTS
from glt.data import load_graph
from glt.store import bundled_examples


@pytest.mark.parametrize("point", published.POINTS)
def test_printed_sparsities_are_those_of_the_round(point: published.PublishedPoint) -> None:
    assert point.graph_sparsity == pytest.approx(1 - 0.95**point.round, abs=6e-5)
    assert point.weight_sparsity == pytest.approx(1 - 0.8**point.round, abs=6e-5)
    assert point.source


@pytest.mark.parametrize(
    ("dataset", "nodes", "features", "classes", "entries"),
    [("cora", 2708, 1433, 7, 10_556), ("citeseer", 3312, 3703, 6, 9_104)],
)
def test_printed_macs_follow_the_recipe(dataset: str, nodes: int, features: int, classes: int, entries: int) -> None:
    for k, printed in published.MACS[dataset].items():
        recipe = nodes * 512 * (features + classes) * 0.8**k + 2 * 512 * entries * 0.95**k
        assert abs(recipe - printed) < 0.615e6


def test_every_method_of_the_teaser_has_its_points() -> None:
    assert {p.method for p in published.points("citeseer")} == {"dense", "ugs", "random", "admm"}
    assert published.points("cora", model="gat") == ()
    assert published.points("pubmed") == ()


def test_swapped_columns_are_put_right() -> None:
    assert published.measurements("cora") == published.measurements("citeseer", as_printed=True)
    assert published.measurements("citeseer") == published.measurements("cora", as_printed=True)
    assert published.measurements("pubmed") == published.measurements("pubmed", as_printed=True)
    assert published.measurements("cora")["average_clustering"]["original"] == pytest.approx(0.240673, abs=5e-6)
    assert published.measurements("citeseer")["mean_edge_betweenness"]["original"] == pytest.approx(0.00081, abs=1e-8)
    assert published.measurements("no-such-graph") == {}


def test_the_bundled_admm_graphs_are_mostly_a_degree_rule() -> None:
    """The count that the Paper page states: graphs whose edges are those with the largest 1/sqrt(d_i d_j)."""
    run = next(run for run in bundled_examples() if run.config.method == "admm")
    graph = load_graph(run.config.dataset)
    degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes) + 1.0
    weights = 1 / np.sqrt(degrees[graph.edges].prod(axis=0))
    masks = [run.seed(seed).masks(number).edges.either_way() for seed in run.seeds() for number in range(1, 21)]
    is_rule = [weights[keep].min() >= weights[~keep].max() - 1e-9 for keep in masks]
    (fact,) = [fact for fact in FACTS if fact.name == "admm"]
    assert f"{sum(is_rule)} of {len(is_rule)} rounds and seeds" in fact.text
