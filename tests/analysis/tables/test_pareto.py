"""The Pareto front against its definition, and its picture."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import palette
from analysis.curves import pareto_figure
from analysis.tables import curve_table, rounds_table
from analysis.tables.curves import XAxis, is_on_front, with_front

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


@given(POINTS)
def test_the_front_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    def is_beaten(mine: tuple[int, int]) -> bool:
        return any(
            cost <= mine[0] and score >= mine[1] and (cost < mine[0] or score > mine[1]) for cost, score in points
        )

    found = is_on_front([cost for cost, _ in points], [score for _, score in points])
    assert found.tolist() == [not is_beaten(point) for point in points]


def test_a_missing_number_is_on_no_front_and_hides_none() -> None:
    assert is_on_front([1, np.nan, 0], [0.5, 0.9, np.nan]).tolist() == [True, False, False]


@pytest.mark.parametrize("x", ["graph", "weight", "macs"])
def test_the_most_pruned_and_the_best_round_are_on_the_front(make_scored, x: XAxis) -> None:  # noqa: ANN001
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.79, 0.81, 0.7]]), make_scored("random", [[0.8, 0.75, 0.72]])])
    table = with_front(curve_table(rounds, x=x), x)
    front = {(row.method, row.round) for row in table[table["on_front"]].itertuples()}
    assert front == {("ugs", 2), ("ugs", 3)}


def test_other_networks_do_not_compete(make_scored) -> None:  # noqa: ANN001
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.7]]), make_scored("ugs", [[0.6, 0.5]], model="gin")])
    table = with_front(curve_table(rounds), "graph")
    assert table.groupby("model")["on_front"].sum().to_dict() == {"gcn": 2, "gin": 2}


def test_the_figure_has_every_round_and_the_front_as_a_line(make_scored) -> None:  # noqa: ANN001
    three = [[0.8, 0.79, 0.81, 0.7], [0.8, 0.79, 0.811, 0.7], [0.8, 0.79, 0.809, 0.7]]
    rounds = rounds_table([make_scored("ugs", three), make_scored("random", [[0.8, 0.75, 0.72]])])
    table = with_front(curve_table(rounds, x="macs"), "macs")
    figure = pareto_figure(table, rounds, x="macs")
    line, ugs, random = figure.data[:3]
    assert (line.name, line.mode, line.line.shape) == ("Pareto front", "lines", "hv")
    assert list(line.y) == pytest.approx([70.0, 81.0])
    assert list(line.x) == sorted(line.x)
    assert [len(each.x) for each in (ugs, random)] == [4, 3]
    assert list(ugs.marker.opacity) == [0.35, 0.35, 1.0, 1.0]
    assert [symbol == palette.TICKET_SYMBOL for symbol in ugs.marker.symbol] == [False, False, True, False]
    assert ugs.customdata[2].tolist() == [table["run"].iloc[0], 2]
    assert "On the Pareto front" in ugs.hovertext[2]


def test_the_words_of_a_dense_line_are_cut_where_labels_are_long(make_scored) -> None:  # noqa: ANN001
    settings = {"hidden": 8, "epochs": 8, "retrain_epochs": 8, "dropout": 0.9}
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.7]]), make_scored("ugs", [[0.6, 0.5]], **settings)])
    figure = pareto_figure(with_front(curve_table(rounds), "graph"), rounds, x="graph")
    told = sorted(each.text for each in figure.layout.annotations)
    assert [words.endswith(ending) for words, ending in zip(told, ("… 80.0 %", "… 60.0 %"), strict=True)] == [True] * 2
    assert all(words.startswith("Dense UGS (dropout = ") and len(words) < 40 for words in told)
    alone = rounds[rounds["run"] == rounds["run"].iloc[0]]
    (dense,) = pareto_figure(with_front(curve_table(alone), "graph"), alone, x="graph").layout.annotations
    assert dense.text == "Dense 80.0 %"


def test_an_empty_table_has_no_front() -> None:
    assert is_on_front([], []).tolist() == []
    assert isinstance(with_front(curve_table(rounds_table([])), "graph"), pd.DataFrame)


def test_costs_that_are_shown_alike_are_alike(make_scored) -> None:  # noqa: ANN001
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.7]]), make_scored("admm", [[0.8, 0.75]])])
    rounds.loc[(rounds["method"] == "ugs") & (rounds["round"] == 1), "graph_sparsity"] += 0.0001
    rounds.loc[(rounds["method"] == "ugs") & (rounds["round"] == 1), "macs_dense_features"] -= 1000
    for x in ("graph", "macs"):
        table = with_front(curve_table(rounds, x=x), x)
        assert table[table["round"] == 1].set_index("method")["on_front"].to_dict() == {"ugs": False, "admm": True}
