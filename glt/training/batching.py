"""How a stage runs its network: on the whole graph, on receptive fields, or in random node clusters.

`passes_of` chooses for training; `forward` is one pass without gradient, for audits, latency and ticket files. Clusters
are random, as DeeperGCN trains ogbn-proteins: every epoch has a new partition of the nodes, and only edges inside a
cluster carry messages. Evaluation uses one fixed partition.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from glt.config import RunConfig
from glt.datasets.graph import IntArray
from glt.models import MODELS, Clusters
from glt.models.base import LARGEST_FIELD
from glt.seeds import stream
from glt.sparse import Dropout, Features, GraphOperator
from glt.training.network import Network, View
from glt.training.tasks import Scores, TrainingPass

# What a step does with its loss.
Optimise = Callable[[Tensor, TrainingPass], None]


def passes_of(network: Network, all_outputs: bool = False) -> Passes:
    """Return how a network runs: in clusters, on receptive fields, or on its whole graph.

    With `all_outputs` a step needs the outputs of all nodes, so there are no receptive fields.
    """
    problem = network.problem
    if clusters := problem.model.clusters(problem.config):
        return ClusterBatch(network, clusters)
    reads, depth = problem.task.reads(), problem.model.messages(problem.config)
    if all_outputs or reads is None or depth is None or not all(nodes.size for nodes in reads):
        return FullBatch(network)
    small = network.operator.share_towards(reads[0], depth) <= LARGEST_FIELD
    return FieldBatch(network, reads, depth) if small else FullBatch(network)


class Passes(ABC):
    """Runs a network: an epoch of steps, each ending in `optimise(loss, step)`, and its evaluation.

    Only the network's tensors outlive an epoch, so that a stage can resume from those.
    """

    _network: Network
    _weights: Mapping[str, Tensor]

    @abstractmethod
    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run an epoch's steps; return the mean training loss without penalties."""

    @abstractmethod
    def outputs(self) -> Tensor:
        """Return the outputs [N, C] of the current tensors, without gradient."""

    @torch.no_grad()
    def evaluate(self) -> Scores:
        """Return validation and test score of the current tensors."""
        output = self.outputs()
        return self._network.problem.task.scores(output, self._weights)

    def refresh(self) -> None:
        """Read tensors that were changed between epochs."""
        return


class FullBatch(Passes):
    """Steps on the whole graph; evaluation and the next step share one stem."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.refresh()

    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run one step, or as many as the task's batches."""
        task, losses = self._network.problem.task, []
        for batch in task.batches(generator):
            step = self._network.step(self._stem, self._weights, dropout, generator, batch)
            loss = task.loss(step)
            optimise(loss, step)
            losses.append(float(loss.detach()))
            self.refresh()
        return sum(losses) / len(losses)

    @torch.no_grad()
    def outputs(self) -> Tensor:
        """Return the outputs of the current stem."""
        return self._network.head(self._stem, self._weights, Dropout(0, None))

    def refresh(self) -> None:
        """Compute the stem anew."""
        self._weights = self._network.effective_weights()
        self._stem = self._network.stem(self._weights)


class FieldBatch(Passes):
    """One step per epoch on the training nodes' receptive field; scores on the split's.

    An evaluation and the next step share the product of features and first weights.
    """

    def __init__(self, network: Network, reads: tuple[IntArray, IntArray], depth: int) -> None:
        self._network = network
        everyone = np.union1d(*reads)
        trained, scored = (network.operator.towards(nodes, depth) for nodes in (reads[0], everyone))
        inputs = scored.inputs()
        features = network.problem.features.cut(inputs)
        own = features.within(np.searchsorted(inputs, trained.inputs()))
        self._scored = View(scored, features, network.nodes(everyone))
        self._trained = View(trained, own, network.nodes(reads[0]))
        self.refresh()
        # The first step, like later ones, reuses the product of an evaluation.
        with torch.no_grad():
            network.stem(self._weights, self._scored)

    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run the epoch's step."""
        network, weights = self._network, self._weights
        stem = network.stem(weights, self._trained)
        step = network.step(stem, weights, dropout, generator, view=self._trained)
        loss = network.problem.task.loss(step)
        optimise(loss, step)
        self.refresh()
        return float(loss.detach())

    @torch.no_grad()
    def outputs(self) -> Tensor:
        """Return the outputs; those of nodes outside the split are zeros."""
        network, view = self._network, self._scored
        assert view.nodes is not None
        output = network.head(network.stem(self._weights, view), self._weights, Dropout(0, None))
        whole = output.new_zeros(network.operator.num_nodes, output.shape[1])
        return whole.index_copy(0, view.nodes, output)

    def refresh(self) -> None:
        """Read the weights anew."""
        self._weights = self._network.effective_weights()


def partition(nodes: int, clusters: int, generator: np.random.Generator) -> list[IntArray]:
    """Cut `nodes` nodes at random into sorted clusters of nearly equal size.

    >>> [part.size for part in partition(5, 2, np.random.default_rng(0))]
    [3, 2]
    """
    parts = np.array_split(generator.permutation(nodes), min(clusters, nodes))
    return [np.sort(part) for part in parts]


def evaluation_parts(config: RunConfig, nodes: int) -> list[IntArray] | None:
    """Return the clusters of evaluation, the same for all seeds; None for the whole graph."""
    clusters = MODELS.get(config.model).clusters(config)
    if clusters is None or clusters.evaluation == 1:
        return None
    return partition(nodes, clusters.evaluation, stream(0, 0, "evaluation clusters"))


def by_parts(config: RunConfig, operator: GraphOperator, run: Callable[[GraphOperator | None], Tensor]) -> Tensor:
    """Return outputs [N, C] of an evaluation: `run` of each part, or of None for the whole graph."""
    clusters = evaluation_parts(config, operator.num_nodes)
    if clusters is None:
        return run(None)
    outputs = [run(part) for part in operator.parts(clusters)]
    places = torch.from_numpy(np.argsort(np.concatenate(clusters)))
    return torch.cat(outputs)[places.to(outputs[0].device)]


class ClusterBatch(Passes):
    """Steps on one cluster after another."""

    def __init__(self, network: Network, clusters: Clusters) -> None:
        self._network = network
        self._clusters = clusters

    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run the steps of every cluster of a new partition."""
        network, losses = self._network, []
        operator = network.operator
        for part in operator.parts(partition(operator.num_nodes, self._clusters.training, generator)):
            if self._clusters.fresh_masks:
                network.restart_edges(part.value_numbers())
            for _ in range(self._clusters.steps):
                weights, view = network.effective_weights(), network.part(part)
                stem = network.stem(weights, view)
                step = network.step(stem, weights, dropout, generator, view=view)
                loss = network.problem.task.loss(step)
                optimise(loss, step)
                losses.append(float(loss.detach()))
        return sum(losses) / len(losses)

    @torch.no_grad()
    def outputs(self) -> Tensor:
        """Return all nodes' outputs, each computed in its fixed cluster."""
        network = self._network
        self._weights = weights = network.effective_weights()

        def output(part: GraphOperator | None) -> Tensor:
            return network.head(network.stem(weights, network.part(part) if part else None), weights, Dropout(0, None))

        return by_parts(network.problem.config, network.operator, output)


@contextmanager
def compute_threads(count: int) -> Iterator[None]:
    """Compute with this number of threads within the context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@torch.no_grad()
def forward(
    config: RunConfig,
    operator: GraphOperator,
    features: Features,
    weights: Mapping[str, Tensor],
    edge_values: Tensor | None = None,
) -> Tensor:
    """Return the outputs [N, C] of a config's network: logits of nodes, or embeddings for links.

    `features` are row-normalised. Weights may be sparse CSR; `edge_values` (default ones) has one value per entry of
    the operator's mask. Evaluation in clusters applies here too.
    """
    model = MODELS.get(config.model)

    def output(part: GraphOperator | None) -> Tensor:
        rows = features if part is None else features.of_nodes(torch.from_numpy(part.nodes))
        stem = model.stem(part or operator, edge_values, rows, weights, config)
        return model.head(stem, weights, Dropout(0, None), config)

    return by_parts(config, operator, output)
