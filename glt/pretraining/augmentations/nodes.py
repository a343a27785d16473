"""Node dropping: some nodes leave, and their edges with them."""

from __future__ import annotations

import numpy as np

from glt.data.graph import Graph
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.augmentations.base import Augmentation, View, all_but, everything, induced


class NodeDropping(Augmentation):
    """The graph that is induced by the nodes that stay."""

    name = "nodes"
    label = "Node dropping"
    description = "Drops a share of the nodes with all their edges."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw which nodes go."""
        members = all_but(graph, share, generator)
        return View(induced(graph, members), members, everything(graph))


AUGMENTATIONS.register(NodeDropping())
