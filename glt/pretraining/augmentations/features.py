"""Attribute masking: some nodes show no features."""

from __future__ import annotations

import numpy as np

from glt.data.graph import Graph
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.augmentations.base import Augmentation, View, all_but, everything


class AttributeMasking(Augmentation):
    """The nodes stay with their edges; only their own features are zero."""

    name = "features"
    label = "Attribute masking"
    description = "Hides the features of a share of the nodes."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw whose features are hidden."""
        return View(graph.edges, everything(graph), all_but(graph, share, generator))


AUGMENTATIONS.register(AttributeMasking())
