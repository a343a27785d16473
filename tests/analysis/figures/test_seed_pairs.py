"""The picture of a paired difference: its window, its marks and what a title may hold."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import pytest

from analysis.compare import At, paired_seeds, paired_table
from analysis.drawing import screen
from analysis.figures.seed_pairs import Side, paired_differences
from analysis.style import palette
from analysis.tables.rounds import rounds_table
from glt.store import Run

MakeScored = Callable[..., Run]


def draw(one: Run, other: Run, label: str = "A", at: At = "round") -> go.Figure:
    pairs = (rounds_table([one, other]), one.name, other.name, "test", at)
    sides = [Side(run.name, label, palette.style(run.config.method)) for run in (one, other)]
    return screen.draw(paired_differences(paired_table(*pairs), paired_seeds(*pairs), *sides, at=at))


@pytest.fixture
def one(make_scored: MakeScored) -> Run:
    return make_scored("ugs", [[0.8, 0.711, 0.6], [0.8, 0.710, 0.62], [0.8, 0.709, 0.58]])


@pytest.fixture
def other(make_scored: MakeScored) -> Run:
    return make_scored("random", [[0.8, 0.70, 0.6]] * 3)


def test_marks_say_where_a_difference_is_significant(one: Run, other: Run) -> None:
    figure = draw(one, other)
    marks = {trace.marker.symbol: trace for trace in figure.data if trace.mode == "markers" and trace.customdata}
    assert set(marks) == {"triangle-up", "circle-open"}
    assert marks["triangle-up"].y.tolist() == pytest.approx([1.0])
    assert list(marks["triangle-up"].customdata[0]) == [one.name, 1]
    assert marks["triangle-up"].marker.color == palette.color("ugs")
    (band,) = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(band.x) == 6
    assert [shape.y0 for shape in figure.layout.shapes] == [0]


def test_two_seeds_draw_no_band_and_say_so(make_scored: MakeScored) -> None:
    figure = draw(make_scored("ugs", [[0.8, 0.7], [0.8, 0.6]]), make_scored("random", [[0.8, 0.7], [0.8, 0.7]]))
    assert not [trace for trace in figure.data if trace.fill == "toself"]
    texts = [text for trace in figure.data if trace.hovertext for text in trace.hovertext]
    assert all("too few for an interval" in text for text in texts)
    low, high = figure.layout.yaxis.range
    assert -13 < low < -10
    assert 0 < high < 3


def test_a_wide_interval_is_cut_off_and_not_the_seeds(make_scored: MakeScored) -> None:
    figure = draw(make_scored("ugs", [[0.8, 0.9], [0.8, 0.5], [0.8, 0.7]]), make_scored("random", [[0.8, 0.7]] * 3))
    low, high = figure.layout.yaxis.range
    assert -32 < low < -25
    assert 25 < high < 32


def test_a_title_is_never_read_as_html(one: Run, other: Run) -> None:
    figure = draw(one, other, '<img src=x onerror="1">')
    words = [note.text for note in figure.layout.annotations] + [trace.name or "" for trace in figure.data]
    words += [text for trace in figure.data if trace.hovertext for text in trace.hovertext]
    assert not [text for text in words if "<img" in text]
    assert [text for text in words if "&lt;img" in text]


def test_over_sparsity_marks_lie_at_the_first_runs_sparsity(one: Run, other: Run) -> None:
    figure = draw(one, other, at="graph")
    marks = [trace for trace in figure.data if trace.mode == "markers" and trace.customdata]
    places = sorted(place for trace in marks for place in trace.x)
    assert places == pytest.approx([0, 5, 9.75])
