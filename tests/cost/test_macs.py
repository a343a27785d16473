"""Operation counts: the paper's printed values, and exact counts on real masks."""

from __future__ import annotations

import numpy as np
import pytest

from glt.cost import macs
from glt.cost.macs import counterfactuals
from glt.datasets import load_graph
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.presets import resolve
from glt.training.problem import full_masks

N, F, H, C = 2708, 1433, 512, 7


def masks_after(rounds: int) -> Masks:
    """Random masks with the counts UGS has after a number of rounds."""
    rng = np.random.default_rng(0)
    full = full_masks(resolve({}), load_graph("cora"))
    weights = full.weights
    removed = weights.total - remaining_after(0.2, weights.total, rounds)
    keep = np.ones(full.edges.keep.size, dtype=bool)
    keep[rng.permutation(keep.size)[remaining_after(0.05, keep.size, rounds) :]] = False
    scores = {name: rng.random(values.shape) for name, values in weights.keep.items()}
    return Masks(EdgeMask("directed", keep), weights.prune_exactly(scores, removed))


@pytest.mark.parametrize(("rounds", "printed"), [(0, 2007), (4, 826), (9, 275)])
def test_published_recipe_gives_the_papers_numbers(rounds: int, printed: int) -> None:
    total = macs(resolve({}), load_graph("cora"), masks_after(rounds)).totals["published"]
    assert abs(total / 1e6 - printed) <= 0.615


def test_dense_network_by_hand() -> None:
    report = macs(resolve({}), load_graph("cora"), masks_after(0))
    dense = report.by_convention()["dense_features"]
    assert dense["transform"] == N * (F * H + H * C) == 1_996_554_240
    assert dense["aggregate"] == 13_264 * (H + C)
    nonzeros = load_graph("cora").features.nnz
    assert report.by_convention()["sparse_features"]["transform"] == nonzeros * H + N * H * C


def test_sparse_features_count_only_surviving_weights_of_present_features() -> None:
    graph, masks = load_graph("cora"), masks_after(3)
    first = masks.weights.keep["layers.0.weight"]
    products = int((graph.features.astype(bool).astype(np.int64) @ first.astype(np.int64)).sum())
    hidden = N * int(masks.weights.keep["layers.1.weight"].sum())
    report = macs(resolve({}), graph, masks)
    assert report.by_convention()["sparse_features"]["transform"] == products + hidden


def test_layers_add_up_and_say_what_may_be_pruned() -> None:
    report = macs(resolve({}), load_graph("cora"), masks_after(2))
    dense = report.by_convention()["dense_features"]
    assert sum(layer.transform_dense_features + layer.aggregate for layer in report.layers) == dense["total"]
    assert report.prunable == ("layers.0.weight", "layers.1.weight")
    assert report.excluded == ()


def test_one_way_edges_cost_one_message() -> None:
    graph = load_graph("cora")
    keep = np.zeros(2 * graph.num_edges, dtype=bool)
    keep[:10] = True
    weights = WeightMask.full({"layers.0.weight": (F, H), "layers.1.weight": (H, C)})
    report = macs(resolve({}), graph, Masks(EdgeMask("directed", keep), weights))
    assert report.by_convention()["dense_features"]["aggregate"] == (10 + N) * (H + C)


def test_counterfactuals_prune_one_thing_at_a_time() -> None:
    masks = masks_after(5)
    counted = counterfactuals(resolve({}), load_graph("cora"), masks)
    parts = {name: report.by_convention()["dense_features"] for name, report in counted.items()}
    entries = masks.edges.kept + N
    assert parts["dense"]["transform"] == parts["graph_only"]["transform"] == N * (F * H + H * C)
    assert parts["both"]["transform"] == parts["weight_only"]["transform"] == N * masks.weights.kept
    assert parts["dense"]["aggregate"] == parts["weight_only"]["aggregate"] == 13_264 * (H + C)
    assert parts["both"]["aggregate"] == parts["graph_only"]["aggregate"] == entries * (H + C)
