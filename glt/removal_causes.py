"""Causes of removals: gradient, no gradient, random, score or solver.

A search trains mask values by the gradient of the training loss. An entry on which no output of a training node depends
has no such gradient: penalty and weight decay lower its mask like every other one, so its rank is that of its random
start. These entries follow from graph, previous masks and config, without training.
"""

from __future__ import annotations

import numpy as np

from glt.config import RunConfig
from glt.datasets.graph import Graph
from glt.masks import BoolArray, EdgeMask
from glt.methods import METHODS
from glt.methods.base import Cause
from glt.models import MODELS
from glt.receptive_field import values_with_gradient
from glt.training.tasks import TASKS


def had_gradient(config: RunConfig, graph: Graph, previous: EdgeMask) -> BoolArray | None:
    """Mark the entries [keep.size] with a data gradient in the search after `previous`.

    `graph` is the message graph. Entries not searched are False. A search that prunes while training starts
    from all entries, and an entry with a gradient has it in the first epoch. None if no masks are trained, or if it
    cannot be derived (`why_underived`).
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
    """Mark the entries a round's search removed, given the masks before and after."""
    if METHODS.get(config.method).searched_edges(config) == "all":
        return ~mask.keep
    return previous.keep & ~mask.keep


def cuts_without_gradient(config: RunConfig, graph: Graph, previous: EdgeMask, mask: EdgeMask) -> float | None:
    """Return the share of a round's removed entries without a data gradient.

    None if `had_gradient` is None, or nothing was removed.
    """
    gradient = had_gradient(config, graph, previous)
    removed = removed_in(config, previous, mask)
    count = int(removed.sum())
    if gradient is None or not count:
        return None
    return int((removed & ~gradient).sum()) / count


def cause_of(config: RunConfig, with_gradient: bool | None) -> Cause | None:
    """Return the cause of a removal, given `had_gradient` of the entry; None if unknown."""
    method = METHODS.get(config.method)
    if method.searched_edges(config) is None:
        return method.cause
    if with_gradient is None:
        return None
    return "gradient" if with_gradient else "no gradient"


def why_underived(config: RunConfig) -> str:
    """Return why gradients cannot be derived afterwards; "" if they can."""
    if METHODS.get(config.method).searched_edges(config) is None:
        return ""
    if MODELS.get(config.model).clusters(config) is not None:
        return (
            "in mini-batches an entry passes messages only if both its ends are in one cluster, and clusters are not "
            "stored"
        )
    return ""
