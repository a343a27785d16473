"""Which part of a graph to look at: a few hundred nodes chosen by one of the samplers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.subgraphs.growing import Neighbours
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from analysis.subgraphs.starting import random_start
from glt.data.graph import Graph, IntArray
from glt.errors import ConfigError
from glt.masks import BoolArray

DEFAULT_SIZE = 150


def sample_nodes(
    graph: Graph,
    kind: str = "walk",
    size: int = DEFAULT_SIZE,
    seed: int = 0,
    center: int | None = None,
    label: int | None = None,
    *,
    cut: BoolArray | None = None,
    nodes: Sequence[int] = (),
) -> IntArray:
    """Return at most `size` node indices in ascending order; the same arguments always give the same nodes.

    `kind` is one of SAMPLERS. Without `center` it starts at an end of a random edge (so rather at a hub) in a component
    of `size` nodes where there is one, for a class at one inside it. Walk and ego stay in the component of the center.
    `cut` [E] says which edges a round has removed, for "changed"; `nodes` are those asked for, for "nodes", which keeps
    all of them even beyond `size`.

    Raises ConfigError for an unknown kind, a size below 1, a node or a class that the graph does not have, and for a
    kind that lacks what it chooses by.
    """
    sampler = SAMPLERS.get(kind)
    if size < 1:
        raise ConfigError(f"A sample of {size} nodes shows nothing: choose a size of at least 1.")
    _check(graph, [*nodes, *([] if center is None else [center])], label)
    _check_given(sampler, cut, nodes)
    generator = np.random.default_rng(seed)
    start_label = label if "label" in sampler.uses else None
    choice = Choice(
        graph=graph,
        neighbours=Neighbours.of(graph),
        size=size,
        draw=seed,
        generator=generator,
        center=random_start(graph, generator, start_label, size) if center is None else center,
        label=label,
        cut=np.zeros(graph.num_edges, dtype=np.bool_) if cut is None else cut,
        nodes=np.unique(np.array(nodes, dtype=np.int64)),
    )
    return np.sort(sampler.choose(choice))


def _check(graph: Graph, nodes: Sequence[int], label: int | None) -> None:
    if graph.num_nodes == 0:
        raise ConfigError(f"{graph.name} has no nodes to show: choose another data set.")
    for node in nodes:
        if not 0 <= node < graph.num_nodes:
            raise ConfigError(f"There is no node {node} in {graph.name}: choose one from 0 to {graph.num_nodes - 1}.")
    if label is not None and not (graph.labels == label).any():
        if not graph.num_classes:
            raise ConfigError(f"The nodes of {graph.name} have no classes: choose another kind of sample.")
        raise ConfigError(f"No node of {graph.name} has class {label}: choose one from 0 to {graph.num_classes - 1}.")


def _check_given(sampler: Sampler, cut: BoolArray | None, nodes: Sequence[int]) -> None:
    if "cut" in sampler.uses and cut is None:
        raise ConfigError(
            f"The sample {sampler.label!r} is about a round: choose it on the page Subgraphs, or another."
        )
    if "nodes" in sampler.uses and not nodes:
        raise ConfigError(f"The sample {sampler.label!r} needs at least one node: name one, or choose another sample.")
