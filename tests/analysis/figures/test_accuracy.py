"""Curves of accuracy: what is drawn on the screen and on paper, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from analysis import palette
from analysis.cli.main import main
from analysis.drawing import screen
from analysis.drawing.files import figure_bytes
from analysis.drawing.labels import log_ticks
from analysis.drawing.page import draw
from analysis.drawing.venues import VENUES
from analysis.figures.accuracy import accuracy_curves
from analysis.figures.base import FIGURES, FigureChoices
from analysis.figures.curves import Window, exits, score_window, seed_exits
from analysis.figures.pareto import pareto_front
from analysis.labels import setting_details
from analysis.palette import MOST_DASHED, crowd_styles
from analysis.tables.captions import caption
from analysis.tables.curves import curve_table, with_front
from analysis.tables.rounds import rounds_table
from glt.errors import ConfigError, StoreError
from glt.store import Run

UGS = [[0.82, 0.8251, 0.80, 0.79, 0.78], [0.81, 0.8149, 0.81, 0.78, 0.77]]

RANDOM = [[0.82, 0.80, 0.70, 0.50, 0.30], [0.81, 0.80, 0.71, 0.52, 0.31]]


@pytest.fixture
def rounds(make_scored: Callable[..., Run]) -> pd.DataFrame:
    return rounds_table([make_scored("ugs", UGS), make_scored("random", RANDOM)])


def on_screen(rounds: pd.DataFrame, **choices: object) -> go.Figure:
    table_options = {name: choices[name] for name in ("x", "score", "macs") if name in choices}
    dark = bool(choices.pop("dark", False))
    return screen.draw(accuracy_curves(curve_table(rounds, **table_options), rounds, **choices), dark)


def points(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.customdata is not None]


def test_every_round_is_one_named_mark(rounds: pd.DataFrame) -> None:
    marked = [tuple(place) for trace in points(on_screen(rounds)) for place in trace.customdata]
    expected = {(run, number) for run in rounds["run"].unique() for number in range(5)}
    assert len(marked) == len(expected)
    assert set(marked) == expected


def test_means_are_drawn_in_percent_and_macs_in_millions(rounds: pd.DataFrame) -> None:
    lines = [
        trace for trace in on_screen(rounds, x="macs", macs="published").data if trace.mode == "lines" and trace.name
    ]
    assert lines[0].y.tolist() == pytest.approx([81.5, 82.0, 80.5, 78.5, 77.5])
    assert lines[0].x.tolist()[:2] == pytest.approx([2007.0, 1605.6])


def test_tickets_are_larger_stars_of_the_methods_colour(rounds: pd.DataFrame) -> None:
    figure = on_screen(rounds)
    stars = [trace for trace in points(figure) if trace.marker.symbol == "star"]
    assert [place[1] for place in stars[0].customdata] == [1]
    assert stars[0].marker.color == palette.color("ugs")
    others = [trace for trace in points(figure) if trace.marker.symbol == "circle"]
    assert min(stars[0].marker.size) >= max(size for trace in others for size in trace.marker.size)


def test_marker_area_falls_with_macs(rounds: pd.DataFrame) -> None:
    squares = next(trace for trace in points(on_screen(rounds)) if trace.marker.symbol == "square")
    area = np.square(squares.marker.size)
    step = np.diff(area) / np.diff(rounds.query("method == 'random' and seed == 0")["macs_dense_features"].iloc[1:])
    assert step == pytest.approx(np.full(3, step[0]), rel=1e-4)
    assert step[0] > 0


def test_dense_is_one_dashed_line_with_its_value(rounds: pd.DataFrame) -> None:
    figure = on_screen(rounds)
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "dash"]
    assert [shape.y0 for shape in dashed] == pytest.approx([81.5])
    assert "Dense<br>81.5 %" in [note.text for note in figure.layout.annotations]


def test_different_dense_models_are_named(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82, 0.8]]), make_scored("random", [[0.80, 0.8]])])
    words = [note.text for note in on_screen(rounds).layout.annotations]
    assert "Dense 82.0 %<br>UGS" in words
    assert "Dense 80.0 %<br>Random pruning" in words


def test_hover_has_all_the_numbers(rounds: pd.DataFrame) -> None:
    trace = next(trace for trace in points(on_screen(rounds)) if trace.marker.symbol == "circle" and len(trace.x) == 3)
    text = trace.hovertext[0]
    for words in (
        "<b>UGS</b>, round 2",
        "80.5 %",
        "mean of 2 seeds, too few for an interval",
        "\N{MINUS SIGN}1.0 points against dense 81.5 %",
        "<b>UGS</b>, round 2 \N{EM DASH} open",
        "Open with 2 seeds: needs",
        "Holm over 6 rounds)",
        "Graph sparsity 9.8 %, weight sparsity 36.0 %",
        "99.0 % either way, 81.5 % both ways",
        "1278 M MACs",
    ):
        assert words in text


def test_one_seed_has_no_band(make_scored: Callable[..., Run]) -> None:
    figure = on_screen(rounds_table([make_scored("ugs", [[0.82, 0.8]])]))
    assert all(trace.fill is None for trace in figure.data)
    assert "1 seed, no interval" in points(figure)[0].hovertext[0]


def test_a_collapsing_method_leaves_the_window_and_is_named(rounds: pd.DataFrame) -> None:
    near = on_screen(rounds)
    assert near.layout.yaxis.range[0] > 55
    assert "falls to 30.5 %" in [note.text for note in near.layout.annotations]
    full = on_screen(rounds, near=False)
    assert full.layout.yaxis.range[0] < 30
    assert not any("falls to" in note.text for note in full.layout.annotations)


def test_macs_axis_is_logarithmic_with_dense_on_the_left(rounds: pd.DataFrame) -> None:
    axis = on_screen(rounds, x="macs").layout.xaxis
    assert axis.type == "log"
    assert axis.range[0] > axis.range[1]
    assert "1000 M" in axis.ticktext
    # Words on a log axis are placed by the logarithm.
    foot = next(note for note in on_screen(rounds, x="macs").layout.annotations if note.text.startswith("ticket"))
    assert foot.x == pytest.approx(np.log10(1996.6 * 0.8))


def open_marks(figure: go.Figure) -> list[go.Scatter]:
    return [t for t in figure.data if t.hovertext is not None and t.customdata is None]


def test_printed_points_are_open_and_name_their_source(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82] * 10])])
    assert open_marks(on_screen(rounds)) == []
    ticket, others = open_marks(on_screen(rounds, paper=True))
    assert [*ticket.x, *others.x] == pytest.approx([18.55, 22.62, 36.98, 55.99])
    assert [ticket.marker.symbol, others.marker.symbol] == ["star-open", "circle-open"]
    assert "Table 2" in ticket.hovertext[0]
    assert "Paper's dense<br>80.7 %" in [note.text for note in on_screen(rounds, paper=True).layout.annotations]


def test_printed_points_are_on_printed_axes_only(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82] * 10])])
    drawn = open_marks(on_screen(rounds, x="macs", paper=True))
    assert [place for trace in drawn for place in trace.x] == [826.0, 275.0]
    assert open_marks(on_screen(rounds, x="macs", macs="sparse_features", paper=True)) == []


def test_themes_have_a_transparent_background(rounds: pd.DataFrame) -> None:
    for dark in (False, True):
        layout = on_screen(rounds, dark=dark).layout.template.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert on_screen(rounds, dark=True).layout.template.layout.font.color != layout.xaxis.linecolor
    assert points(on_screen(rounds, dark=True))[0].marker.line.color == "#0E1117"


def test_no_rounds_give_empty_axes() -> None:
    rounds = rounds_table([])
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    assert points(figure) == []
    assert figure.layout.xaxis.title.text.startswith("Graph sparsity")


def test_the_axis_covers_every_seed(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.65, 0.64], [0.77, 0.78]])])
    low, high = on_screen(rounds).layout.yaxis.range
    assert low < 64
    assert high > 78
    assert on_screen(rounds, seeds=False).layout.yaxis.range[1] < 78


@pytest.mark.parametrize("x", ["graph", "weight"])
def test_the_label_of_a_ticket_at_the_end_stays_out_of_the_margin(make_scored: Callable[..., Run], x: str) -> None:
    ends = {"ugs": ([0.7, 0.69, 0.68, 0.71], "right"), "random": ([0.7, 0.71, 0.68, 0.68], "left")}
    for method, (scores, side) in ends.items():
        seeds = [scores, [0.7, *[score + 0.0001 for score in scores[1:]]]]
        figure = on_screen(rounds_table([make_scored(method, seeds)]), x=x)
        (label,) = (note for note in figure.layout.annotations if str(note.text).startswith("ticket"))
        assert label.xanchor == side


PRINTED_UGS = [[0.82, 0.829, 0.80, 0.79, 0.78], [0.81, 0.8192, 0.81, 0.78, 0.77]]


@pytest.fixture
def runs(make_scored: Callable[..., Run]) -> Sequence[Run]:
    return [make_scored("ugs", PRINTED_UGS), make_scored("random", RANDOM)]


def test_no_seed_leaves_an_exported_figure_at_the_top(make_scored: Callable[..., Run]) -> None:
    run = make_scored("ugs", [[0.56, 0.62], [0.40, 0.30]])
    (panel,) = FIGURES.get("accuracy").describe([run], FigureChoices()).panels
    assert panel.y.limits is not None
    assert panel.y.limits[1] > 62


def test_width_equals_the_venues() -> None:
    points = {
        "icml": (234, 486),
        "neurips": (396, 396),
        "iclr": (396, 396),
        "ieee": (252, 515.52),
        "acm": (239.76, 504),
    }
    assert list(VENUES) == list(points)
    for venue, widths in points.items():
        found = [72 * FigureChoices(venue=venue, columns=columns).width for columns in (1, 2)]
        assert found == pytest.approx(widths, abs=0.05)


def test_panels_share_the_accuracy_axis_and_run_towards_sparsity(runs: Sequence[Run]) -> None:
    figure = draw("accuracy", runs, FigureChoices(x="all", columns=2))
    graph, weight, macs = figure.axes
    assert [area.get_title("left") for area in figure.axes] == ["(a)", "(b)", "(c)"]
    assert graph.get_ylim() == weight.get_ylim() == macs.get_ylim()
    assert macs.get_xscale() == "log"
    left, right = macs.get_xlim()
    assert left > right
    assert "Inference MACs (M, log scale)" in macs.get_xlabel()


def test_the_zoomed_view_names_runs_outside(runs: Sequence[Run]) -> None:
    near = draw("accuracy", runs, FigureChoices())
    assert near.axes[0].get_ylim()[0] > 60
    assert "to 30.5%" in [text.get_text() for text in near.axes[0].texts]
    full = draw("accuracy", runs, FigureChoices(near=False))
    assert full.axes[0].get_ylim()[0] < 30
    assert all(not text.get_text().startswith("to ") for text in full.axes[0].texts)


def test_dense_is_labelled_and_tickets_have_stars(runs: Sequence[Run]) -> None:
    figure = draw("accuracy", runs, FigureChoices())
    assert "Dense 81.5%" in [text.get_text() for text in figure.axes[0].texts]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"UGS", "Random pruning", "Ticket (shown to lose < 0.5 points)"} <= set(labels)


def test_unknown_names_and_empty_runs(runs: Sequence[Run], make_scored: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="did you mean 'icml'"):
        draw("accuracy", runs, FigureChoices(venue="icm"))
    with pytest.raises(ConfigError, match="Unknown figure"):
        draw("acuracy", runs, FigureChoices())
    with pytest.raises(ConfigError, match="Unknown figure format"):
        figure_bytes(draw("accuracy", runs, FigureChoices()), "eps")
    with pytest.raises(StoreError, match="no finished round"):
        draw("accuracy", [make_scored("admm", [])], FigureChoices())


def test_command_line_writes_the_figure(runs: Sequence[Run], tmp_path: Path) -> None:
    out = tmp_path / "f.pdf"
    paths = [str(run.path) for run in runs]
    arguments = ["figure", "accuracy", *paths, "--x", "macs", "--macs", "sparse_features", "--venue", "icml"]
    assert main([*arguments, "--score", "last", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"%PDF")
    assert main([*arguments, "--out", str(tmp_path / "f.png"), "--dpi", "72"]) == 0
    # Width and height stand at the head of a PNG: 3.25 in at 72 dots an inch.
    assert int.from_bytes((tmp_path / "f.png").read_bytes()[16:20], "big") == 234
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".partial")] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--out", "f.eps"], 2, "f.eps has no known ending"),
        (["--out", "f.pdf", "--venue", "icmll"], 2, "did you mean 'icml'"),
        (["--out", "no/such/folder/f.pdf"], 1, "No such file"),
        (["--out", "f.png", "--dpi", "0"], 2, "A resolution of 0 dpi is not allowed: choose 1 to 1200 dpi"),
        (["--out", "f.png", "--dpi", "1201"], 2, "A resolution of 1201 dpi is not allowed: choose 1 to 1200 dpi"),
    ],
)
def test_errors_are_one_line(
    runs: Sequence[Run],
    arguments: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["figure", "accuracy", str(runs[0].path), *arguments]) == code
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert not list(tmp_path.glob("*.png"))


def curve(means: list[float], dense: float) -> pd.DataFrame:
    places = [0.1 * k for k in range(len(means))]
    same = {"run": "r", "method": "ugs", "low": float("nan"), "high": float("nan"), "dense": dense}
    return pd.DataFrame({"x": places, "mean": means}).assign(**same)


def test_the_window_holds_everything_without_a_collapse() -> None:
    low, high = score_window(curve([0.8, 0.75], 0.8))
    assert low < 75
    assert high > 80
    low, _ = score_window(curve([0.8, 0.2], 0.8))
    assert 58 < low < 60
    assert score_window(curve([0.8, 0.2], 0.8), near=False).low < 20


def test_window_makes_room_for_printed_points() -> None:
    assert score_window(curve([0.8, 0.79], 0.8), extra=[0.7]).low < 70


def test_the_exit_is_where_the_line_leaves_the_window() -> None:
    (gone,) = exits(curve([0.8, 0.4], 0.8), "graph", Window(60, 85))
    assert gone.x == pytest.approx(5.0)
    assert gone.lowest == 0.4
    assert exits(curve([0.8, 0.7], 0.8), "graph", Window(60, 85)) == []


def test_exit_on_the_log_axis_is_halfway_in_the_logarithm() -> None:
    table = curve([0.8, 0.4], 0.8).assign(x=[1e9, 1e7])
    (gone,) = exits(table, "macs", Window(60, 85))
    assert gone.x == pytest.approx(100.0)


def test_seeds_outside_the_window_are_counted() -> None:
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


MakeScored = Callable[..., Run]


@pytest.fixture
def sweep(make_scored: MakeScored) -> list[Run]:
    falls = [
        [[0.8, 0.79, 0.5], [0.81, 0.8, 0.45], [0.81, 0.8, 0.45]],
        *[[[0.8, 0.79, 0.78], [0.82, 0.8, 0.79], [0.82, 0.8, 0.79]]] * 3,
        [[0.8, 0.1], [0.8, 0.2]],
    ]
    return [make_scored("ugs", scores, p_graph=0.01 * (n + 1)) for n, scores in enumerate(falls)]


def test_only_many_runs_are_shaded(sweep: list[Run], make_scored: MakeScored) -> None:
    other = make_scored("random", [[0.8, 0.7]])
    assert crowd_styles(curve_table(rounds_table([*sweep[:MOST_DASHED], other]))) == {}
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
    # Intervals have no marks.
    color = trace.marker.color
    return [] if color is None else [color] if isinstance(color, str) else list(color)


def _paper_inks(mark: Any) -> list[Any]:
    return [mark.get_markerfacecolor()] if isinstance(mark, Line2D) else list(mark.get_facecolor())


def test_many_exits_share_one_label(sweep: list[Run]) -> None:
    table = curve_table(rounds_table(sweep))
    (gone,) = exits(table, "graph", score_window(table))
    assert (gone.runs, gone.lowest) == (2, pytest.approx(0.15))
    texts = [note.text for note in screen.draw(accuracy_curves(table, rounds_table(sweep))).layout.annotations]
    assert "2 fall, one to 15.0 %" in texts


def test_many_runs_are_drawn_without_bands_and_seeds(sweep: list[Run]) -> None:
    rounds = rounds_table(sweep)
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    assert not [trace for trace in figure.data if trace.fill == "toself"]
    assert len({trace.line.color for trace in figure.data if trace.mode == "lines"}) == len(sweep)
    assert "without intervals" in caption(rounds)
    few = rounds_table(sweep[:2])
    assert [trace for trace in screen.draw(accuracy_curves(curve_table(few), few)).data if trace.fill == "toself"]
    assert "without intervals" not in caption(few)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_legend_of_many_runs_stays_inside_a_paper_figure(sweep: list[Run], columns: int) -> None:
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
