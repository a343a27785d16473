"""Five runs of one method are a crowd, and every picture of them is one that can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from analysis.drawing import screen
from analysis.drawing.labels import log_ticks
from analysis.drawing.page import draw
from analysis.figures.accuracy import accuracy_curves
from analysis.figures.base import FigureChoices
from analysis.figures.curves import exits, score_window
from analysis.figures.pareto import pareto_front
from analysis.labels import setting_details
from analysis.style import palette
from analysis.style.palette import MOST, crowd_styles
from analysis.tables.captions import caption
from analysis.tables.curves import curve_table, with_front
from analysis.tables.rounds import rounds_table
from glt.store import Run

MakeScored = Callable[..., Run]


@pytest.fixture
def sweep(make_scored: MakeScored) -> list[Run]:
    falls = [
        [[0.8, 0.79, 0.5], [0.81, 0.8, 0.45], [0.81, 0.8, 0.45]],
        *[[[0.8, 0.79, 0.78], [0.82, 0.8, 0.79], [0.82, 0.8, 0.79]]] * 3,
        [[0.8, 0.1], [0.8, 0.2]],
    ]
    return [make_scored("ugs", scores, p_graph=0.01 * (n + 1)) for n, scores in enumerate(falls)]


def test_only_a_crowd_is_shaded(sweep: list[Run], make_scored: MakeScored) -> None:
    other = make_scored("random", [[0.8, 0.7]])
    assert crowd_styles(curve_table(rounds_table([*sweep[:MOST], other]))) == {}
    styles = crowd_styles(curve_table(rounds_table([*sweep, other])))
    assert list(styles) == [run.name for run in sweep]
    light = [sum(palette.rgb(each.light)) for each in styles.values()]
    assert light == sorted(light, reverse=True)
    assert len({each.light for each in styles.values()}) == len(sweep)


def test_points_of_two_runs_of_one_method_are_two_shades(sweep: list[Run]) -> None:
    runs = sweep[:2]
    rounds = rounds_table(runs)
    table = with_front(curve_table(rounds, x="macs"), "macs")
    traces = [
        trace
        for trace in screen.draw(pareto_front(table, rounds)).data
        if trace.legendgroup in {run.name for run in runs}
    ]
    inks = {
        run.name: {str(ink) for each in traces if each.legendgroup == run.name for ink in _inks(each)} for run in runs
    }
    own = [found - {palette.color(palette.DENSE)} for found in inks.values()]
    assert [len(each) for each in own] == [1, 1]
    assert own[0] != own[1]
    (legend,) = draw("pareto", runs, FigureChoices()).legends
    assert {ink.lower() for each in own for ink in each} <= {
        to_hex(ink) for mark in legend.legend_handles for ink in _paper_inks(mark)
    }


def _inks(trace: Any) -> list[str]:
    return [trace.marker.color] if isinstance(trace.marker.color, str) else list(trace.marker.color)


def _paper_inks(mark: Any) -> list[Any]:
    return [mark.get_markerfacecolor()] if isinstance(mark, Line2D) else list(mark.get_facecolor())


def test_shades_begin_and_end_around_the_method_s_own_colour() -> None:
    assert palette.shades("random", 5)[2] == palette.style("random")
    assert palette.shades("random", 1)[0].symbol == palette.style("random").symbol


def test_a_crowd_leaves_the_window_with_one_word(sweep: list[Run]) -> None:
    table = curve_table(rounds_table(sweep))
    (gone,) = exits(table, "graph", score_window(table))
    assert (gone.runs, gone.lowest) == (2, pytest.approx(0.15))
    texts = [note.text for note in screen.draw(accuracy_curves(table, rounds_table(sweep))).layout.annotations]
    assert "2 fall, one to 15.0 %" in texts


def test_a_crowd_is_drawn_without_bands_and_seeds_and_the_caption_says_so(sweep: list[Run]) -> None:
    rounds = rounds_table(sweep)
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    assert not [trace for trace in figure.data if trace.fill == "toself"]
    assert len({trace.line.color for trace in figure.data if trace.mode == "lines"}) == len(sweep)
    assert "without intervals" in caption(rounds)
    few = rounds_table(sweep[:2])
    assert [trace for trace in screen.draw(accuracy_curves(curve_table(few), few)).data if trace.fill == "toself"]
    assert "without intervals" not in caption(few)


def test_keys_of_marks_are_as_far_inside_as_those_of_runs(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.8, 0.81]], edge_mask=kind) for kind in ("directed", "undirected")]
    figure = draw("accuracy", runs, FigureChoices())
    (legend,) = figure.legends
    assert legend.get_window_extent().x1 <= figure.bbox.x1 + 1


@pytest.mark.parametrize("columns", [1, 2])
def test_the_legend_of_a_crowd_stays_inside_a_printed_figure(sweep: list[Run], columns: int) -> None:
    figure = draw("accuracy", sweep, FigureChoices(columns=columns))
    figure.canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1 + 1
    area = figure.axes[0].get_window_extent()
    assert area.height > 0.4 * area.width
    assert area.y1 <= box.y0
    inks = {to_hex(line.get_color()).upper() for line in figure.axes[0].lines if line.get_linewidth() > 1}
    assert inks == {style.light for style in palette.shades("ugs", len(sweep))}


def test_equivalent_settings_appear_once(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.8]], hidden=h, epochs=h, p_graph=p) for h in (8, 16) for p in (0.1, 0.2)]
    details = setting_details(runs)
    assert details[runs[1].name] == ["hidden = 8", "p_graph = 20 %"]
    assert len(set(map(tuple, details.values()))) == 4


@pytest.mark.parametrize(("low", "high"), [(100, 156.25), (0.8, 1.25), (3, 4), (1601, 2501), (99.9, 100.1)])
def test_a_short_log_axis_has_at_least_two_ticks(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert len(ticks) >= 2
    assert all(low <= tick <= high for tick in ticks)
