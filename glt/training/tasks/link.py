"""Link prediction: an encoder trained on 85% of the edges, scored on the others against pairs without an edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import BaseModel, Field

from glt.config import Activation, Count, Positive, RunConfig, options_of
from glt.data.graph import Graph
from glt.data.link_split import held_out, split_links, training_graph
from glt.data.registry import DatasetSpec, load_graph
from glt.errors import ConfigError, DataError
from glt.models.base import TensorSpec
from glt.training.tasks import TASKS
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

if TYPE_CHECKING:
    from torch import Tensor

    from glt.training.link_objectives import LinkObjective

SLOPE, START_OF_SLOPE = "link.prelu", 0.25
OBJECTIVES = {"gic": "GIC", "bce": "binary cross-entropy"}
GRAPH_FORM, CLUSTER_FORM = "link.graph_form", "link.cluster_form"


class LinkOptions(BaseModel):
    """The split, the encoder's end and the objective; the defaults are the authors'."""

    link_objective: Literal["gic", "bce"] = Field(
        "gic", description="Trained on: GIC (self-supervised, the authors') or binary cross-entropy on edges (GAE)"
    )
    split_seed: Annotated[int, Field(ge=0)] = Field(0, description="Decides which edges are held out, for all seeds")
    link_dimension: Count = Field(16, description="Width of an embedding: the encoder is features-hidden-this")
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
    """The objective on training edges, and ROC-AUC on the edges held out."""

    def __init__(self, graph: Graph, options: LinkOptions, device: str) -> None:
        import torch

        split = split_links(graph, options.split_seed)
        parts = (split.val, split.val_negatives, split.test, split.test_negatives)
        self._objective = _objective(training_graph(graph, options.split_seed), options, device)
        self.shuffles = self._objective.shuffles
        self._pairs = torch.from_numpy(np.concatenate(parts, axis=1)).to(device)
        self._ends = np.cumsum([part.shape[1] for part in parts])[:-1]

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the objective's loss."""
        return self._objective.loss(step)

    def scores(self, output: Tensor, weights: Mapping[str, Tensor]) -> Scores:
        """Return validation and test ROC-AUC; raises DataError when a pair's score is not a number."""
        from glt.training.link_objectives import embeddings, roc_auc

        scores = self._objective.pair_scores(embeddings(output, weights), self._pairs).cpu().numpy()
        if not np.isfinite(scores).all():
            raise DataError("Embeddings grew beyond all bounds while links were trained: lower learning_rate.")
        val, val_negatives, test, test_negatives = np.split(scores, self._ends)
        return Scores(roc_auc(val, val_negatives), roc_auc(test, test_negatives))


class LinkTask(Task):
    """Edges of one graph, of which some are held out; which ones, `split_seed` alone decides."""

    name = "link"
    label = "Link prediction"
    description = "Tell held-out edges from pairs of nodes without one."
    metric = "ROC-AUC"
    Options = LinkOptions

    def outputs(self, classes: int, config: RunConfig) -> int:
        """The width of an embedding."""
        return options_of(config.options, LinkOptions).link_dimension

    def check(self, config: RunConfig, spec: DatasetSpec) -> None:
        """Refuse more clusters than nodes and a graph with too few edges to split, as far as is known unread."""
        super().check(config, spec)
        _check_clusters(options_of(config.options, LinkOptions), spec.label, spec.nodes)
        if not held_out(spec.edges)[0]:
            raise ConfigError(
                f"{spec.label} has {spec.edges} edges, too few to hold some out for link prediction: choose a data set "
                "with at least 20."
            )
        if spec.bundled:
            self.message_graph(load_graph(spec.name), config)

    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to the edges held out of the graph."""
        options = options_of(config.options, LinkOptions)
        _check_clusters(options, graph.name, graph.num_nodes)
        return LinkPrediction(graph, options, device)

    def objective(self, config: RunConfig) -> str:
        """Return what the embeddings are trained on."""
        return OBJECTIVES[options_of(config.options, LinkOptions).link_objective]

    def tensors(self, config: RunConfig, outputs: int) -> Sequence[TensorSpec]:
        """List the slope of the PReLU at the encoder's end and, for GIC, two bilinear forms."""
        specs = [TensorSpec(SLOPE, (1,), False, start=START_OF_SLOPE)]
        if options_of(config.options, LinkOptions).link_objective == "gic":
            specs += [TensorSpec(name, (outputs, outputs), False) for name in (GRAPH_FORM, CLUSTER_FORM)]
        return specs

    def message_graph(self, graph: Graph, config: RunConfig) -> Graph:
        """Return the graph with training edges only."""
        return training_graph(graph, options_of(config.options, LinkOptions).split_seed)

    def message_edges(self, edges: int) -> int:
        """Return how many edges are left for training."""
        return edges - sum(held_out(edges))


def _check_clusters(options: LinkOptions, where: str, nodes: int) -> None:
    if options.link_objective == "gic" and options.gic_clusters > nodes:
        raise ConfigError(
            f"gic_clusters cannot be {options.gic_clusters}: {where} has {nodes} nodes, so choose at most that many."
        )


def _objective(training: Graph, options: LinkOptions, device: str) -> LinkObjective:
    from glt.training.link_objectives import CrossEntropy, InfoClust

    if options.link_objective == "bce":
        return CrossEntropy(training, device)
    return InfoClust(options.gic_clusters, options.gic_beta, options.gic_iterations, options.gic_alpha)


TASKS.register(LinkTask())
