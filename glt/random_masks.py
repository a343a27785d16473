"""Random masks that match another mask by group: pairs of classes, pairs of degree bins, degrees.

They are controls: does it matter which entries are kept, beyond how many of each kind?
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glt.config import EdgeMaskKind
from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask

FloatArray = NDArray[np.float64]


def end_pairs(graph: Graph, kind: EdgeMaskKind, of_node: IntArray) -> IntArray:
    """Return the group of each mask entry: the pair of its ends' values, ordered where the mask is directed."""
    low, high = of_node[graph.edges] - of_node.min(initial=0)
    width = int(of_node.max(initial=0) - of_node.min(initial=0)) + 1
    if kind == "undirected":
        low, high = np.minimum(low, high), np.maximum(low, high)
    pairs: IntArray = low * width + high
    return pairs if kind == "undirected" else np.concatenate([pairs, high * width + low])


def degree_bins(graph: Graph) -> IntArray:
    """Return each node's bin of degree, [N]: 1, 2 to 3, 4 to 7, ... neighbours; -1 without any."""
    degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes)
    exponents: IntArray = np.frexp(degrees)[1].astype(np.int64)
    return exponents - 1


def highest_by_group(values: FloatArray, groups: IntArray, matched: BoolArray) -> BoolArray:
    """Mark the highest values of each group, as many as `matched` keeps there.

    >>> highest_by_group(np.array([0.1, 0.9, 0.5]), np.array([0, 0, 1]), np.array([True, False, False])).tolist()
    [False, True, False]
    """
    _, group = np.unique(groups, return_inverse=True)
    order = np.lexsort((-values, group))
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    place = np.arange(values.size) - starts[group[order]]
    wanted = np.bincount(group, weights=matched, minlength=sizes.size)
    keep = np.zeros(values.size, dtype=np.bool_)
    keep[order] = place < wanted[group[order]]
    return keep


def draw_with_degrees(graph: Graph, matched: EdgeMask, values: FloatArray) -> EdgeMask:
    """Draw entries so that every node sends and receives as many as under `matched`, a directed mask.

    Of all such masks it is the one with the largest sum of random `values`: a transportation problem, whose linear
    relaxation has a binary solution (its constraint matrix is totally unimodular).
    """
    if not values.size:
        return matched
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    sources = np.concatenate([graph.edges[0], graph.edges[1]])
    targets = np.concatenate([graph.edges[1], graph.edges[0]])
    entries, nodes = np.arange(sources.size), graph.num_nodes
    ends = np.concatenate([sources, nodes + targets])
    incidence = csr_array((np.ones(ends.size), (ends, np.tile(entries, 2))), shape=(2 * nodes, entries.size))
    solved = linprog(-values, A_eq=incidence, b_eq=incidence @ matched.keep.astype(np.float64), bounds=(0, 1))
    if not solved.success:
        raise ValueError(f"no draw with these degrees was found: {solved.message}")
    return EdgeMask(matched.kind, solved.x > 0.5)
