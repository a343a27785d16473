"""Link prediction: an encoder trained on some edges, scored on held-out edges against pairs without an edge.

`LinkTask` holds out 15 % of the edges, or takes a data set's own split; `LinkPrediction` trains one of three
objectives: GIC (`InfoClust`), cross-entropy on edges (`CrossEntropy`), or an MLP on products of rows (`Hadamard`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from glt.config import Activation, Count, Positive, RunConfig, options_of
from glt.datasets.graph import Graph, IntArray, LinkSplit
from glt.datasets.link_split import NonEdges, held_out, split_links, training_graph
from glt.datasets.registry import DatasetSpec, load_graph
from glt.errors import ConfigError, DataError
from glt.models import MODELS
from glt.models.base import TensorSpec
from glt.training.metrics import (
    HITS_AT,
    Chance,
    auc_by_chance,
    evaluator_of,
    hits_by_chance,
    link_score,
    load_evaluator,
    roc_auc,
)
from glt.training.tasks import TASKS
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

if TYPE_CHECKING:
    from torch import Tensor

SLOPE, START_OF_SLOPE = "link.prelu", 0.25
OBJECTIVES = {"gic": "GIC", "bce": "binary cross-entropy", "hadamard": "Hadamard products"}
GRAPH_FORM, CLUSTER_FORM = "link.graph_form", "link.cluster_form"
# The predictor's maps, each with a weight and a bias.
PREDICTOR = tuple(f"link.predictor.{layer}" for layer in range(3))
# Pairs scored at a time: their rows of 128 numbers and intermediate results stay within 200 MB.
PAIRS_AT_A_TIME = 65_536
EDGES_A_STEP = 65_536


class LinkOptions(BaseModel):
    """The split, the encoder's end and the objective; the defaults are the authors'."""

    link_objective: Literal["gic", "bce", "hadamard"] = Field(
        "gic",
        description="Training objective: gic (self-supervised, authors' code), bce (cross-entropy on edges, GAE), "
        "hadamard (cross-entropy of an MLP on products of embeddings, authors' code for ogbl-collab)",
    )
    split_seed: Annotated[int, Field(ge=0)] = Field(
        0, description="Seed of the held-out edges, for all seeds; ignored if the data set has its own split"
    )
    link_dimension: Count = Field(16, description="Width of embeddings; hadamard uses `hidden` instead")
    hidden_activation: Activation = Field("none", description="Activation between the layers of the encoder")
    gic_clusters: Count = Field(128, description="GIC: number of soft clusters")
    gic_beta: Positive = Field(100.0, description="GIC: inverse temperature of cluster membership")
    gic_alpha: Annotated[float, Field(ge=0, le=1)] = Field(
        0.5, description="GIC: weight of the graph summary in the loss; 1 - alpha for clusters"
    )
    gic_iterations: Annotated[int, Field(ge=0)] = Field(10, description="GIC: soft k-means steps without gradient")


class LinkPrediction(BoundTask):
    """An objective on training edges; ROC-AUC on held-out edges, or Hits@K by ogb's evaluator."""

    def __init__(self, split: LinkSplit, objective: LinkObjective, evaluator: str, device: str) -> None:
        import torch

        parts = (split.val, split.val_negatives, split.test, split.test_negatives)
        self._objective = objective
        self._evaluator = evaluator
        self.shuffles = objective.shuffles
        self._pairs = torch.from_numpy(np.concatenate(parts, axis=1)).to(device)
        self._ends = np.cumsum([part.shape[1] for part in parts])[:-1]

    def batches(self, generator: np.random.Generator) -> Iterable[Any]:
        """Return the objective's steps."""
        return self._objective.batches(generator)

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the objective's loss."""
        return self._objective.loss(step)

    def scores(self, output: Tensor, weights: Mapping[str, Tensor]) -> Scores:
        """Return validation and test score; raise DataError if a pair's score is not finite."""
        scores = self._objective.scores(output, weights, self._pairs).cpu().numpy()
        if not np.isfinite(scores).all():
            raise DataError("Embeddings are no longer finite: lower learning_rate.")
        score = partial(link_score, self._evaluator) if self._evaluator else roc_auc
        val, val_negatives, test, test_negatives = np.split(scores, self._ends)
        return Scores(score(val, val_negatives), score(test, test_negatives))


class LinkTask(Task):
    """Edges of one graph, some held out by `split_seed`, the same for all seeds."""

    name = "link"
    label = "Link prediction"
    description = "Distinguish held-out edges from pairs of nodes without an edge."
    metric = "ROC-AUC"
    Options = LinkOptions

    def metric_on(self, spec: DatasetSpec) -> str:
        """Return ROC-AUC, or Hits@K for a data set with its own split."""
        return f"Hits@{HITS_AT}" if spec.brings_split else self.metric

    def outputs(self, classes: int, config: RunConfig) -> int:
        """Return the width of an embedding, or of the predictor's rows."""
        options = options_of(config.options, LinkOptions)
        return config.hidden if options.link_objective == "hadamard" else options.link_dimension

    def chance(self, graph: Graph, config: RunConfig) -> Chance | None:
        """Return one half for ROC-AUC, and a guess's Hits@K for a data set with its own split."""
        if graph.links:
            return hits_by_chance(graph.links.val.shape[1], graph.links.val_negatives.shape[1], HITS_AT)
        pairs = np.array([held_out(graph.num_edges)[0]])
        return auc_by_chance(pairs, pairs)

    def check(self, config: RunConfig, spec: DatasetSpec) -> None:
        """Raise ConfigError for too many clusters or too few edges."""
        super().check(config, spec)
        sizes = spec.sizes
        _check_clusters(options_of(config.options, LinkOptions), spec.label, sizes.nodes)
        if MODELS.get(config.model).clusters(config) is not None:
            raise ConfigError(
                "Mini-batches would separate the pairs of link prediction: set batch_clusters to 0 for task 'link'."
            )
        if not spec.brings_split and not held_out(sizes.edges)[0]:
            raise ConfigError(
                f"{spec.label} has {sizes.edges} edges, too few for link prediction: choose a data set with at least "
                "20."
            )
        if spec.bundled:
            self.message_graph(load_graph(spec.name), config)

    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to the graph's held-out edges; raise DataError for a split without a score."""
        options = options_of(config.options, LinkOptions)
        _check_clusters(options, graph.name, graph.num_nodes)
        evaluator = evaluator_of(config.dataset) if graph.links else ""
        load_evaluator("linkproppred", evaluator)
        split = graph.links or split_links(graph, options.split_seed)
        if evaluator:
            _check_split(split, graph.name)
        objective: LinkObjective
        if options.link_objective == "hadamard":
            objective = Hadamard(split.train, graph.num_nodes, device)
        elif options.link_objective == "bce":
            objective = CrossEntropy(self.message_graph(graph, config), device)
        else:
            objective = InfoClust(options.gic_clusters, options.gic_beta, options.gic_iterations, options.gic_alpha)
        return LinkPrediction(split, objective, evaluator, device)

    def objective(self, config: RunConfig) -> str:
        """Return the name of the training objective."""
        return OBJECTIVES[options_of(config.options, LinkOptions).link_objective]

    def tensors(self, config: RunConfig, outputs: int) -> Sequence[TensorSpec]:
        """List the objective's tensors: a predictor, or a PReLU slope and GIC's two bilinear forms."""
        objective, specs = options_of(config.options, LinkOptions).link_objective, []
        if objective == "hadamard":
            # The last map has one output, the logit.
            for name, width in zip(PREDICTOR, [*[outputs] * (len(PREDICTOR) - 1), 1], strict=True):
                specs.append(TensorSpec(f"{name}.weight", (outputs, width), False))
                specs.append(TensorSpec(f"{name}.bias", (width,), False, start=0.0))
            return specs
        specs.append(TensorSpec(SLOPE, (1,), False, start=START_OF_SLOPE))
        if objective == "gic":
            specs += [TensorSpec(name, (outputs, outputs), False) for name in (GRAPH_FORM, CLUSTER_FORM)]
        return specs

    def message_graph(self, graph: Graph, config: RunConfig) -> Graph:
        """Return the graph with training edges only, as a graph with its own split already is."""
        if graph.links:
            return graph
        return training_graph(graph, options_of(config.options, LinkOptions).split_seed)

    def message_edges(self, edges: int, spec: DatasetSpec) -> int:
        """Return the number of training edges: all for a data set with its own split."""
        return edges if spec.brings_split else edges - sum(held_out(edges))


def _check_split(split: LinkSplit, where: str) -> None:
    """Raise DataError for a split without Hits@K: with fewer than K negatives OGB returns 1."""
    parts = {"validation": (split.val, split.val_negatives), "test": (split.test, split.test_negatives)}
    for name, (edges, negatives) in parts.items():
        if not edges.size or negatives.shape[1] < HITS_AT:
            raise DataError(
                f"{where} has {edges.shape[1]} {name} edges and {negatives.shape[1]} negatives, but "
                f"Hits@{HITS_AT} needs at least 1 edge and {HITS_AT} negatives: use a larger part of the data set."
            )


def _check_clusters(options: LinkOptions, where: str, nodes: int) -> None:
    if options.link_objective == "gic" and options.gic_clusters > nodes:
        raise ConfigError(
            f"gic_clusters cannot be {options.gic_clusters}: {where} has {nodes} nodes; choose at most {nodes}."
        )


class LinkObjective(ABC):
    """A loss on an encoder's output on the training graph, and the scores of pairs."""

    shuffles: bool = False

    def batches(self, generator: np.random.Generator) -> Iterable[Any]:
        """Return the steps of an epoch, as a task does; by default one."""
        return (None,)

    @abstractmethod
    def loss(self, step: TrainingPass) -> Tensor:
        """Return the training loss of a step, a scalar."""

    @abstractmethod
    def scores(self, output: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """Return a score [n] per pair [2, n]; higher means more likely an edge."""


class EmbeddingObjective(LinkObjective):
    """An objective whose pairs are scored by the embeddings of their nodes alone."""

    def scores(self, output: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """Return the scores of pairs by their embeddings."""
        rows = embeddings(output, weights)
        return some_at_a_time(lambda some: self.pair_scores(rows, some), pairs)

    @abstractmethod
    def pair_scores(self, rows: Tensor, pairs: Tensor) -> Tensor:
        """Return a score [n] per pair [2, n] of embeddings [N, d]."""


class CrossEntropy(EmbeddingObjective):
    """The GAE's objective (Kipf and Welling 2016): inner products of training edges against non-edges.

    Non-edges are drawn anew every step among pairs that are no training edge; held-out edges are unknown here.
    """

    def __init__(self, training: Graph, device: str) -> None:
        import torch

        self._edges = torch.from_numpy(training.edges).to(device)
        self._non_edges = NonEdges(training.edges, training.num_nodes)

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the mean binary cross-entropy over all training edges and as many non-edges."""
        import torch

        count = self._edges.shape[1]
        negatives = torch.from_numpy(self._non_edges.draw(count, step.generator)).to(self._edges.device)
        logits = self.pair_scores(embeddings(step.output, step.weights), torch.cat([self._edges, negatives], dim=1))
        return _cross_entropy(logits[:count], logits[count:])

    def pair_scores(self, rows: Tensor, pairs: Tensor) -> Tensor:
        """Return the inner product of each pair."""
        from glt.sparse import inner_products

        return inner_products(rows, pairs)


class InfoClust(EmbeddingObjective):
    """GIC (Mavromatis and Karypis 2021): real nodes against nodes with shuffled features, by two summaries.

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
        """Return the weighted sum of both cross-entropies, each a mean over true and false nodes."""
        import torch

        nodes = step.output.shape[0]
        order = torch.from_numpy(step.generator.permutation(nodes)).to(step.output.device)
        true = embeddings(step.output, step.weights)
        false = embeddings(step.shuffled(order), step.weights)
        start = torch.from_numpy(step.generator.choice(nodes, self._clusters, replace=False)).to(true.device)
        summaries = cluster_summaries(true, start, self._beta, self._iterations)
        graph_side = step.weights[GRAPH_FORM] @ torch.sigmoid(true.mean(dim=0))
        cluster_side = summaries @ step.weights[CLUSTER_FORM].t()
        by_graph = _cross_entropy(true @ graph_side, false @ graph_side)
        by_cluster = _cross_entropy((true * cluster_side).sum(dim=1), (false * cluster_side).sum(dim=1))
        return self._alpha * by_graph + (1 - self._alpha) * by_cluster

    def pair_scores(self, rows: Tensor, pairs: Tensor) -> Tensor:
        """Return the cosine of each pair, 0 where an embedding is zero."""
        from glt.sparse import inner_products

        return inner_products(directions(rows), pairs)


class Hadamard(LinkObjective):
    """Cross-entropy of an MLP on h_i * h_j for training edges and as many uniform pairs (authors, ogbl-collab).

    A drawn pair may be an edge, or a node twice. An epoch goes once through all edges in a new order, a batch per
    step; edges and drawn pairs have a mean each, and the loss is their sum.
    """

    def __init__(self, edges: IntArray, nodes: int, device: str) -> None:
        self._edges = edges
        self._nodes = nodes
        self._device = device

    def batches(self, generator: np.random.Generator) -> Iterator[IntArray]:
        """Yield an epoch's batches of training edges [2, .]."""
        order = generator.permutation(self._edges.shape[1])
        for start in range(0, order.size, EDGES_A_STEP):
            yield self._edges[:, order[start : start + EDGES_A_STEP]]

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the loss of a batch, by default the first of an epoch."""
        import torch
        from torch.nn.functional import logsigmoid

        edges = next(self.batches(step.generator)) if step.batch is None else step.batch
        drawn = step.generator.integers(0, self._nodes, edges.shape)
        pairs = torch.from_numpy(np.concatenate([edges, drawn], axis=1)).to(self._device)
        logits = pair_logits(step.output, step.weights, pairs)
        count = edges.shape[1]
        return -logsigmoid(logits[:count]).mean() - logsigmoid(-logits[count:]).mean()

    def scores(self, output: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """Return the logits of pairs."""
        return some_at_a_time(lambda some: pair_logits(output, weights, some), pairs)


def pair_logits(rows: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
    """Return the predictor's logit [n] of each pair [2, n] of rows [N, H]: ReLU between linear maps."""
    from torch.nn.functional import linear

    from glt.sparse import row_products

    hidden = row_products(rows, pairs)
    for layer, name in enumerate(PREDICTOR):
        hidden = linear(hidden.relu() if layer else hidden, weights[f"{name}.weight"].t(), weights[f"{name}.bias"])
    return hidden.squeeze(1)


def some_at_a_time(score: Callable[[Tensor], Tensor], pairs: Tensor) -> Tensor:
    """Return the scores [n] of `pairs` [2, n], computed in parts to bound memory."""
    import torch

    return torch.cat([score(some) for some in torch.split(pairs, PAIRS_AT_A_TIME, dim=1)])


def embeddings(output: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return node embeddings [N, d]: the encoder's output through a PReLU."""
    from torch.nn.functional import prelu

    return prelu(output, weights[SLOPE])


def cluster_summaries(rows: Tensor, start: Tensor, beta: float, iterations: int) -> Tensor:
    """Return z [N, d]: each node's mean of soft cluster centres, through a sigmoid.

    Soft k-means on directions: r_ik = softmax_k(beta cos(h_i, mu_k)), mu_k = sum_i r_ik h_i / sum_i r_ik. Centres start
    at the nodes `start` [K] and move for some iterations without a gradient, then once more with one.
    """
    import torch

    data = directions(rows)
    with torch.no_grad():
        centres = data[start]
        for _ in range(iterations):
            centres = _centres(data, _memberships(data, centres, beta))
    centres = _centres(data, _memberships(data, centres, beta))
    return torch.sigmoid(_memberships(data, centres, beta) @ centres)


def directions(rows: Tensor) -> Tensor:
    """Divide every row by its length; a zero row stays zero, with a finite gradient."""
    import torch

    lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return rows / torch.where(lengths > 0, lengths, 1)


def _memberships(data: Tensor, centres: Tensor, beta: float) -> Tensor:
    return (beta * (data @ directions(centres).t())).softmax(dim=1)


def _centres(data: Tensor, memberships: Tensor) -> Tensor:
    """Return cluster centres; a cluster without members has its centre at zero."""
    import torch

    sizes = memberships.sum(dim=0).clamp_min(torch.finfo(data.dtype).tiny)
    return (memberships.t() @ data) / sizes[:, None]


def _cross_entropy(true: Tensor, false: Tensor) -> Tensor:
    """Return the mean binary cross-entropy of logits that should be 1 and 0."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    logits = torch.cat([true, false])
    truth = torch.zeros_like(logits)
    truth[: true.numel()] = 1
    return binary_cross_entropy_with_logits(logits, truth)


TASKS.register(LinkTask())
