from __future__ import annotations

import pandas as pd
import pytest

from analysis.drawing.labels import spread
from analysis.figures.curves import Window, exits, score_window, seed_exits


def curve(means: list[float], dense: float) -> pd.DataFrame:
    places = [0.1 * k for k in range(len(means))]
    same = {"run": "r", "method": "ugs", "low": float("nan"), "high": float("nan"), "dense": dense}
    return pd.DataFrame({"x": places, "mean": means}).assign(**same)


def test_window_holds_everything_unless_something_collapses() -> None:
    low, high = score_window(curve([0.8, 0.75], 0.8))
    assert low < 75
    assert high > 80
    low, _ = score_window(curve([0.8, 0.2], 0.8))
    assert 58 < low < 60
    assert score_window(curve([0.8, 0.2], 0.8), near=False).low < 20


def test_window_makes_room_for_printed_points() -> None:
    assert score_window(curve([0.8, 0.79], 0.8), extra=[0.7]).low < 70


def test_exit_is_where_the_line_crosses_the_foot() -> None:
    (gone,) = exits(curve([0.8, 0.4], 0.8), "graph", Window(60, 85))
    assert gone.x == pytest.approx(5.0)
    assert gone.lowest == 0.4
    assert exits(curve([0.8, 0.7], 0.8), "graph", Window(60, 85)) == []


def test_exit_on_the_log_axis_is_halfway_in_the_logarithm() -> None:
    table = curve([0.8, 0.4], 0.8).assign(x=[1e9, 1e7])
    (gone,) = exits(table, "macs", Window(60, 85))
    assert gone.x == pytest.approx(100.0)


def test_seeds_that_fall_while_the_mean_stays_are_counted() -> None:
    table = curve([0.8, 0.7], 0.8)
    rows = [
        (seed, place, score)
        for seed, scores in enumerate([(0.8, 0.8), (0.8, 0.4), (0.8, 0.5)])
        for place, score in zip((0.0, 0.1), scores, strict=True)
    ]
    rounds = pd.DataFrame(rows, columns=["seed", "graph_sparsity", "test"]).assign(run="r", method="ugs")
    (gone,) = seed_exits(table, rounds, "graph", "test", "dense_features", Window(60, 85))
    assert (gone.x, gone.lowest) == (pytest.approx(5.0), 0.4)
    assert gone.text == "2 seeds fall, one to 40.0 %"
    fallen = curve([0.8, 0.55], 0.8)
    assert seed_exits(fallen, rounds, "graph", "test", "dense_features", Window(60, 85)) == []


def test_spread_keeps_order_and_distance() -> None:
    placed = spread([80.0, 80.1, 80.2, 60.0], 5.0)
    assert placed[3] == 60.0
    assert placed[0] < placed[1] < placed[2]
