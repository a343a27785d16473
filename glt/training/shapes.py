"""Widths and full masks of a config's network on a graph; needs no torch."""

from __future__ import annotations

from glt.config import RunConfig
from glt.data.graph import Graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS, NetworkShape
from glt.training.tasks import TASKS


def network_shape(config: RunConfig, graph: Graph) -> NetworkShape:
    """Return the widths a config's network has on a graph."""
    outputs = TASKS.get(config.task).outputs(graph)
    return NetworkShape(graph.num_features, config.hidden, outputs, config.layers)


def full_masks(config: RunConfig, graph: Graph) -> Masks:
    """Return the masks of round 0: every edge entry and every prunable weight."""
    shapes = MODELS.get(config.model).prunable_shapes(network_shape(config, graph))
    return Masks(EdgeMask.full(config.edge_mask, graph.num_edges), WeightMask.full(shapes))
