"""A search that removes entries as it goes: exact counts after every epoch, nothing comes back, gone means gone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glt.datasets import Graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import Dropout
from glt.training.network import Narrowing, Network, SoftMasks, Survivors
from glt.training.problem import Mismatch, Problem
from glt.training.trainer import EpochResult, Schedule, train

EPOCHS = 7


@pytest.fixture
def survivors() -> Survivors:
    """Of six edge entries the second is not up for decision; one tensor of four weights."""
    edges = EdgeMask("directed", np.array([1, 0, 1, 1, 1, 1]))
    return Survivors(Masks(edges, WeightMask({"w": np.ones((2, 2), dtype=np.bool_)})), "cpu")


def test_the_lowest_magnitudes_go_first_and_ties_by_index(survivors: Survivors) -> None:
    soft = SoftMasks(torch.tensor([-0.5, 0.2, -0.1, 0.2, 0.9]), {"w": torch.tensor([[0.3, -0.1], [0.1, 0.2]])})
    survivors.narrow(soft, 3, 3)
    assert survivors.masks().edges.keep.tolist() == [True, False, False, False, True, True]
    assert survivors.masks().weights.keep["w"].tolist() == [[True, False], [True, True]]


def test_what_is_gone_does_not_come_back_however_large_it_grows(survivors: Survivors) -> None:
    survivors.narrow(SoftMasks(torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]), {"w": torch.arange(4.0).reshape(2, 2)}), 4, 3)
    survivors.narrow(SoftMasks(torch.tensor([9.0, 0.2, 0.3, 0.4, 0.5]), {"w": torch.full((2, 2), 9.0)}), 3, 2)
    assert survivors.edges.tolist() == [False, False, True, True, True]
    assert survivors.weights["w"].tolist() == [[False, False], [True, True]]


def test_a_state_is_all_that_a_search_needs_to_go_on(survivors: Survivors) -> None:
    first = SoftMasks(torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]), {"w": torch.arange(4.0).reshape(2, 2)})
    survivors.narrow(first, 4, 3)
    other = Survivors(survivors._start, "cpu")
    other.restore(survivors.state())
    survivors.restore(survivors.state())
    assert other.masks().within(survivors.masks())
    assert survivors.masks().within(other.masks())
    with pytest.raises(Mismatch, match="edges"):
        other.restore({"edges": np.ones(4, dtype=np.bool_), "w": np.ones((2, 2), dtype=np.bool_)})


def test_the_course_ends_exactly_and_never_rises() -> None:
    course = [Narrowing((10_556, 5_000), (917, 3)).after(epoch, 200) for epoch in range(1, 201)]
    assert course[-1] == (5_000, 3)
    steps = -np.diff(np.array([(10_556, 917), *course]), axis=0)
    assert (steps >= 0).all()
    assert (steps.max(axis=0) - steps.min(axis=0) <= 1).all()


@pytest.fixture(params=["gcn", "gin", "gat", "resgcn", "resgcn in clusters"])
def problem(request: pytest.FixtureRequest, small_graph: Graph) -> Problem:
    model, *clusters = request.param.split(" in ")
    settings = {"batch_clusters": 2} if clusters else {}
    config = resolve({"model": model, "hidden": 3, "schedule": "one_run", "dropout": 0.2, **settings})
    return Problem(config, small_graph)


def search(problem: Problem) -> tuple[Network, Schedule]:
    full = problem.full_masks()
    soft = SoftMasks.around_one(full, 1e-2, stream(0, 1, "s"), "cpu")
    network = Network(problem, full, problem.initial_weights(0), soft)
    network.alive = Survivors(full, "cpu")
    narrowing = Narrowing((full.edges.kept, 3), (full.weights.kept, full.weights.kept // 2))
    return network, Schedule(EPOCHS, 0.05, 5e-4, 0.05, 5e-4, 0.1, 0.1, narrowing)


def test_counts_are_exact_at_every_epoch_and_masks_are_nested_within_the_search(problem: Problem) -> None:
    network, schedule = search(problem)
    assert schedule.narrowing is not None
    assert network.alive is not None
    alive, seen = network.alive, [problem.full_masks()]

    def on_epoch(result: EpochResult) -> None:
        masks = alive.masks()
        assert schedule.narrowing is not None
        assert (masks.edges.kept, masks.weights.kept) == schedule.narrowing.after(result.epoch + 1, EPOCHS)
        assert masks.within(seen[-1])
        seen.append(masks)

    train(network, schedule, stream(0, 1, "search"), on_epoch)
    assert len(seen) == EPOCHS + 1
    assert seen[-1].edges.kept == 3


def test_what_is_gone_is_as_if_it_were_not_there(problem: Problem) -> None:
    """After a search, outputs are those of the physically smaller network under the soft values that are left."""
    network, schedule = search(problem)
    train(network, schedule, stream(0, 1, "search"), lambda _: None)
    assert network.alive is not None
    assert network.soft is not None
    masks = network.alive.masks()
    left = {name: torch.from_numpy(keep) for name, keep in masks.weights.keep.items()}
    soft = SoftMasks(
        network.soft.edges.detach()[network.alive.edges],
        {name: values.detach() * left[name] for name, values in network.soft.weights.items()},
    )
    smaller = Network(problem, masks, {name: value.detach().numpy() for name, value in network.theta.items()}, soft)
    assert smaller.operator.num_values == 3 < network.operator.num_values
    torch.testing.assert_close(output(network), output(smaller))


def test_what_is_gone_has_no_gradient(problem: Problem) -> None:
    network, schedule = search(problem)
    train(network, schedule, stream(0, 1, "search"), lambda _: None)
    assert network.alive is not None
    assert network.soft is not None
    alive = (network.alive.edges, *network.alive.weights.values())
    for values in network.soft.parameters():
        values.grad = None
    output(network).square().sum().backward()
    for penalty in (0.0, 0.1):
        network.add_penalty_gradient(penalty, penalty)
        for values, left in zip(network.soft.parameters(), alive, strict=True):
            assert values.grad is not None
            assert not values.grad[~left].any()
            assert penalty == 0 or values.grad[left].all()


def output(network: Network) -> torch.Tensor:
    weights = network.effective_weights()
    return network.head(network.stem(weights), weights, Dropout(0, None))


def test_the_scores_of_an_epoch_are_of_what_is_left_after_it(problem: Problem) -> None:
    network, schedule = search(problem)
    seen: list[EpochResult] = []
    result = train(network, schedule, stream(0, 1, "search"), seen.append)
    with torch.no_grad():
        scores = problem.task.scores(output(network), network.effective_weights())
    assert scores == seen[-1].scores == result.last
