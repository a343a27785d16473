"""Tensors, widths and full masks of a config's network on a graph; needs no torch."""

from __future__ import annotations

from collections.abc import Sequence

from glt.config import RunConfig
from glt.data.graph import Graph, Sizes
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS, NetworkShape, TensorSpec
from glt.training.tasks import TASKS


def network_shape(config: RunConfig, sizes: Sizes) -> NetworkShape:
    """Return what decides the tensors of a config's network on a graph of these sizes."""
    outputs = TASKS.get(config.task).outputs(sizes.outputs, config)
    return NetworkShape(sizes.features, config.hidden, outputs, config.layers, config.options, sizes.edge_features)


def tensor_specs(config: RunConfig, shape: NetworkShape) -> Sequence[TensorSpec]:
    """List all trained tensors in the order in which they are drawn: the network's, then the task's own."""
    return [*MODELS.get(config.model).tensors(shape), *TASKS.get(config.task).tensors(config, shape.outputs)]


def full_masks(config: RunConfig, graph: Graph) -> Masks:
    """Return the masks of round 0 on the graph that carries messages: every edge entry and every prunable weight."""
    shape = network_shape(config, graph.sizes)
    shapes = MODELS.get(config.model).prunable_shapes(shape)
    return Masks(EdgeMask.full(config.edge_mask, graph.num_edges), WeightMask.full(shapes))
