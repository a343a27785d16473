"""Deterministic layouts of subgraphs: each connected component by itself, then side by side."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from glt.datasets.graph import IntArray

_lock = threading.Lock()


@contextmanager
def seeded_igraph(seed: int) -> Iterator[None]:
    """Seed igraph's random numbers; its generator is global, so one thread at a time."""
    import igraph

    with _lock:
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)


PIVOTS = 50


def pivot_layout(num_nodes: int, edges: IntArray, seed: int) -> NDArray[np.float64]:
    """Return [n, 2] positions of a connected graph by pivot multidimensional scaling (Brandes and Pich 2007).

    Distances are computed from `PIVOTS` nodes only, so time and memory are linear in edges and nodes.
    """
    rows, columns = np.concatenate([edges, edges[::-1]], axis=1)
    matrix = csr_array((np.ones(rows.size), (rows, columns)), shape=(num_nodes, num_nodes))
    pivots = np.random.default_rng(seed).choice(num_nodes, size=min(PIVOTS, num_nodes), replace=False)
    squared = shortest_path(matrix, unweighted=True, indices=pivots).T ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    directions = np.linalg.svd(centred.T @ centred)[0][:, :2]
    return np.asarray(centred @ directions)


Positions = NDArray[np.float64]

UNFOLDING_STEPS = 500
SPREADING_STEPS = 300
SPREADING_PAIRS = 12_000_000
# Larger components are drawn by a faster, rougher method.
LARGE = 1500
LARGE_STEPS = 80
SPACING = 0.6
SHORTEST_TYPICAL_EDGE = 0.9
GAP = 1.2
WIDTH_TO_HEIGHT = 1.5


def layout(num_nodes: int, edges: IntArray, seed: int = 0) -> Positions:
    """Return [n, 2] positions around the origin; the same arguments always give the same ones.

    `edges` is [2, m] of positions in the nodes. Each component is drawn by Fruchterman and Reingold (1991), then
    graphopt, which separates hubs; its longer side is horizontal. Components of more than LARGE nodes start from
    `pivot_layout`, followed by a few steps of Fruchterman and Reingold on a grid. A component covers about one square
    unit per node.
    """
    ones = np.ones(edges.shape[1], dtype=np.int8)
    matrix = csr_array((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    count, component = connected_components(matrix, directed=False)
    members = [np.flatnonzero(component == number) for number in range(count)]
    members.sort(key=lambda nodes: (-nodes.size, nodes[0]))
    positions = np.zeros((num_nodes, 2))
    drawn = [_draw(nodes, edges[:, component[edges[0]] == component[nodes[0]]], seed) for nodes in members]
    for nodes, part, corner in zip(members, drawn, _pack([np.ptp(part, axis=0) for part in drawn]), strict=True):
        positions[nodes] = part - part.min(axis=0) + corner
    return positions - (positions.max(axis=0) + positions.min(axis=0)) / 2 if num_nodes else positions


def _draw(nodes: IntArray, edges: IntArray, seed: int) -> Positions:
    if nodes.size == 1:
        return np.zeros((1, 2))
    import igraph

    ends = np.searchsorted(nodes, edges)
    picture = igraph.Graph(n=nodes.size, edges=ends.T.tolist())
    if nodes.size > LARGE:
        return _turn_and_scale(_draw_large(picture, ends, seed), ends)
    steps = min(SPREADING_STEPS, SPREADING_PAIRS // nodes.size**2)
    with seeded_igraph(seed):
        unfolded = picture.layout("fr", niter=UNFOLDING_STEPS, grid=False)
        spread = picture.layout("graphopt", niter=steps, seed=unfolded) if steps else unfolded
    return _turn_and_scale(np.array(spread.coords, dtype=np.float64), ends)


def _draw_large(picture: Any, edges: IntArray, seed: int) -> Positions:
    count = picture.vcount()
    raw = pivot_layout(count, edges, seed)
    raw = _evened(raw, 1)
    # Nodes with equal distances would share a position, where no force separates them.
    raw += np.random.default_rng(seed).normal(size=raw.shape)
    with seeded_igraph(seed):
        found = picture.layout_fruchterman_reingold(
            niter=LARGE_STEPS, grid=True, seed=raw.tolist(), start_temp=np.sqrt(count) / 20
        )
    return _evened(np.array(found.coords, dtype=np.float64), 0.5)


def _evened(raw: Positions, share: float) -> Positions:
    """Move nodes radially towards an evenly filled disc, completely for a share of 1.

    Otherwise a few long branches would compress all other nodes.
    """
    centred = raw - np.median(raw, axis=0)
    far = np.maximum(np.linalg.norm(centred, axis=1), 1e-9)
    evenly = SPACING * np.sqrt(np.argsort(np.argsort(far)) + 1)
    radius = far ** (1 - share) * evenly**share
    return np.asarray(centred * (radius / far)[:, None])


def _turn_and_scale(raw: Positions, edges: IntArray) -> Positions:
    centred = raw - raw.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    # The decomposition does not determine the signs: the farthest node is put at the right and below.
    farthest = turned[np.abs(turned).argmax(axis=0), [0, 1]]
    turned *= np.where(farthest < 0, -1, 1)
    width, height = np.ptp(turned, axis=0)
    typical_edge = np.median(np.linalg.norm(turned[edges[0]] - turned[edges[1]], axis=1))
    side = (np.sqrt(len(raw)) - 1) / np.sqrt(width * max(height, width / 2))
    return np.asarray(turned * max(side, SHORTEST_TYPICAL_EDGE / typical_edge))


def _pack(sides: list[NDArray[np.float64]]) -> list[tuple[float, float]]:
    """Return the corner of each box (width, height), largest first, in rows of about the picture's width."""
    area = sum((width + GAP) * (height + GAP) for width, height in sides)
    widest = max([float(width) + GAP for width, _ in sides] + [np.sqrt(WIDTH_TO_HEIGHT * area)])
    corners: list[tuple[float, float]] = []
    x = y = row = 0.0
    for width, height in sides:
        if x and x + width > widest:
            x, y, row = 0.0, y + row, 0.0
        corners.append((x, y))
        x, row = x + width + GAP, max(row, height + GAP)
    return corners
