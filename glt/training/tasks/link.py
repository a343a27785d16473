"""Link prediction: an encoder trained on some edges, scored on others against pairs without an edge.

The edges held out are 15% of all, or those of a data set that brings a split of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from glt.config import Activation, Count, Positive, RunConfig, options_of
from glt.data.graph import Graph, LinkSplit
from glt.data.link_split import held_out, split_links, training_graph
from glt.data.registry import DatasetSpec, load_graph
from glt.errors import ConfigError, DataError
from glt.models import MODELS
from glt.models.base import TensorSpec
from glt.training.collapse import Chance, auc_by_chance, hits_by_chance
from glt.training.evaluators import HITS_AT, evaluator_of, link_score, load_evaluator
from glt.training.tasks import TASKS
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

if TYPE_CHECKING:
    from torch import Tensor

    from glt.training.link_objectives import LinkObjective

SLOPE, START_OF_SLOPE = "link.prelu", 0.25
OBJECTIVES = {"gic": "GIC", "bce": "binary cross-entropy", "hadamard": "Hadamard products"}
GRAPH_FORM, CLUSTER_FORM = "link.graph_form", "link.cluster_form"
PREDICTOR_LAYERS = 3


class LinkOptions(BaseModel):
    """The split, the encoder's end and the objective; the defaults are the authors'."""

    link_objective: Literal["gic", "bce", "hadamard"] = Field(
        "gic",
        description="Trained on: GIC (self-supervised, the authors'), binary cross-entropy on edges (GAE), or the same "
        "with an MLP on the product of two rows (the authors' for ogbl-collab)",
    )
    split_seed: Annotated[int, Field(ge=0)] = Field(
        0, description="Decides which edges are held out, for all seeds; nothing where a data set brings its split"
    )
    link_dimension: Count = Field(
        16, description="Width of an embedding: the encoder is features-hidden-this; hadamard has hidden in its place"
    )
    hidden_activation: Activation = Field("none", description="What stands between the encoder's layers")
    gic_clusters: Count = Field(128, description="GIC: number of soft clusters")
    gic_beta: Positive = Field(100.0, description="GIC: how sharply a node belongs to its nearest cluster")
    gic_alpha: Annotated[float, Field(ge=0, le=1)] = Field(
        0.5, description="GIC: weight of the graph's summary in the loss; the clusters' has the rest"
    )
    gic_iterations: Annotated[int, Field(ge=0)] = Field(
        10, description="GIC: steps of soft k-means before the one that has a gradient"
    )


class LinkPrediction(BoundTask):
    """The objective on training edges; ROC-AUC on the edges held out, or Hits@K by ogb's evaluator."""

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
        """Return validation and test score; raises DataError when a pair's score is not a number."""
        scores = self._objective.scores(output, weights, self._pairs).cpu().numpy()
        if not np.isfinite(scores).all():
            raise DataError("Embeddings grew beyond all bounds while links were trained: lower learning_rate.")
        val, val_negatives, test, test_negatives = np.split(scores, self._ends)
        return Scores(self._score(val, val_negatives), self._score(test, test_negatives))

    def _score(self, true: NDArray[np.float32], false: NDArray[np.float32]) -> float:
        from glt.training.link_objectives import roc_auc

        return link_score(self._evaluator, true, false) if self._evaluator else roc_auc(true, false)


class LinkTask(Task):
    """Edges of one graph, of which some are held out; which ones, `split_seed` alone decides."""

    name = "link"
    label = "Link prediction"
    description = "Tell held-out edges from pairs of nodes without one."
    metric = "ROC-AUC"
    Options = LinkOptions

    def metric_on(self, spec: DatasetSpec) -> str:
        """Return ROC-AUC, or Hits@K where a data set brings its split and ogb scores it."""
        return f"Hits@{HITS_AT}" if brings_split(spec) else self.metric

    def outputs(self, classes: int, config: RunConfig) -> int:
        """The width of an embedding, or of the rows whose products a predictor sees."""
        options = options_of(config.options, LinkOptions)
        return config.hidden if options.link_objective == "hadamard" else options.link_dimension

    def chance(self, graph: Graph, config: RunConfig) -> Chance | None:
        """Return one half for ROC-AUC, and what a guess has as Hits@K where a data set brings its split."""
        if graph.links:
            return hits_by_chance(graph.links.val.shape[1], graph.links.val_negatives.shape[1], HITS_AT)
        pairs = np.array([held_out(graph.num_edges)[0]])
        return auc_by_chance(pairs, pairs)

    def check(self, config: RunConfig, spec: DatasetSpec) -> None:
        """Refuse more clusters than nodes and a graph with too few edges to split, as far as is known unread."""
        super().check(config, spec)
        sizes = spec.sizes
        _check_clusters(options_of(config.options, LinkOptions), spec.label, sizes.nodes)
        if MODELS.get(config.model).clusters(config) is not None:
            raise ConfigError(
                "batch_clusters cuts the pairs that links are predicted for: set it to 0 for task 'link'."
            )
        if not brings_split(spec) and not held_out(sizes.edges)[0]:
            raise ConfigError(
                f"{spec.label} has {sizes.edges} edges, too few to hold some out for link prediction: choose a data "
                "set with at least 20."
            )
        if spec.bundled:
            self.message_graph(load_graph(spec.name), config)

    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to the edges held out of the graph; raises DataError for a split that has no score."""
        options = options_of(config.options, LinkOptions)
        _check_clusters(options, graph.name, graph.num_nodes)
        evaluator = evaluator_of(config.dataset) if graph.links else ""
        load_evaluator("linkproppred", evaluator)
        split = graph.links or split_links(graph, options.split_seed)
        if evaluator:
            _check_split(split, graph.name)
        objective = _objective(self.message_graph(graph, config), split, options, device)
        return LinkPrediction(split, objective, evaluator, device)

    def objective(self, config: RunConfig) -> str:
        """Return what the embeddings are trained on."""
        return OBJECTIVES[options_of(config.options, LinkOptions).link_objective]

    def tensors(self, config: RunConfig, outputs: int) -> Sequence[TensorSpec]:
        """List what an objective trains: a predictor, or the slope of the PReLU at the encoder's end.

        GIC has two bilinear forms beside the slope.
        """
        objective = options_of(config.options, LinkOptions).link_objective
        if objective == "hadamard":
            return _predictor(outputs)
        specs = [TensorSpec(SLOPE, (1,), False, start=START_OF_SLOPE)]
        if objective == "gic":
            specs += [TensorSpec(name, (outputs, outputs), False) for name in (GRAPH_FORM, CLUSTER_FORM)]
        return specs

    def message_graph(self, graph: Graph, config: RunConfig) -> Graph:
        """Return the graph with training edges only, which a graph that brings its split has from the beginning."""
        if graph.links:
            return graph
        return training_graph(graph, options_of(config.options, LinkOptions).split_seed)

    def message_edges(self, edges: int, spec: DatasetSpec) -> int:
        """Return how many edges are left for training: all of a data set that brings its split."""
        return edges if brings_split(spec) else edges - sum(held_out(edges))


def brings_split(spec: DatasetSpec) -> bool:
    """Say, unread, whether a data set has a split of its own for links: those have that ogb scores for them."""
    return spec.evaluator.startswith("ogbl-")


def predictor_names() -> list[str]:
    """Return the names of the predictor's maps, each of a weight and a bias.

    >>> predictor_names()
    ['link.predictor.0', 'link.predictor.1', 'link.predictor.2']
    """
    return [f"link.predictor.{layer}" for layer in range(PREDICTOR_LAYERS)]


def _predictor(width: int) -> list[TensorSpec]:
    specs = []
    for name, outputs in zip(predictor_names(), [*[width] * (PREDICTOR_LAYERS - 1), 1], strict=True):
        specs += [TensorSpec(f"{name}.weight", (width, outputs), False)]
        specs += [TensorSpec(f"{name}.bias", (outputs,), False, start=0.0)]
    return specs


def _check_split(split: LinkSplit, where: str) -> None:
    """Refuse, before an epoch is trained, what Hits@K cannot be of: ogb gives 1 for fewer than K negatives."""
    parts = {"validation": (split.val, split.val_negatives), "test": (split.test, split.test_negatives)}
    for name, (edges, negatives) in parts.items():
        if not edges.size or negatives.shape[1] < HITS_AT:
            raise DataError(
                f"{where} has {edges.shape[1]} {name} edges and {negatives.shape[1]} pairs without one, but "
                f"Hits@{HITS_AT} needs an edge and at least {HITS_AT} pairs: use a larger part of the data set."
            )


def _check_clusters(options: LinkOptions, where: str, nodes: int) -> None:
    if options.link_objective == "gic" and options.gic_clusters > nodes:
        raise ConfigError(
            f"gic_clusters cannot be {options.gic_clusters}: {where} has {nodes} nodes, so choose at most that many."
        )


def _objective(training: Graph, split: LinkSplit, options: LinkOptions, device: str) -> LinkObjective:
    from glt.training.hadamard import Hadamard
    from glt.training.link_objectives import CrossEntropy, InfoClust

    if options.link_objective == "hadamard":
        return Hadamard(split.train, training.num_nodes, device)
    if options.link_objective == "bce":
        return CrossEntropy(training, device)
    return InfoClust(options.gic_clusters, options.gic_beta, options.gic_iterations, options.gic_alpha)


TASKS.register(LinkTask())
