"""Where the inset looks and where it stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ablation import EDGE, NUMBERS, PanelAxes, panel_axes, zoom_box
from analysis.figures.curves import Window

FULL = Window(0.0, 100.0)


def table(curves: Sequence[tuple[Sequence[float], Sequence[float]]], dense: float = 0.81) -> pd.DataFrame:
    """A curve table of places (fractions, or counts) and means; round 0 of every run at its first place."""
    rows = [
        {
            "run": f"run {n}",
            "method": "ugs",
            "round": k,
            "x": place,
            "mean": mean,
            "low": np.nan,
            "high": np.nan,
            "dense": dense,
        }
        for n, (places, means) in enumerate(curves)
        for k, (place, mean) in enumerate(zip(places, means, strict=True))
    ]
    return pd.DataFrame(rows)


PLACES = np.linspace(0, 0.8, 9)


def test_the_box_lies_where_the_curves_are_closest() -> None:
    wide = np.where((PLACES > 0.25) & (PLACES < 0.55), 0.01, 0.10)
    upper = 0.8 - 0.3 * PLACES
    box = zoom_box(table([(PLACES, upper), (PLACES, upper - wide)]), "graph", FULL)
    assert box is not None
    assert 25 <= box.left < box.right <= 60
    between = np.flatnonzero(np.abs(200 * PLACES - box.left - box.right) <= box.right - box.left)
    assert box.low < 100 * (upper - wide)[between].min()
    assert box.high > 100 * upper[between].max()


def test_round_0_which_all_share_does_not_count() -> None:
    falling = [(PLACES, 0.8 - slope * PLACES) for slope in (0.0, 0.01, 0.02)]
    box = zoom_box(table(falling), "graph", FULL)
    assert box is not None
    assert box.left == pytest.approx(10)


@pytest.mark.parametrize(
    "curves",
    [
        [(PLACES, 0.8 - 0.1 * PLACES)],
        [([0.0], [0.8]), ([0.0], [0.8])],
        [([0.0, 0.05, 0.1], [0.8, 0.8, 0.8]), ([0.0, 0.2, 0.4], [0.8, 0.8, 0.8])],
        [(PLACES, np.full(9, 0.9)), (PLACES, np.full(9, 0.1))],
    ],
    ids=["one curve", "no pruned round", "no stretch in common", "nowhere close"],
)
def test_without_anything_to_enlarge_there_is_no_box(curves: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
    assert zoom_box(table(curves), "graph", FULL) is None


def test_where_a_curve_has_left_the_window_there_is_no_box() -> None:
    steps = 0.8 - np.maximum(PLACES - 0.3, 0)
    curves = table([(PLACES, 0.8 - 0.1 * PLACES), (PLACES, steps)])
    box = zoom_box(curves, "graph", Window(60, 85))
    assert box is not None
    assert box.right <= 55
    assert zoom_box(curves, "graph", Window(81, 85)) is None


def test_macs_run_from_dense_to_sparse() -> None:
    counts = 2e9 * 0.8 ** np.arange(12)
    box = zoom_box(table([(counts, np.linspace(0.8, low, 12)) for low in (0.7, 0.71)]), "macs", FULL)
    assert box is not None
    assert 2000 > box.left > box.right > 100


@given(
    st.lists(st.lists(st.floats(0.2, 0.9), min_size=6, max_size=6), min_size=2, max_size=4),
    st.sampled_from(["graph", "macs"]),
    st.booleans(),
)
def test_all_of_the_inset_lies_inside_its_panel(heights: list[list[float]], x: str, near: bool) -> None:
    places = [1e9 * 0.7**k if x == "macs" else 1 - 0.9**k for k in range(6)]
    axes = panel_axes(table([(places, means) for means in heights], dense=heights[0][0]), x, near)
    assert (axes.first > axes.last) == (x == "macs")
    assert (axes.box is None) == (axes.corner is None)
    if axes.box is not None and axes.corner is not None:
        box, corner = axes.box, axes.corner
        assert min(axes.first, axes.last) < min(box.left, box.right) < max(box.left, box.right)
        assert max(box.left, box.right) < max(axes.first, axes.last)
        assert NUMBERS[0] <= corner.left <= 1 - EDGE - corner.width
        assert NUMBERS[1] <= corner.low <= 1 - EDGE - corner.height


def test_the_inset_takes_the_free_corner() -> None:
    falling = [(PLACES, 0.8 - slope * PLACES**2) for slope in (0.30, 0.31)]
    axes = panel_axes(table(falling, dense=0.8), "graph")
    assert axes.corner is not None
    assert (axes.corner.left, axes.corner.low) == (EDGE + NUMBERS[0], EDGE + NUMBERS[1])


def test_curves_in_every_corner_are_lifted_over_the_inset() -> None:
    dips = [0.80, 0.75, 0.76, 0.79, 0.80, 0.80, 0.80, 0.79, 0.79]
    ends = [0.80, 0.80, 0.80, 0.80, 0.80, 0.79, 0.79, 0.75, 0.75]
    flat = table([(PLACES, dips), (PLACES, ends)], dense=0.8)
    axes = panel_axes(flat, "graph")
    assert axes.corner is not None
    top = axes.window.low + (axes.corner.low + axes.corner.height) * (axes.window.high - axes.window.low)
    assert top < 100 * flat["mean"].min()


def test_a_near_view_that_would_hide_most_rounds_is_given_up() -> None:
    collapsed = table([(PLACES, [0.8, *[0.3 + 0.01 * n] * 8]) for n in (0, 1)], dense=0.8)
    assert isinstance(panel_axes(collapsed, "graph"), PanelAxes)
    assert panel_axes(collapsed, "graph").window.low < 30
