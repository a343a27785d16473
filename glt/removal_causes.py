"""What decided that an edge entry was removed: a gradient, no gradient, a random draw or a solver.

A search trains a mask value by the gradient of the training loss. An entry on which no output of a training node
depends has no such gradient: penalty and weight decay lower its mask as they lower every other, so that its rank among
entries of its kind is that of its random start. Which entries these are follows from the graph, the masks before the
round and the config; nothing is trained to find out.
"""

from __future__ import annotations

import numpy as np

from glt.config import RunConfig
from glt.data.graph import Graph
from glt.masks import BoolArray, EdgeMask
from glt.methods import METHODS
from glt.methods.base import Cause
from glt.models import MODELS
from glt.receptive_field import values_with_gradient
from glt.training.tasks import TASKS


def had_gradient(config: RunConfig, graph: Graph, previous: EdgeMask) -> BoolArray | None:
    """Say of each entry of the mask [keep.size] whether it had a data gradient in the search after `previous`.

    `graph` is the one that carries the run's messages. False too for entries that were not searched. A search that
    prunes as it goes starts from all entries, and what has a gradient at all has it in the first epoch. None where no
    masks are trained, or where it cannot be derived (`why_underived`).
    """
    searched = METHODS.get(config.method).searched_edges(config)
    if searched is None or why_underived(config):
        return None
    mask = previous if searched == "survivors" else EdgeMask.full(previous.kind, previous.num_edges)
    loss_nodes = TASKS.get(config.task).loss_nodes(graph)
    effect = MODELS.get(config.model).mask_effect(config)
    found = np.zeros(mask.keep.size, dtype=np.bool_)
    found[mask.keep] = values_with_gradient(graph, mask, loss_nodes, config.layers, effect)
    return found


def removed_in(config: RunConfig, previous: EdgeMask, mask: EdgeMask) -> BoolArray:
    """Say of each entry whether the search of a round removed it, given the masks before the round and after it."""
    if METHODS.get(config.method).searched_edges(config) == "all":
        return ~mask.keep
    return previous.keep & ~mask.keep


def cuts_without_gradient(config: RunConfig, graph: Graph, previous: EdgeMask, mask: EdgeMask) -> float | None:
    """Return the share, among the entries a round's search removed, of those without a data gradient.

    None where `had_gradient` is None, and for a round that removed nothing.
    """
    gradient = had_gradient(config, graph, previous)
    removed = removed_in(config, previous, mask)
    count = int(removed.sum())
    if gradient is None or not count:
        return None
    return int((removed & ~gradient).sum()) / count


def cause_of(config: RunConfig, with_gradient: bool | None) -> Cause | None:
    """Return what decided about an entry that is gone, given `had_gradient` of it; None where that is not known."""
    method = METHODS.get(config.method)
    if method.searched_edges(config) is None:
        return method.cause
    if with_gradient is None:
        return None
    return "gradient" if with_gradient else "no gradient"


def why_underived(config: RunConfig) -> str:
    """Say why nobody can tell afterwards which masks of a search had a gradient; "" where it can be derived."""
    if METHODS.get(config.method).searched_edges(config) is None:
        return ""
    if MODELS.get(config.model).clusters(config) is not None:
        return (
            "in mini-batches an entry passes messages only in epochs that draw both its ends into one cluster, and the "
            "draws are not stored"
        )
    return ""
