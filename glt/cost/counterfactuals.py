"""What the MACs of a pruned network come from: counted again as if only edges, or only weights, had been pruned."""

from __future__ import annotations

from glt.config import RunConfig
from glt.cost.macs import MacReport, macs
from glt.data.graph import Graph
from glt.masks import Masks
from glt.training.shapes import full_masks


def counterfactuals(config: RunConfig, graph: Graph, masks: Masks) -> dict[str, MacReport]:
    """Return the MACs on the message `graph` as {"dense", "graph_only", "weight_only", "both"}."""
    full = full_masks(config, graph)
    pruned = {
        "dense": full,
        "graph_only": Masks(masks.edges, full.weights),
        "weight_only": Masks(full.edges, masks.weights),
        "both": masks,
    }
    return {name: macs(config, graph, each) for name, each in pruned.items()}
