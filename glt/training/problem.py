"""Problem: a config and a graph on a device, shared by all seeds and rounds; with its tensors and full masks.

Only a `Problem` itself needs torch; shapes, tensors and masks do not, so estimates and pages can ask for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.datasets.graph import Graph, Sizes
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS, NetworkShape, TensorSpec, initial_weights
from glt.seeds import stream
from glt.training.tasks import TASKS

Arrays = Mapping[str, NDArray[np.float32]]


def network_shape(config: RunConfig, sizes: Sizes) -> NetworkShape:
    """Return what decides the tensors of a config's network on a graph of these sizes."""
    outputs = TASKS.get(config.task).outputs(sizes.outputs, config)
    return NetworkShape(sizes.features, config.hidden, outputs, config.layers, config.options, sizes.edge_features)


def tensor_specs(config: RunConfig, shape: NetworkShape) -> Sequence[TensorSpec]:
    """List all trained tensors in the order they are drawn: the network's, then the task's."""
    return [*MODELS.get(config.model).tensors(shape), *TASKS.get(config.task).tensors(config, shape.outputs)]


def full_masks(config: RunConfig, graph: Graph) -> Masks:
    """Return the masks of round 0 on the message graph: every edge entry and prunable weight."""
    shapes = MODELS.get(config.model).prunable_shapes(network_shape(config, graph.sizes))
    return Masks(EdgeMask.full(config.edge_mask, graph.num_edges), WeightMask.full(shapes))


class Problem:
    """Model, task and features of a run; `whole` is the data set's graph, `graph` its message graph."""

    def __init__(self, config: RunConfig, graph: Graph, device: str = "cpu") -> None:
        from glt.sparse import features_of

        task = TASKS.get(config.task)
        self.config = config
        self.whole = graph
        self.graph = task.message_graph(graph, config)
        self.device = device
        self.model = MODELS.get(config.model)
        self.specs = tensor_specs(config, network_shape(config, graph.sizes))
        self.task = task.bind(graph, config, device)
        self.features = features_of(graph, device, keep_product=self.task.shuffles)

    def under(self, config: RunConfig) -> Problem:
        """Return the problem of another config on the same graph; links held out stay the same."""
        return Problem(config, self.whole, self.device)

    def full_masks(self) -> Masks:
        """Return the masks of round 0."""
        return full_masks(self.config, self.graph)

    def initial_weights(self, seed: int, draw: int = 0) -> Arrays:
        """Draw theta_0, which depends on seed, network and number of the draw alone."""
        return initial_weights(self.specs, stream(seed, draw, "init"))
