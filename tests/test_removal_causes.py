"""What decided about removed entries: on a bundled run, in a search of its own, and by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.datasets.graph import Graph
from glt.masks import EdgeMask, Masks
from glt.presets import resolve
from glt.removal_causes import cause_of, cuts_without_gradient, had_gradient, removed_in, why_underived
from glt.seeds import stream
from glt.store import SeedRun, Store
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import Schedule, Stage

EXAMPLES = Path(__file__).parents[1] / "examples" / "runs"
ROUND = 13


@pytest.fixture(scope="module")
def example() -> SeedRun:
    return Store(EXAMPLES).find("cora-node-gcn-ugs-df8e8f72").seed(0)


def shares_of(config: RunConfig, graph: Graph, masks: list[EdgeMask]) -> list[float | None]:
    """Return `cuts_without_gradient` of rounds 1, 2, ... with the masks of rounds 0, 1, ..."""
    return [cuts_without_gradient(config, graph, before, after) for before, after in pairwise(masks)]


def test_late_cuts_of_the_bundled_run_had_no_gradient(example: SeedRun) -> None:
    shares = shares_of(example.config, load_graph("cora"), [example.edge_mask(number) for number in range(21)])
    assert shares[:9] == [0.0] * 9
    assert {number: round(shares[number - 1] or 0, 4) for number in (13, 17, 20)} == {13: 0.4, 17: 0.9095, 20: 0.9799}


def test_in_a_search_the_data_gradient_is_exactly_zero_there_and_nowhere_else(example: SeedRun) -> None:
    config, number = example.config, ROUND
    problem = Problem(config, load_graph("cora"))
    before = example.masks(number - 1)
    # The weights are few, so that the test is quick; edges and field are those of the example.
    small = problem.under(config.model_copy(update={"hidden": 16}))
    masks = Masks(before.edges, small.full_masks().weights)
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, number, "mask start"), "cpu")
    network = Network(small, masks, small.initial_weights(0), soft)
    largest = np.zeros(before.edges.kept)
    penalty = network.add_penalty_gradient

    def watched(gamma_graph: float, gamma_weight: float) -> None:
        assert soft.edges.grad is not None
        np.maximum(largest, soft.edges.grad.abs().numpy(), out=largest)
        penalty(gamma_graph, gamma_weight)

    network.add_penalty_gradient = watched  # type: ignore[method-assign]
    schedule = Schedule(20, 0.01, 5e-4, 0.01, 5e-4, config.gamma_graph, config.gamma_weight)
    Stage(network, schedule, stream(0, number, "search")).run(lambda epoch: None)
    gradient = had_gradient(config, problem.graph, before.edges)
    assert gradient is not None
    assert np.array_equal(largest > 0, gradient[before.edges.keep])


def some_masks(graph: Graph) -> list[EdgeMask]:
    masks, rng = [EdgeMask.full("directed", graph.num_edges)], np.random.default_rng(0)
    for _ in range(3):
        masks.append(masks[-1].prune(rng.random(masks[-1].kept), 0.3))
    return masks


def test_a_search_that_prunes_as_it_goes_starts_from_everything(small_graph: Graph) -> None:
    masks = some_masks(small_graph)
    config = resolve({"dataset": "cora", "schedule": "one_run"})
    assert removed_in(config, masks[1], masks[2]).sum() == masks[0].kept - masks[2].kept
    whole = had_gradient(config, small_graph, masks[2])
    assert whole is not None
    # Nodes 4 and 5 stand apart, with an edge of their own.
    assert whole.tolist() == [True] * 4 + [False] + [True] * 4 + [False]
    share = cuts_without_gradient(config, small_graph, masks[1], masks[2])
    assert share == (~masks[2].keep & ~whole).sum() / (~masks[2].keep).sum()


@pytest.mark.parametrize("method", ["random", "admm", "reinit"])
def test_methods_without_a_search_of_masks_have_no_share(method: str, small_graph: Graph) -> None:
    config = resolve({"dataset": "cora", "method": method})
    assert shares_of(config, small_graph, some_masks(small_graph)) == [None] * 3
    assert why_underived(config) == ""
    assert cause_of(config, None) == {"random": "random", "admm": "solver", "reinit": None}[method]


def test_causes_of_a_search() -> None:
    config = resolve({"dataset": "cora"})
    assert [cause_of(config, known) for known in (True, False, None)] == ["gradient", "no gradient", None]


def test_mini_batches_leave_it_open(small_graph: Graph) -> None:
    config = resolve({"dataset": "cora", "model": "resgcn", "batch_clusters": 2})
    assert shares_of(config, small_graph, some_masks(small_graph)) == [None] * 3
    assert "mini-batches" in why_underived(config)


def test_a_round_that_removed_nothing_has_no_share(small_graph: Graph) -> None:
    full = EdgeMask.full("directed", small_graph.num_edges)
    assert cuts_without_gradient(resolve({"dataset": "cora"}), small_graph, full, full) is None
