"""Mini-batches of random node clusters (Cluster-GCN's scheme with random clusters, as DeeperGCN trains ogbn-proteins).

An epoch partitions the nodes anew; only edges inside a cluster carry messages. Evaluation has one fixed partition, so
that its score depends on the tensors alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from glt.config import RunConfig
from glt.data.graph import IntArray
from glt.models import MODELS, Clusters
from glt.randomness import stream
from glt.sparse import Dropout, GraphOperator
from glt.training.network import Network
from glt.training.passes import Optimise, Passes
from glt.training.tasks import Scores


def partition(nodes: int, clusters: int, generator: np.random.Generator) -> list[IntArray]:
    """Cut nodes 0 to `nodes` - 1 at random into clusters of sizes that differ by at most one, each sorted.

    >>> [part.size for part in partition(5, 2, np.random.default_rng(0))]
    [3, 2]
    """
    parts = np.array_split(generator.permutation(nodes), min(clusters, nodes))
    return [np.sort(part) for part in parts]


def evaluation_parts(config: RunConfig, nodes: int) -> list[IntArray] | None:
    """Return the clusters a config's network is evaluated in, the same for all seeds; None for the whole graph."""
    clusters = MODELS.get(config.model).clusters(config)
    if clusters is None or clusters.evaluation == 1:
        return None
    return partition(nodes, clusters.evaluation, stream(0, 0, "evaluation clusters"))


def by_parts(config: RunConfig, operator: GraphOperator, run: Callable[[GraphOperator | None], Tensor]) -> Tensor:
    """Return the outputs [N, C] of an evaluation: `run` of each part of the fixed partition, of None for the whole."""
    clusters = evaluation_parts(config, operator.num_nodes)
    if clusters is None:
        return run(None)
    outputs = [run(part) for part in operator.parts(clusters)]
    places = torch.from_numpy(np.argsort(np.concatenate(clusters)))
    return torch.cat(outputs)[places.to(outputs[0].device)]


class ClusterBatch(Passes):
    """Steps on one cluster after the other."""

    def __init__(self, network: Network, clusters: Clusters) -> None:
        self._network = network
        self._clusters = clusters

    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run the steps of every cluster of a new partition."""
        operator = self._network.operator
        losses = [
            self._step(part, dropout, generator, optimise)
            for part in operator.parts(partition(operator.num_nodes, self._clusters.training, generator))
            for _ in self._steps(part)
        ]
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self) -> Scores:
        """Return the scores of all nodes' outputs, each computed in its cluster of the fixed partition."""
        network = self._network
        weights = network.effective_weights()

        def output(part: GraphOperator | None) -> Tensor:
            return network.head(network.stem(weights, network.part(part) if part else None), weights, Dropout(0, None))

        return network.problem.task.scores(by_parts(network.problem.config, network.operator, output), weights)

    def _steps(self, part: GraphOperator) -> range:
        if self._clusters.fresh_masks:
            self._network.restart_edges(part.value_numbers())
        return range(self._clusters.steps)

    def _step(self, part: GraphOperator, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        weights = self._network.effective_weights()
        view = self._network.part(part)
        stem = self._network.stem(weights, view)
        loss = self._network.problem.task.loss(self._network.step(stem, weights, dropout, generator, view=view))
        optimise(loss)
        return float(loss.detach())
