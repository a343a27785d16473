"""Panels of ablations and their insets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes

from analysis import palette
from analysis.ablation import (
    EDGE,
    NUMBERS,
    PanelAxes,
    ablation_panels,
    left_out,
    one_sweep,
    panel_axes,
    panel_rounds,
    settings_of,
    zoom_box,
)
from analysis.drawing import screen
from analysis.drawing.page import draw
from analysis.figures.ablation import ablation_curves
from analysis.figures.base import FIGURES, FigureChoices
from analysis.figures.curves import Window
from analysis.tables.curves import XAxis
from analysis.tables.rounds import rounds_table
from glt.config import RunConfig
from glt.errors import ConfigError, StoreError
from glt.presets import resolve
from glt.store import Run

GRAPH, WEIGHT = (0.2, 0.05, 0.1), (0.1, 0.4, 0.2)


def values(runs: Sequence[Run], field: str) -> list[float]:
    return [getattr(run.config, field) for run in runs]


def test_one_setting_gives_one_panel_in_the_order_of_its_values(make_swept: Callable[..., Run]) -> None:
    (panel,) = ablation_panels([make_swept(p_graph=rate) for rate in GRAPH])
    assert (panel.field, panel.title) == ("p_graph", "")
    assert values(panel.runs, "p_graph") == [0.05, 0.1, 0.2]
    assert list(panel.labels.values()) == ["p_graph = 5 %", "p_graph = 10 %", "p_graph = 20 %"]


@pytest.mark.parametrize("grid", ["full", "cross"])
def test_two_settings_give_two_panels_through_the_defaults(make_swept: Callable[..., Run], grid: str) -> None:
    pairs = [pair for pair in product(GRAPH, WEIGHT) if grid == "full" or pair[0] == 0.05 or pair[1] == 0.2]
    graph, weight = ablation_panels([make_swept(p_graph=g, p_weight=w) for g, w in pairs])
    assert (graph.field, graph.title) == ("p_graph", "p_weight = 20 %")
    assert (weight.field, weight.title) == ("p_weight", "p_graph = 5 %")
    assert values(graph.runs, "p_graph") == [0.05, 0.1, 0.2]
    assert set(values(graph.runs, "p_weight")) == {0.2}
    assert values(weight.runs, "p_weight") == [0.1, 0.2, 0.4]
    assert set(values(weight.runs, "p_graph")) == {0.05}


def test_the_larger_group_is_shown_rather_than_the_defaults(make_swept: Callable[..., Run]) -> None:
    runs = [make_swept(p_graph=0.2, p_weight=w) for w in WEIGHT]
    runs += [make_swept(p_graph=0.05, p_weight=w) for w in (0.1, 0.2)]
    _, weight = ablation_panels(runs)
    assert weight.title == "p_graph = 20 %"


def test_runs_outside_all_panels_are_named(make_swept: Callable[..., Run]) -> None:
    runs = {pair: make_swept(p_graph=pair[0], p_weight=pair[1]) for pair in product(GRAPH, (0.1, 0.4))}
    panels = {run.name for panel in ablation_panels(list(runs.values())) for run in panel.runs}
    missing = {run.name for run in left_out(list(runs.values()))}
    assert missing == {run.name for run in runs.values()} - panels
    assert len(missing) == 2


def test_one_sweep_is_the_largest_group_around_one_run(make_swept: Callable[..., Run]) -> None:
    sweep = [make_swept(p_graph=rate) for rate in GRAPH]
    others = [make_swept(p_graph=0.3, hidden=width, epochs=3) for width in (8, 9)]
    assert one_sweep([others[0], *sweep, others[1]]) == sweep
    assert one_sweep([]) == []


def test_text_and_boolean_settings_can_vary(make_swept: Callable[..., Run]) -> None:
    (panel,) = ablation_panels([make_swept(degree=degree) for degree in ("target", "source")])
    assert list(panel.labels.values()) == ["degree = source", "degree = target"]
    switched = [make_swept(options={"mask_weight_decay": on}) for on in (True, False)]
    (panel,) = ablation_panels(switched)
    assert list(panel.labels.values()) == ["mask_weight_decay = false", "mask_weight_decay = true"]


def test_an_option_that_a_config_does_not_name_has_its_default() -> None:
    bare, complete = RunConfig(), resolve({"learning_rate": 0.01, "weight_decay": 5e-4}, "official")
    assert settings_of(bare) == settings_of(complete)
    assert "rounds" not in settings_of(bare)
    assert "gamma_graph" not in settings_of(RunConfig(method="random"))


def test_runs_without_rounds_are_left_out(make_swept: Callable[..., Run]) -> None:
    runs = [make_swept(p_graph=rate) for rate in (0.05, 0.1)]
    (panel,) = ablation_panels([*runs, make_swept(p_graph=0.2, rounds=-1)])
    assert list(panel.labels) == [run.name for run in runs]
    with pytest.raises(StoreError, match="no finished round"):
        ablation_panels([make_swept(p_graph=0.3, rounds=-1)])


def test_the_rows_of_a_panel_are_in_its_order_and_under_its_labels(make_swept: Callable[..., Run]) -> None:
    runs = [make_swept(p_graph=g, p_weight=w, rounds=2) for g, w in product((0.2, 0.05), (0.4, 0.2))]
    graph, _ = ablation_panels(runs)
    rows = panel_rounds(rounds_table(runs), graph)
    assert list(dict.fromkeys(rows["label"])) == ["p_graph = 5 %", "p_graph = 20 %"]
    assert len(rows) == 2 * 3 * 3
    assert rows.groupby("run", sort=False)["round"].apply(list).tolist() == [[0, 1, 2] * 3] * 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([{}], "needs runs that differ in a setting"),
        ([{}, {"method": "random"}], "differ in method: choose runs of one sweep"),
        ([{}, {"dataset": "citeseer"}], "differ in dataset"),
        (
            [{"p_graph": 0.1, "p_weight": 0.1}, {"p_graph": 0.2, "p_weight": 0.2}],
            "No two of these runs differ in p_graph",
        ),
        (
            [{}, {"hidden": 8, "layers": 3, "dropout": 0.1, "p_graph": 0.1, "p_weight": 0.1}],
            "differ in 5 settings (hidden, layers, p_graph, p_weight, dropout), but the figure has room for 4 panels",
        ),
    ],
)
def test_runs_without_an_ablation_are_refused(
    make_swept: Callable[..., Run], changes: Sequence[Mapping[str, object]], sentence: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        ablation_panels([make_swept(rounds=1, **change) for change in changes])
    assert sentence in str(raised.value)


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


def test_the_shared_round_0_does_not_count() -> None:
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
def test_no_inset_without_close_curves(curves: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
    assert zoom_box(table(curves), "graph", FULL) is None


def test_no_inset_where_a_curve_left_the_window() -> None:
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
def test_the_inset_lies_inside_its_panel(heights: list[list[float]], x: str, near: bool) -> None:
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


def test_a_zoom_hiding_most_rounds_is_dropped() -> None:
    collapsed = table([(PLACES, [0.8, *[0.3 + 0.01 * n] * 8]) for n in (0, 1)], dense=0.8)
    assert isinstance(panel_axes(collapsed, "graph"), PanelAxes)
    assert panel_axes(collapsed, "graph").window.low < 30


@pytest.fixture
def runs(make_swept: Callable[..., Run]) -> Sequence[Run]:
    return [make_swept(p_graph=g, p_weight=w) for g, w in product((0.05, 0.1, 0.2), (0.1, 0.2, 0.4))]


def lines(figure: go.Figure, axis: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.mode == "lines" and trace.xaxis == axis]


def test_panels_and_insets_show_the_same_lines(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs))
    for panel, axis, inset in zip(ablation_panels(runs), ("x", "x2"), ("x3", "x4"), strict=True):
        assert [trace.name for trace in lines(figure, axis)] == list(panel.labels.values())
        assert [trace.line.color for trace in lines(figure, axis)] == [style.light for style in palette.steps(3)]
        for line, again in zip(lines(figure, axis), lines(figure, inset), strict=True):
            assert np.array_equal(line.x, again.x)
            assert np.array_equal(line.y, again.y)
    titles = [note.text for note in figure.layout.annotations]
    assert "<b>(a) p_weight = 20 %</b>" in titles
    assert titles.count("Dense 81.2 %") == 2


@pytest.mark.parametrize("x", ["graph", "weight", "macs"])
def test_the_inset_enlarges_its_box(make_swept: Callable[..., Run], x: XAxis) -> None:
    layout = screen.draw(
        ablation_curves([make_swept(hidden=size, slope=10 + size / 16) for size in (8, 16, 32)], x=x)
    ).layout
    (box,) = [shape for shape in layout.shapes if shape.type == "rect"]
    across, up = layout.xaxis2, layout.yaxis2
    ends = [box.x0, box.x1]
    assert across.range == pytest.approx(np.log10(ends) if x == "macs" else ends)
    assert (across.range[0] > across.range[1]) == (x == "macs")
    assert up.range == pytest.approx([box.y0, box.y1])
    low, high = layout.yaxis.range
    assert up.domain[1] - up.domain[0] > (box.y1 - box.y0) / (high - low)
    assert layout.xaxis.domain[0] < across.domain[0] < across.domain[1] < layout.xaxis.domain[1]


def test_marks_name_their_round_and_values_differ_in_marker(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs))
    marked = {tuple(place) for trace in figure.data if trace.customdata is not None for place in trace.customdata}
    assert marked == {(run, k) for panel in ablation_panels(runs) for run in panel.labels for k in range(13)}
    keys = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.marker.symbol for trace in keys] == ["circle", "square", "triangle-up"] * 2
    assert [trace.legend for trace in keys] == ["legend"] * 3 + ["legend2"] * 3


def test_the_dark_theme_uses_light_colours(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs), dark=True)
    assert [trace.line.color for trace in lines(figure, "x")] == [style.dark for style in palette.steps(3)]


def insets(area: Axes) -> list[Axes]:
    return [child for child in area.child_axes if isinstance(child, Axes)]


def test_each_varied_setting_has_a_panel_with_keys(runs: Sequence[Run]) -> None:
    graph, weight = draw("ablation", runs, FigureChoices(columns=2)).axes
    for area, title, keys in (
        (graph, "(a) p_weight = 20 %", ["p_graph = 5 %", "p_graph = 10 %", "p_graph = 20 %"]),
        (weight, "(b) p_graph = 5 %", ["p_weight = 10 %", "p_weight = 20 %", "p_weight = 40 %"]),
    ):
        legend = area.get_legend()
        assert legend.get_title().get_text() == title
        assert [text.get_text() for text in legend.get_texts() if "=" in text.get_text()] == keys
        assert "Dense 81.2%" in [text.get_text() for text in area.texts]
        lines = [line for line in area.lines if len(line.get_xdata()) == 13]
        assert [line.get_color() for line in lines] == [style.light for style in palette.steps(3)]
        assert len({handle.get_marker() for handle in legend.legend_handles[:3]}) == 3


@pytest.mark.parametrize("x", ["graph", "weight", "macs"])
def test_the_inset_shows_a_part_of_its_panel_larger(make_swept: Callable[..., Run], x: XAxis) -> None:
    close = [make_swept(hidden=size, slope=10 + size / 16) for size in (8, 16, 32)]
    for area in draw("ablation", close, FigureChoices(x=x)).axes:
        (inset,) = insets(area)
        left, right = sorted(area.get_xlim())
        low, high = area.get_ylim()
        assert left < min(inset.get_xlim()) < max(inset.get_xlim()) < right
        assert low < inset.get_ylim()[0] < inset.get_ylim()[1] < high
        assert (inset.get_xlim()[0] > inset.get_xlim()[1]) == (x == "macs")
        assert inset.get_xscale() == area.get_xscale()
        place = inset.get_position().height / area.get_position().height
        assert place > (inset.get_ylim()[1] - inset.get_ylim()[0]) / (high - low)
        (indicator,) = [child for child in area.get_children() if type(child).__name__ == "InsetIndicator"]
        assert indicator.rectangle.get_height() == pytest.approx(inset.get_ylim()[1] - inset.get_ylim()[0])


def test_all_axes_are_a_grid_of_panels(runs: Sequence[Run]) -> None:
    assert len(draw("ablation", runs, FigureChoices(x="all", columns=2)).axes) == 6


def test_one_setting_is_one_panel_without_a_letter(make_swept: Callable[..., Run]) -> None:
    (area,) = draw("ablation", [make_swept(hidden=size, slope=size) for size in (8, 16)], FigureChoices()).axes
    assert area.get_legend().get_title().get_text() == ""
    assert area.get_legend().get_texts()[0].get_text() == "hidden = 8"


def test_figures_without_an_ablation_are_refused(
    make_swept: Callable[..., Run], make_scored: Callable[..., Run]
) -> None:
    with pytest.raises(ConfigError, match="needs runs that differ"):
        draw("ablation", [make_swept()], FigureChoices())
    with pytest.raises(StoreError, match="no finished round"):
        draw("ablation", [make_scored("admm", [])], FigureChoices())
    assert "ablation" in FIGURES.names()
