from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis.drawing import screen
from analysis.figures.accuracy import accuracy_curves
from analysis.style import palette
from analysis.tables import curve_table, rounds_table
from glt.store import Run

UGS = [[0.82, 0.8251, 0.80, 0.79, 0.78], [0.81, 0.8149, 0.81, 0.78, 0.77]]
RANDOM = [[0.82, 0.80, 0.70, 0.50, 0.30], [0.81, 0.80, 0.71, 0.52, 0.31]]


@pytest.fixture
def rounds(make_scored: Callable[..., Run]) -> pd.DataFrame:
    return rounds_table([make_scored("ugs", UGS), make_scored("random", RANDOM)])


def draw(rounds: pd.DataFrame, **choices: object) -> go.Figure:
    asked = {name: choices[name] for name in ("x", "score", "macs") if name in choices}
    dark = bool(choices.pop("dark", False))
    return screen.draw(accuracy_curves(curve_table(rounds, **asked), rounds, **choices), dark)


def points(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.customdata is not None]


def test_every_round_is_one_mark_that_names_its_run_and_round(rounds: pd.DataFrame) -> None:
    marked = [tuple(place) for trace in points(draw(rounds)) for place in trace.customdata]
    expected = {(run, number) for run in rounds["run"].unique() for number in range(5)}
    assert len(marked) == len(expected)
    assert set(marked) == expected


def test_means_are_drawn_in_percent_and_macs_in_millions(rounds: pd.DataFrame) -> None:
    lines = [trace for trace in draw(rounds, x="macs", macs="published").data if trace.mode == "lines" and trace.name]
    assert lines[0].y.tolist() == pytest.approx([81.5, 82.0, 80.5, 78.5, 77.5])
    assert lines[0].x.tolist()[:2] == pytest.approx([2007.0, 1605.6])


def test_tickets_are_stars_in_the_method_s_colour_and_bigger(rounds: pd.DataFrame) -> None:
    figure = draw(rounds)
    stars = [trace for trace in points(figure) if trace.marker.symbol == "star"]
    assert [place[1] for place in stars[0].customdata] == [1]
    assert stars[0].marker.color == palette.color("ugs")
    others = [trace for trace in points(figure) if trace.marker.symbol == "circle"]
    assert min(stars[0].marker.size) >= max(size for trace in others for size in trace.marker.size)


def test_marker_area_falls_with_macs(rounds: pd.DataFrame) -> None:
    squares = next(trace for trace in points(draw(rounds)) if trace.marker.symbol == "square")
    area = np.square(squares.marker.size)
    step = np.diff(area) / np.diff(rounds.query("method == 'random' and seed == 0")["macs_dense_features"].iloc[1:])
    assert step == pytest.approx(np.full(3, step[0]), rel=1e-4)
    assert step[0] > 0


def test_dense_is_one_dashed_line_with_its_value(rounds: pd.DataFrame) -> None:
    figure = draw(rounds)
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "dash"]
    assert [shape.y0 for shape in dashed] == pytest.approx([81.5])
    assert "Dense<br>81.5 %" in [note.text for note in figure.layout.annotations]


def test_different_dense_models_are_named(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82, 0.8]]), make_scored("random", [[0.80, 0.8]])])
    words = [note.text for note in draw(rounds).layout.annotations]
    assert "Dense 82.0 %<br>UGS" in words
    assert "Dense 80.0 %<br>Random pruning" in words


def test_hover_has_all_the_numbers(rounds: pd.DataFrame) -> None:
    trace = next(trace for trace in points(draw(rounds)) if trace.marker.symbol == "circle" and len(trace.x) == 3)
    text = trace.hovertext[0]
    for words in (
        "<b>UGS</b>, round 2",
        "80.5 %",
        "mean of 2 seeds, too few for an interval",
        "\N{MINUS SIGN}1.0 points against dense 81.5 %",
        "<b>UGS</b>, round 2 \N{EM DASH} open",
        "Open: 2 seeds cannot tell, needs",
        "Holm over 6 rounds)",
        "Graph sparsity 9.8 %, weight sparsity 36.0 %",
        "99.0 % either way, 81.5 % both ways",
        "1278 M MACs",
    ):
        assert words in text


def test_three_seeds_have_an_interval(make_scored: Callable[..., Run]) -> None:
    figure = draw(rounds_table([make_scored("ugs", [[0.82, 0.80], [0.81, 0.81], [0.80, 0.79]])]))
    text = next(trace for trace in points(figure) if trace.marker.symbol == "circle").hovertext[0]
    # Student's t with two degrees of freedom: 4.303 times 0.01 / sqrt(3).
    assert "80.0 ± 2.5 %" in text
    assert "mean of 3 seeds, 95% interval" in text


def test_one_seed_draws_no_band_and_says_so(make_scored: Callable[..., Run]) -> None:
    figure = draw(rounds_table([make_scored("ugs", [[0.82, 0.8]])]))
    assert all(trace.fill is None for trace in figure.data)
    assert "1 seed, no interval" in points(figure)[0].hovertext[0]


def test_a_collapsing_method_leaves_the_window_and_is_named(rounds: pd.DataFrame) -> None:
    near = draw(rounds)
    assert near.layout.yaxis.range[0] > 55
    assert "falls to 30.5 %" in [note.text for note in near.layout.annotations]
    full = draw(rounds, near=False)
    assert full.layout.yaxis.range[0] < 30
    assert not any("falls to" in note.text for note in full.layout.annotations)


def test_macs_axis_is_logarithmic_with_dense_on_the_left(rounds: pd.DataFrame) -> None:
    axis = draw(rounds, x="macs").layout.xaxis
    assert axis.type == "log"
    assert axis.range[0] > axis.range[1]
    assert "1000 M" in axis.ticktext
    # Words on a log axis are placed by the logarithm.
    foot = next(note for note in draw(rounds, x="macs").layout.annotations if note.text.startswith("ticket"))
    assert foot.x == pytest.approx(np.log10(1996.6 * 0.8))


def open_marks(figure: go.Figure) -> list[go.Scatter]:
    return [t for t in figure.data if t.hovertext is not None and t.customdata is None]


def test_the_paper_s_points_are_open_and_tell_their_place(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82] * 10])])
    assert open_marks(draw(rounds)) == []
    ticket, others = open_marks(draw(rounds, paper=True))
    assert [*ticket.x, *others.x] == pytest.approx([18.55, 22.62, 36.98, 55.99])
    assert [ticket.marker.symbol, others.marker.symbol] == ["star-open", "circle-open"]
    assert "Table 2" in ticket.hovertext[0]
    assert "Paper's dense<br>80.7 %" in [note.text for note in draw(rounds, paper=True).layout.annotations]


def test_the_paper_s_points_stand_only_on_axes_it_prints(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82] * 10])])
    drawn = open_marks(draw(rounds, x="macs", paper=True))
    assert [place for trace in drawn for place in trace.x] == [826.0, 275.0]
    assert open_marks(draw(rounds, x="macs", macs="sparse_features", paper=True)) == []


def test_labels_are_escaped(rounds: pd.DataFrame) -> None:
    rounds = rounds.assign(label="<img src=x>")
    figure = draw(rounds)
    assert all("<img" not in (trace.name or "") for trace in figure.data)
    assert all("<img" not in text for trace in points(figure) for text in trace.hovertext)
    assert all("<img" not in note.text for note in figure.layout.annotations)


def test_light_and_dark_stand_on_a_transparent_ground(rounds: pd.DataFrame) -> None:
    for dark in (False, True):
        layout = draw(rounds, dark=dark).layout.template.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert draw(rounds, dark=True).layout.template.layout.font.color != layout.xaxis.linecolor
    assert points(draw(rounds, dark=True))[0].marker.line.color == "#0E1117"


def test_no_rounds_give_empty_axes() -> None:
    rounds = rounds_table([])
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    assert points(figure) == []
    assert figure.layout.xaxis.title.text.startswith("Graph sparsity")


def test_the_axis_holds_the_line_of_a_seed_far_above_the_mean(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.65, 0.64], [0.77, 0.78]])])
    low, high = draw(rounds).layout.yaxis.range
    assert low < 64
    assert high > 78
    assert draw(rounds, seeds=False).layout.yaxis.range[1] < 78


@pytest.mark.parametrize("x", ["graph", "weight"])
def test_the_label_of_a_ticket_at_the_end_stays_out_of_the_margin(make_scored: Callable[..., Run], x: str) -> None:
    ends = {"ugs": ([0.7, 0.69, 0.68, 0.71], "right"), "random": ([0.7, 0.71, 0.68, 0.68], "left")}
    for method, (scores, side) in ends.items():
        seeds = [scores, [0.7, *[score + 0.0001 for score in scores[1:]]]]
        figure = draw(rounds_table([make_scored(method, seeds)]), x=x)
        (label,) = (note for note in figure.layout.annotations if str(note.text).startswith("ticket"))
        assert label.xanchor == side
