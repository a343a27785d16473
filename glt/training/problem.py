"""Problem: a config and a graph, tied to a device: what every stage of every round shares."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.data.graph import Graph
from glt.masks import Masks
from glt.models import MODELS, initial_weights
from glt.randomness import stream
from glt.sparse import features_of
from glt.training.shapes import full_masks, network_shape, tensor_specs
from glt.training.tasks import TASKS

Arrays = Mapping[str, NDArray[np.float32]]


class Problem:
    """The model, the task and the features of a run; equal for all its seeds and rounds.

    `graph` is the whole graph of the data set, kept as `whole`; the attribute `graph` is the part of it that carries
    messages.
    """

    def __init__(self, config: RunConfig, graph: Graph, device: str = "cpu") -> None:
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
        """Return the problem another config makes of the same graph; for links, the same edges are held out."""
        return Problem(config, self.whole, self.device)

    def full_masks(self) -> Masks:
        """Return the masks of round 0: every edge and every weight."""
        return full_masks(self.config, self.graph)

    def initial_weights(self, seed: int, draw: int = 0) -> Arrays:
        """Draw theta_0 of a seed; it depends on the seed, the network and the number of the draw alone."""
        return initial_weights(self.specs, stream(seed, draw, "init"))
