"""The layout of large components and the static picture of a whole graph."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from matplotlib.image import imread

from analysis.subgraphs import make_panel, original_panel, take
from analysis.subgraphs.layout import LARGE, layout, pivot_layout
from analysis.subgraphs.overview import overview_png
from analysis.subgraphs.samplers import find_communities
from glt.data import Graph
from glt.masks import EdgeMask

PNG = b"\x89PNG"


def test_pivots_draw_a_path_in_its_order() -> None:
    path = np.stack([np.arange(119), np.arange(1, 120)])
    along = pivot_layout(120, path, seed=0)[:, 0]
    assert (np.diff(along) > 0).all() or (np.diff(along) < 0).all()


def test_pivots_are_the_distances_of_the_graph_when_they_can_be() -> None:
    """On a path every distance lies on a line: classical scaling then gives them back, up to one factor."""
    path = np.stack([np.arange(29), np.arange(1, 30)])
    along = pivot_layout(30, path, seed=0)[:, 0]
    steps = np.abs(np.diff(along))
    assert np.allclose(steps, steps[0], rtol=1e-6)


def test_a_large_component_is_the_same_again_and_keeps_groups_together(cora: Graph) -> None:
    part = take(cora, np.arange(cora.num_nodes))
    assert part.nodes.size > LARGE
    assert np.array_equal(part.positions, layout(cora.num_nodes, part.edges))
    assert np.isfinite(part.positions).all()
    groups = find_communities(cora)
    largest = np.argsort(-np.bincount(groups))[:6]
    inside = [np.median(np.linalg.norm(spread(part.positions[groups == k]), axis=1)) for k in largest]
    whole = np.median(np.linalg.norm(spread(part.positions), axis=1))
    assert np.mean(inside) < 0.5 * whole
    assert len(np.unique(part.positions.round(3), axis=0)) > 0.99 * cora.num_nodes


def spread(positions: np.ndarray) -> np.ndarray:
    return positions - np.median(positions, axis=0)


def test_the_static_picture_shows_what_is_marked_and_what_went(cora: Graph) -> None:
    part = take(cora, np.arange(cora.num_nodes))
    original = original_panel(cora, part)
    nobody = overview_png(original, np.empty(0, dtype=np.int64))
    assert nobody.startswith(PNG)
    assert overview_png(original, np.empty(0, dtype=np.int64)) == nobody
    marked = overview_png(original, np.arange(100))
    full = EdgeMask.full("undirected", cora.num_edges)
    pruned = make_panel(cora, part, EdgeMask("undirected", np.arange(cora.num_edges) % 2 > 0), "", full)
    plain, with_marks, with_cuts = (pixels(png) for png in (nobody, marked, overview_png(pruned, np.arange(0))))
    assert dark(with_marks) > dark(plain) + 500, "outlines are as dark as text"
    assert orange(with_cuts) > orange(plain) + 5_000
    assert pixels(overview_png(original, np.arange(0), dark=True))[0, 0].sum() < 0.5


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(imread(BytesIO(png)))[..., :3]


def dark(picture: np.ndarray) -> int:
    return int((picture.max(axis=2) < 0.3).sum())


def orange(picture: np.ndarray) -> int:
    red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
    return int(((red - green > 0.25) & (green > blue)).sum())
