"""What a figure says to readers who do not see it: its numbers, without grounds, keys and markup."""

from __future__ import annotations

import math

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.alt_text import MOST_SERIES, sentence, series_of, table


def line(name: str | None, x: list[float], y: list[float], **looks: object) -> go.Scatter:
    return go.Scatter(x=x, y=y, name=name, **looks)


def test_each_series_says_its_ends_and_extremes() -> None:
    figure = go.Figure([line("UGS", [0, 5, 9], [81.9, 83.25, 70.5]), line("Random", [0, 5], [81.9, 26.5])])
    figure.update_layout(xaxis_title_text="Graph sparsity (%)", yaxis_title_text="Test accuracy (%)")
    told = sentence(figure, "Scores")
    assert told.startswith("Scores. Values are Test accuracy (%), at Graph sparsity (%). UGS: 3 values, ")
    assert "from 81.9 at 0 to 70.5 at 9, lowest 70.5 at 9, highest 83.25 at 5." in told
    assert "Random: 2 values, from 81.9 at 0 to 26.5 at 5" in told
    assert table(figure).to_dict("list") == {
        "Series": ["UGS"] * 3 + ["Random"] * 2,
        "Graph sparsity (%)": ["0", "5", "9", "0", "5"],
        "Test accuracy (%)": [81.9, 83.25, 70.5, 81.9, 26.5],
    }


def test_grounds_keys_and_missing_values_are_left_out() -> None:
    ground = line("cut", [0, 1], [5, 5], fill="tonexty")
    key, unnamed = line("100 M", [0], [1]), line(None, [0, 1], [1, 2])
    gap = line("UGS", [0, 1, 2], [1.0, math.nan, 3.0])
    (one,) = series_of(go.Figure([ground, key, unnamed, gap]))
    assert (one.name, one.places, one.numbers) == ("UGS", (0, 2), (1.0, 3.0))


def test_pieces_of_one_name_are_one_series_but_panels_are_not() -> None:
    pieces = [line("Loss", [1, 2], [4, 3]), line("Loss", [3, 4], [2, 1])]
    assert [one.numbers for one in series_of(go.Figure(pieces))] == [(4.0, 3.0, 2.0, 1.0)]
    panels = make_subplots(rows=2, cols=1)
    for row, piece in enumerate(pieces, start=1):
        panels.add_trace(piece, row=row, col=1)
    assert len(series_of(panels)) == 2


def test_groups_that_lie_across_are_named() -> None:
    figure = go.Figure(line("UGS", [12.5, 30.0], ["Same class", "A &amp; B"], mode="markers"))
    assert "from 12.5 at Same class to 30 at A & B" in sentence(figure, "Cut")


def test_a_matrix_says_its_lowest_and_highest_cell() -> None:
    figure = go.Figure()
    figure.add_heatmap(x=["a", "b"], y=["a", "b"], z=[[1.0, None], [-4.0, 2.0]], colorbar_title_text="Points")
    assert sentence(figure, "Pairs") == "Pairs. Points: 3 cells, lowest \N{MINUS SIGN}4 at b, a, highest 2 at b, b."


def test_many_series_are_cut_short_and_counted() -> None:
    figure = go.Figure([line(f"s{number}", [0, 1], [0, 1]) for number in range(MOST_SERIES + 3)])
    assert sentence(figure, "Many").endswith("And 3 more series.")


def test_an_empty_figure_still_has_its_title_and_a_table() -> None:
    assert sentence(go.Figure(), "Nothing yet") == "Nothing yet."
    assert table(go.Figure()).empty
