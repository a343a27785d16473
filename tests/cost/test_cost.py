"""MACs against published and exact counts; latency: equal outputs, intervals, verdicts, memory."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from glt.cost import macs
from glt.cost.latency import FEWEST, LABELS, TOO_FEW, Compared, Execution, Measured, executions, measure, peak_bytes
from glt.cost.macs import counterfactuals
from glt.datasets import load_graph
from glt.errors import ConfigError
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.presets import resolve
from glt.training.problem import Problem, full_masks

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
def test_the_published_recipe_gives_the_printed_numbers(rounds: int, printed: int) -> None:
    total = macs(resolve({}), load_graph("cora"), masks_after(rounds)).totals["published"]
    assert abs(total / 1e6 - printed) <= 0.615


def test_dense_network_by_hand() -> None:
    report = macs(resolve({}), load_graph("cora"), masks_after(0))
    dense = report.by_convention()["dense_features"]
    assert dense["transform"] == N * (F * H + H * C) == 1_996_554_240
    assert dense["aggregate"] == 13_264 * (H + C)
    nonzeros = load_graph("cora").features.nnz
    assert report.by_convention()["sparse_features"]["transform"] == nonzeros * H + N * H * C
    assert sum(layer.transform_dense_features + layer.aggregate for layer in report.layers) == dense["total"]
    assert (report.prunable, report.excluded) == (("layers.0.weight", "layers.1.weight"), ())


def test_sparse_features_count_only_surviving_weights_of_present_features() -> None:
    graph, masks = load_graph("cora"), masks_after(3)
    first = masks.weights.keep["layers.0.weight"]
    products = int((graph.features.astype(bool).astype(np.int64) @ first.astype(np.int64)).sum())
    hidden = N * int(masks.weights.keep["layers.1.weight"].sum())
    report = macs(resolve({}), graph, masks)
    assert report.by_convention()["sparse_features"]["transform"] == products + hidden


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


def pruned(**settings: object) -> tuple[Problem, Masks, dict[str, np.ndarray]]:
    """A network with drawn weights and masks that remove 40% of edges and weights."""
    config = resolve({"hidden": 16, **settings}, "official" if settings.get("model") == "gin" else None)
    problem, generator = Problem(config, load_graph("cora")), np.random.default_rng(3)
    drawn = {spec.name: generator.normal(0, 0.3, spec.shape).astype("f4") for spec in problem.specs}
    full = problem.full_masks()
    masks = Masks(full.edges.prune(generator.random(full.edges.kept), 0.4), full.weights.prune(drawn, 0.4))
    return problem, masks, {name: values * masks.weights.keep.get(name, True) for name, values in drawn.items()}


def made(problem: Problem, masks: Masks, weights: dict[str, np.ndarray]) -> dict[str, Execution]:
    return {each.name: each for each in executions(problem.config, problem.graph, masks, weights)}


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gcn"},
        {"model": "gcn", "edge_mask": "undirected"},
        {"model": "gin"},
        {"model": "gat", "gat_heads": 2},
        {"model": "resgcn", "layers": 3, "batch_clusters": 3, "batch_clusters_eval": 2},
    ],
)
def test_all_executions_give_the_same_outputs(settings: dict[str, object]) -> None:
    ready = made(*pruned(**settings))
    assert list(ready) == list(LABELS)
    reference = ready["masked"].run()
    assert reference.abs().max() > 0.01
    for each in ready.values():
        assert (each.run() - reference).abs().max() <= 1e-5


def test_removed_values_are_not_in_memory() -> None:
    problem, masks, weights = pruned(model="gcn")
    ready = made(problem, masks, weights)
    assert ready["masked"].features.matrix.layout is torch.strided
    assert ready["sparse"].weights["layers.0.weight"].layout is torch.sparse_csr
    held = {name: each.held_bytes() for name, each in ready.items()}
    nodes, entries, kept = 2708, 10556, masks.edges.kept
    assert held["masked"]["features"] == held["edges_removed"]["features"] == 4 * nodes * 1433
    assert held["sparse"]["features"] == 49216 * (4 + 4) + 4 * (nodes + 1)
    assert held["masked"]["edges"] == 4 * (nodes + 1) + 4 * (entries + nodes) + 4 * entries
    assert held["edges_removed"]["edges"] == 4 * (nodes + 1) + 4 * (kept + nodes)
    assert held["masked"]["weights"] == 4 * (1433 * 16 + 16 * 7)
    assert held["sparse"]["weights"] == masks.weights.kept * (8 + 4) + 8 * (1434 + 17)


def test_a_network_that_keeps_pruned_edges_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"exp\(0\)"):
        made(*pruned(model="gat", gat_heads=2, gat_mask="logit"))


def test_a_report_has_every_execution_and_finite_numbers() -> None:
    problem, masks, weights = pruned(model="gin")
    threads = torch.get_num_threads()
    document = measure(problem.config, problem.graph, masks, weights, repeats=3, warm_up=1).as_json()
    assert torch.get_num_threads() == threads
    assert [row["name"] for row in document["executions"]] == list(LABELS)
    for row in document["executions"]:
        assert 0 < row["p10"] <= row["median"] <= row["p90"]
        assert row["max_output_difference"] <= 1e-5
        # The hidden rows at least: 2,708 of 16 numbers.
        assert row["peak_bytes"] >= 4 * 2708 * 16
        assert row["memory"] == sum(row["held_bytes"].values()) + row["peak_bytes"]
    assert "read-out" in document["notes"][0]
    assert [row["verdict"] for row in document["compared"]] == [TOO_FEW] * 3
    assert all(row["words"].endswith(f"{TOO_FEW}.") for row in document["compared"])


def timed(name: str, p10: float, median: float, p90: float) -> Measured:
    return Measured(name, median, p10, p90, {"weights": 1}, 1, 0.0)


@pytest.mark.parametrize(
    ("times", "passes", "verdict", "words"),
    [
        ((1.0, 2.0, 2.9), FEWEST, "faster", "2.0 times faster."),
        ((1.0, 2.0, 3.0), FEWEST, "no measured speed-up", "no measured speed-up."),
        ((4.0, 4.5, 6.0), FEWEST, "no measured speed-up", "no measured speed-up."),
        ((5.1, 8.0, 9.0), FEWEST, "slower", "slower, 2.0 times."),
        ((1.0, 2.0, 2.9), FEWEST - 1, TOO_FEW, "masks multiplied in: too few passes for a verdict."),
    ],
)
def test_a_speed_up_needs_enough_passes_and_intervals_that_do_not_overlap(
    times: tuple[float, float, float], passes: int, verdict: str, words: str
) -> None:
    compared = Compared.of(timed("sparse", *times), timed("masked", 3.0, 4.0, 5.0), passes)
    assert compared.verdict == verdict
    assert compared.words().endswith(words)
    assert math.isclose(compared.times_faster, 4.0 / times[1])


def test_peak_memory_counts_live_tensors() -> None:
    start = torch.ones(1000, 100)

    def three_alive() -> torch.Tensor:
        first, second = start + 1, start + 2
        return first + second

    def one_after_another() -> torch.Tensor:
        return (start + 1).add_(1).add_(1)

    assert 1_200_000 <= peak_bytes(three_alive) < 1_201_000
    # Each scalar is a tensor of a few bytes.
    assert 400_000 <= peak_bytes(one_after_another) < 401_000
