"""A stage's rule: terms of the loss, changes around steps and epochs, and resuming with its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.datasets.graph import Graph
from glt.presets import resolve
from glt.seeds import stream
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.rule import Rule
from glt.training.tasks import TrainingPass
from glt.training.trainer import Schedule, Stage, TrainResult

EPOCHS = 5


class Recorder(Rule):
    """Adds the mean output to the loss, halves edge gradients, clamps masks, and resets one every second epoch."""

    reads_all_outputs = True

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.rows: list[int] = []
        self.best = 0
        self._resets = np.zeros(1, dtype=np.int64)

    def terms(self, step: TrainingPass, network: Network) -> Tensor | None:
        self.calls.append("terms")
        self.rows.append(step.output.shape[0])
        return step.output.mean()

    def before_step(self, network: Network, epoch: int) -> None:
        assert network.soft is not None
        assert network.soft.edges is not None
        assert network.soft.edges.grad is not None
        self.calls.append(f"before {epoch}")
        network.soft.edges.grad.mul_(0.5)

    def after_step(self, network: Network) -> None:
        self.calls.append("after")
        assert network.soft is not None
        assert network.soft.edges is not None
        with torch.no_grad():
            network.soft.edges.clamp_(0.95, 1)

    def after_epoch(self, network: Network, epoch: int) -> bool:
        self.calls.append(f"epoch {epoch}")
        if epoch % 2:
            self._resets += 1
            with torch.no_grad():
                network.theta["layers.1.weight"][0, 0] = float(self._resets[0])
        return bool(epoch % 2)

    def on_best(self) -> None:
        self.best += 1

    def state(self) -> Mapping[str, np.ndarray[Any, Any]]:
        return {"resets": self._resets}

    def restore(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._resets = arrays["resets"].copy()


def stage(graph: Graph, rule: Rule | None, generator: np.random.Generator) -> tuple[Network, Stage]:
    problem = Problem(resolve({"hidden": 4, "dropout": 0.2}), graph)
    masks = problem.full_masks()
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "masks"), "cpu")
    network = Network(problem, masks, problem.initial_weights(0), soft)
    return network, Stage(network, Schedule(EPOCHS, 0.1, 0.0, 0.1, rule=rule), generator)


def run(graph: Graph, rule: Rule | None) -> TrainResult:
    return stage(graph, rule, stream(0, 1, "search"))[1].run(lambda result: None)


def test_hooks_run_in_order_on_all_outputs(small_graph: Graph) -> None:
    rule = Recorder()
    result = run(small_graph, rule)
    assert rule.calls == [
        call for epoch in range(EPOCHS) for call in ("terms", f"before {epoch}", "after", f"epoch {epoch}")
    ]
    assert set(rule.rows) == {small_graph.num_nodes}
    assert result.last_tensors["mask/edges"].min() == np.float32(0.95)
    assert 1 <= rule.best <= EPOCHS


def test_a_rule_without_hooks_changes_no_bit(small_graph: Graph) -> None:
    plain, ruled = run(small_graph, None), run(small_graph, Rule())
    assert plain.best_epoch == ruled.best_epoch
    for name, values in plain.last_tensors.items():
        assert np.array_equal(values, ruled.last_tensors[name])


@pytest.mark.parametrize("stop", [1, 2, 4])
def test_a_stage_resumes_with_the_state_of_its_rule(small_graph: Graph, stop: int) -> None:
    class Enough(Exception):
        pass

    def on_epoch(result: Any) -> None:
        if result.epoch + 1 == stop:
            raise Enough

    whole = run(small_graph, Recorder())
    _, first = stage(small_graph, Recorder(), stream(0, 1, "search"))
    with pytest.raises(Enough):
        first.run(on_epoch)
    saved = first.state().copied()
    _, second = stage(small_graph, Recorder(), stream(0, 2, "another"))
    second.restore(saved)
    resumed = second.run(lambda result: None)
    for name, values in whole.last_tensors.items():
        assert np.array_equal(values, resumed.last_tensors[name])
