"""Predictions: the logits of a round's retrained network on the validation and the test nodes.

One forward pass gives them from the round's weights and masks, bit for bit those of its best-validation epoch. They can
be stored beside the round (`predictions-NN.safetensors`), which is needed where weights are not kept. They are evidence
about a round, not a part of it: no setting of a run, and neither resumed nor audited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.datasets import Graph
from glt.errors import ConfigError
from glt.lottery.graph import whole_graph_of
from glt.store import Run, SeedRun
from glt.store.tensors import Predictions
from glt.training.metrics import evaluator_of, node_score


def check_has_classes(config: RunConfig, graph: Graph | None = None) -> None:
    """Raise ConfigError for a run that does not predict one class a node."""
    if config.task != "node" or (graph is not None and graph.targets is not None):
        raise ConfigError(
            "Predictions are analysed for node classification only, with one class a node: choose a run of the task "
            "'node' on a data set with classes."
        )


NO_PREDICTIONS = "keep neither weights nor predictions"


def can_predict(seed_run: SeedRun, round: int) -> bool:
    """Return whether a finished round has stored logits, or, as all but examples, weights."""
    return round < seed_run.whole_rounds() and (seed_run.has_predictions(round) or not seed_run.is_example)


def without_predictions(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of which no seed has logits of round 0: examples without stored ones."""
    return [run for run in runs if not any(can_predict(run.seed(seed), 0) for seed in run.seeds())]


def predictions_of(seed_run: SeedRun, round: int) -> Predictions:
    """Return a round's logits: the stored ones, else by one forward pass from its weights and masks.

    The pass has as many threads as the run had. Raises StoreError without the round or its weights, ConfigError for a
    task without classes, DataError if the data set has changed.
    """
    check_has_classes(seed_run.config)
    seed_run.record(round)
    return seed_run.predictions(round) if seed_run.has_predictions(round) else _computed(seed_run, round)


def _computed(seed_run: SeedRun, round: int) -> Predictions:
    # Imported late: stored predictions need no torch.
    from glt.training.batching import compute_threads, passes_of
    from glt.training.network import Network
    from glt.training.problem import Problem

    masks, weights = seed_run.masks(round), seed_run.weights(round)
    graph = whole_graph_of(seed_run)
    check_has_classes(seed_run.config, graph)
    threads = seed_run.known_environment().get("threads")
    with compute_threads(threads if isinstance(threads, int) else 1):
        network = Network(Problem(seed_run.config, graph), masks, weights)
        logits = passes_of(network).outputs().numpy()
    return Predictions(logits[graph.split.val], logits[graph.split.test])


def accuracy(config: RunConfig, logits: NDArray[np.float32], labels: NDArray[np.integer[Any]]) -> float:
    """Return the accuracy of logits [n, C] as the task computes it, by the data set's evaluator if it has one."""
    predicted = logits.argmax(axis=1)
    if evaluator := evaluator_of(config.dataset):
        return node_score(evaluator, labels[:, None], predicted[:, None])
    return int((predicted == labels).sum()) / labels.size


@dataclass(frozen=True)
class StoredPredictions:
    """A round's stored logits: their accuracies, and whether these are exactly the recorded ones.

    They may differ for a run that was computed on another device or machine.
    """

    round: int
    val: float
    test: float
    is_as_recorded: bool

    def as_json(self) -> dict[str, Any]:
        """Return the entry that `glt predictions --json` prints."""
        return asdict(self)


def store_predictions(seed_run: SeedRun, rounds: Sequence[int]) -> list[StoredPredictions]:
    """Store the logits of finished rounds that lack them; return all of `rounds`, compared with the records.

    Raises StoreError if a worker computes the seed or the store is read-only, and as `predictions_of`.
    """
    check_has_classes(seed_run.config)
    found = []
    missing = [number for number in rounds if not seed_run.has_predictions(number)]
    if missing and seed_run.is_example:
        # Raises: without weights nothing can be computed.
        seed_run.weights(missing[0])
    if missing:
        with seed_run.lock():
            for number in missing:
                seed_run.write_predictions(number, predictions_of(seed_run, number))
    graph = whole_graph_of(seed_run)
    for number in rounds:
        record, logits = seed_run.record(number), seed_run.predictions(number)
        split = ((logits.val, graph.split.val), (logits.test, graph.split.test))
        val, test = (accuracy(seed_run.config, part, graph.labels[nodes]) for part, nodes in split)
        found.append(StoredPredictions(number, val, test, (val, test) == (record.val, record.test)))
    return found
