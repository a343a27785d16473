"""Mini-batches of random node clusters (Cluster-GCN's scheme with random clusters, as DeeperGCN trains ogbn-proteins).

An epoch partitions the nodes anew; only edges inside a cluster carry messages. Evaluation has one fixed partition, so
that its score depends on the tensors alone.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from glt.training.tasks import Scores, TrainingPass


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
        clusters = evaluation_parts(network.problem.config, network.operator.num_nodes)
        parts = network.operator.parts(clusters) if clusters else iter([network.operator])
        outputs = [(part.nodes, self._output(part, weights, Dropout(0, None))) for part in parts]
        return network.problem.task.scores(assembled(outputs), weights)

    def refresh(self) -> None:
        """Every step looks at the network anew."""

    def _steps(self, part: GraphOperator) -> range:
        if self._clusters.fresh_masks:
            self._network.restart_edges(part.value_numbers())
        return range(self._clusters.steps)

    def _step(self, part: GraphOperator, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        weights = self._network.effective_weights()
        output = self._output(part, weights, dropout)
        nodes = torch.from_numpy(part.nodes).to(output.device)
        loss = self._network.problem.task.loss(TrainingPass(output, weights, generator, _no_shuffling, nodes=nodes))
        optimise(loss)
        return float(loss.detach())

    def _output(self, part: GraphOperator, weights: Mapping[str, Tensor], dropout: Dropout) -> Tensor:
        return self._network.head(self._network.part_stem(part, weights), weights, dropout)


def assembled(outputs: list[tuple[IntArray, Tensor]]) -> Tensor:
    """Put the rows of disjoint clusters into one output [N, C]."""
    first = outputs[0][1]
    whole = first.new_empty(sum(nodes.size for nodes, _ in outputs), first.shape[1])
    for nodes, output in outputs:
        whole[torch.from_numpy(nodes).to(whole.device)] = output
    return whole


def _no_shuffling(order: Tensor) -> Tensor:
    raise NotImplementedError("objectives that shuffle features need the whole graph")
