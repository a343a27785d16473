"""What link prediction trains on, and how it scores a pair: binary cross-entropy, and Graph InfoClust (GIC).

A third objective has a file of its own, `glt.training.hadamard`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from glt.data.graph import Graph
from glt.data.link_split import NonEdges
from glt.sparse import inner_products
from glt.training.tasks.base import TrainingPass
from glt.training.tasks.link import CLUSTER_FORM, GRAPH_FORM, SLOPE

# Pairs scored at a time: two rows of 128 numbers for each, and what is made of them, stay within 200 MB.
PAIRS_AT_A_TIME = 65_536


class LinkObjective(ABC):
    """A loss on what an encoder makes of the training graph, and the scores of pairs."""

    shuffles: bool = False

    def batches(self, generator: np.random.Generator) -> Iterable[Any]:
        """Return the steps of an epoch, as a task does; by default one step for all."""
        return (None,)

    @abstractmethod
    def loss(self, step: TrainingPass) -> Tensor:
        """Return the training loss of a step, a scalar."""

    @abstractmethod
    def scores(self, output: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """Return a score [n] for each pair [2, n], given an encoder's output; higher means more likely an edge."""


class EmbeddingObjective(LinkObjective):
    """An objective whose pairs are scored by the embeddings of their nodes alone."""

    def scores(self, output: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """Return the scores of embeddings."""
        rows = embeddings(output, weights)
        return some_at_a_time(lambda some: self.pair_scores(rows, some), pairs)

    @abstractmethod
    def pair_scores(self, rows: Tensor, pairs: Tensor) -> Tensor:
        """Return a score [n] for each pair [2, n] of embeddings [N, d]; higher means more likely an edge."""


class CrossEntropy(EmbeddingObjective):
    """The GAE's objective (Kipf and Welling 2016): inner products of training edges against pairs without an edge.

    The pairs are drawn anew every step among those that are no training edge: the edges held out are unknown here.
    """

    def __init__(self, training: Graph, device: str) -> None:
        self._edges = torch.from_numpy(training.edges).to(device)
        self._non_edges = NonEdges(training.edges, training.num_nodes)

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the mean binary cross-entropy over all training edges and as many negatives."""
        count = self._edges.shape[1]
        negatives = torch.from_numpy(self._non_edges.draw(count, step.generator)).to(self._edges.device)
        logits = self.pair_scores(embeddings(step.output, step.weights), torch.cat([self._edges, negatives], dim=1))
        return _told_apart(logits[:count], logits[count:])

    def pair_scores(self, rows: Tensor, pairs: Tensor) -> Tensor:
        """Return the inner product of each pair."""
        return inner_products(rows, pairs)


class InfoClust(EmbeddingObjective):
    """GIC (Mavromatis and Karypis 2021): nodes told from nodes with shuffled features, by two summaries.

    One is the graph's, s = sigmoid(mean of h_i); the other a node's own, z_i = sigmoid(sum_k r_ik mu_k), of soft
    clusters mu. Each has a bilinear discriminator h' W s; the loss is alpha of the first and 1 - alpha of the second.
    """

    shuffles = True

    def __init__(self, clusters: int, beta: float, iterations: int, alpha: float) -> None:
        self._clusters = clusters
        self._beta = beta
        self._iterations = iterations
        self._alpha = alpha

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the weighted sum of both binary cross-entropies, each a mean over true and false nodes."""
        nodes = step.output.shape[0]
        order = torch.from_numpy(step.generator.permutation(nodes)).to(step.output.device)
        true = embeddings(step.output, step.weights)
        false = embeddings(step.shuffled(order), step.weights)
        start = torch.from_numpy(step.generator.choice(nodes, self._clusters, replace=False)).to(true.device)
        summaries = cluster_summaries(true, start, self._beta, self._iterations)
        graph_side = step.weights[GRAPH_FORM] @ torch.sigmoid(true.mean(dim=0))
        cluster_side = summaries @ step.weights[CLUSTER_FORM].t()
        by_graph = _told_apart(true @ graph_side, false @ graph_side)
        by_cluster = _told_apart((true * cluster_side).sum(dim=1), (false * cluster_side).sum(dim=1))
        return self._alpha * by_graph + (1 - self._alpha) * by_cluster

    def pair_scores(self, rows: Tensor, pairs: Tensor) -> Tensor:
        """Return the cosine of each pair, 0 where an embedding is zero."""
        return inner_products(directions(rows), pairs)


def some_at_a_time(score: Callable[[Tensor], Tensor], pairs: Tensor) -> Tensor:
    """Return the scores [n] of `pairs` [2, n], found for so many at a time that memory holds what they take."""
    return torch.cat([score(some) for some in torch.split(pairs, PAIRS_AT_A_TIME, dim=1)])


def embeddings(output: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return what stands for nodes [N, d]: the encoder's output through a PReLU."""
    return torch.nn.functional.prelu(output, weights[SLOPE])


def cluster_summaries(rows: Tensor, start: Tensor, beta: float, iterations: int) -> Tensor:
    """Return z [N, d], each node's mean of soft cluster centres through a sigmoid.

    Soft k-means on directions: r_ik = softmax_k(beta cos(h_i, mu_k)), mu_k = sum_i r_ik h_i / sum_i r_ik. Centres start
    at the nodes `start` [K] and move for some iterations without a gradient, then once more with one.
    """
    data = directions(rows)
    with torch.no_grad():
        centres = data[start]
        for _ in range(iterations):
            centres = _centres(data, _memberships(data, centres, beta))
    centres = _centres(data, _memberships(data, centres, beta))
    return torch.sigmoid(_memberships(data, centres, beta) @ centres)


def directions(rows: Tensor) -> Tensor:
    """Divide every row by its length; a zero row stays zero and keeps a finite gradient."""
    lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return rows / torch.where(lengths > 0, lengths, 1)


def _memberships(data: Tensor, centres: Tensor, beta: float) -> Tensor:
    return torch.softmax(beta * (data @ directions(centres).t()), dim=1)


def _centres(data: Tensor, memberships: Tensor) -> Tensor:
    """A cluster that nobody belongs to has its centre at zero."""
    sizes = memberships.sum(dim=0).clamp_min(torch.finfo(data.dtype).tiny)
    return (memberships.t() @ data) / sizes[:, None]


def _told_apart(true: Tensor, false: Tensor) -> Tensor:
    logits = torch.cat([true, false])
    truth = torch.zeros_like(logits)
    truth[: true.numel()] = 1
    return binary_cross_entropy_with_logits(logits, truth)


def roc_auc(true: np.ndarray, false: np.ndarray) -> float:
    """Return the share of (true, false) couples in which the true one scores higher, ties counting half.

    Mann and Whitney's U over the number of couples, the area under the ROC curve.

    >>> roc_auc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([true, false]))
    below = ranks[: true.size].sum() - true.size * (true.size + 1) / 2
    return float(below / (true.size * false.size))
