"""Properties of every registered figure: width, fonts, equal bytes, greys, and points drawn by both renderers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.collections import Collection, LineCollection
from matplotlib.colors import to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from analysis import palette
from analysis.cli.figure import FIGURES as NAMES
from analysis.cli.figure import KINDS
from analysis.drawing import screen
from analysis.drawing.description import Axis, Band, Description, Key, Layer, Line, Marks, Note, Panel, Rule
from analysis.drawing.files import FORMATS, PGF, csv_bytes, figure_bytes, json_bytes
from analysis.drawing.page import draw, on_page, plan
from analysis.drawing.paper import MARK
from analysis.figures.base import FIGURES, GROUPS, FigureChoices
from analysis.figures.losers import SIZE
from analysis.palette import DARK
from analysis.subgraphs.samplers import Sample
from glt.errors import StudioError
from glt.store import Run

RunsFor = Callable[[str], Sequence[Run]]

CHOICES = {"round": 5, "margin": 0.01, "sample": Sample(size=40), "measure": "edges_kept_either_way"}

PAGES = {
    "column in colour": FigureChoices(**CHOICES),
    "double in grey": FigureChoices(venue="ieee", columns=2, grey=True, font="sans", x="all", **CHOICES),
}

# The columns of its points that a figure places on the page, and what it multiplies them by.
PLACED = {
    "ablation": {"x": 100, "mean": 100},
    "accuracy": {"x": 100, "mean": 100},
    "attribution": {"mean": 100},
    "budget": {"mean": 100, "dense": 100},
    "calibration": {"round": 1, "mean": 1},
    "causes": {"top": 100},
    "degrees": {"at_least": 100},
    "layers": {"round": 1, "mean": 100},
    "losers": {"share": 100, "null_low": 100, "null_high": 100},
    "pairs": {},
    "pareto": {"x": 100, "mean": 100},
    "scores": {"round": 1, "rank": 100},
    "stability": {},
    "subgraphs": {"x": 1, "y": 1, "other_x": 1, "other_y": 1},
    "teaser": {"x": 100, "mean": 100},
    "training": {"at": 1, "val": 100, "test": 100, "loss": 1},
    "transfer": {},
    "trend": {"round": 1, "mean": 100, "original": 100},
    "who_pays": {"dense": 100, "accuracy": 100},
}


def poppler(tool: str, content: bytes, folder: Path) -> list[str]:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} (poppler-utils) is not installed")
    (folder / "figure.pdf").write_bytes(content)
    return subprocess.run([tool, folder / "figure.pdf"], check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", FIGURES.names())
def test_paper_figures_have_venue_width_fonts_and_equal_bytes(
    runs_for: RunsFor, tmp_path: Path, name: str, page: str
) -> None:
    choices = PAGES[page]
    figure = draw(name, runs_for(name), choices)
    content = figure_bytes(figure, "pdf")
    assert content == figure_bytes(draw(name, runs_for(name), choices), "pdf")
    size = next(line for line in poppler("pdfinfo", content, tmp_path) if line.startswith("Page size"))
    assert float(size.split()[2]) == pytest.approx(72 * choices.width, abs=0.05)
    fonts = poppler("pdffonts", content, tmp_path)[2:]
    assert fonts
    assert all("TrueType" in font and font.split()[-5] == "yes" for font in fonts)
    for kind in ("svg", "png"):
        assert figure_bytes(figure, kind) == figure_bytes(figure, kind)
    assert (colorfulness(figure) < 1e-6) == choices.grey


def colorfulness(figure: Figure) -> float:
    """Return the largest difference between the red, green and blue of one colour in the figure."""
    colors = [to_rgba_array(mark.get_facecolor()) for mark in figure.findobj(Collection)]
    colors += [to_rgba_array(mark.get_edgecolor()) for mark in figure.findobj(Collection)]
    colors += [np.array([to_rgba(mark.get_color())]) for kind in (Line2D, Text) for mark in figure.findobj(kind)]
    colors += [np.array([mark.get_facecolor()]) for mark in figure.findobj(Patch)]
    return float(np.ptp(np.concatenate([rows for rows in colors if len(rows)])[:, :3], axis=1).max())


@pytest.mark.parametrize("name", FIGURES.names())
def test_both_renderers_draw_the_points(runs_for: RunsFor, name: str) -> None:
    choices = PAGES["column in colour"]
    drawing = plan(name, runs_for(name), choices)
    drawn = {round(number, 6) for number in numbers(on_page(drawing, choices))}
    table = drawing.points
    shown = table[table["degree"] > 0] if name == "degrees" else table
    for column, factor in PLACED[name].items():
        wanted = {round(factor * value, 6) for value in shown[column].dropna().tolist()}
        assert wanted, column
        assert wanted <= drawn, column
    records = json.loads(json_bytes(table))
    assert [list(record) for record in records] == [list(table)] * len(table)
    assert len(pd.read_csv(pd.io.common.BytesIO(csv_bytes(table)))) == len(table)
    assert drawing.caption.endswith(".")


def numbers(figure: Figure) -> Iterator[float]:
    """Yield all coordinates of lines, marks and stroke ends in data units."""
    for line in figure.findobj(Line2D):
        yield from np.asarray(line.get_xydata(), dtype=float).ravel().tolist()
    for marks in figure.findobj(Collection):
        yield from np.ma.getdata(marks.get_offsets()).ravel().tolist()
    for strokes in figure.findobj(LineCollection):
        for path in strokes.get_paths():
            yield from path.vertices.ravel().tolist()


def test_the_class_matrix_states_shares_and_chance(runs_for: RunsFor) -> None:
    drawing = plan("pairs", runs_for("pairs")[:1], PAGES["column in colour"])
    words = [text.get_text() for text in on_page(drawing, PAGES["column in colour"]).axes[0].texts]
    cells = [re.fullmatch(r"(\d+)([+\N{MINUS SIGN}]?)", each) for each in words]
    rows = drawing.points
    mirrored = rows[(rows["group"] // 7) != (rows["group"] % 7)]
    shares = pd.concat([rows["share"], mirrored["share"]])
    assert sorted(int(cell[1]) for cell in cells if cell) == sorted(round(100 * share) for share in shares)
    more = (rows["share"] > rows["null_high"]).sum() + (mirrored["share"] > mirrored["null_high"]).sum()
    assert sum(cell[2] == "+" for cell in cells if cell) == more > 0


def test_every_figure_is_tested_and_in_a_group() -> None:
    assert list(PLACED) == FIGURES.names()
    assert {figure.group for figure in FIGURES} == set(GROUPS)


@pytest.mark.parametrize("name", FIGURES.names())
def test_runs_without_rounds_are_refused(make_run: Callable[..., Run], name: str) -> None:
    with pytest.raises(StudioError) as error:
        plan(name, [make_run(seeds=())], FigureChoices())
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_marks_of_no_loss_are_inside_the_axis(runs_for: RunsFor) -> None:
    figure = draw("losers", runs_for("losers")[:1], FigureChoices(round=13))
    figure.canvas.draw()
    for area in figure.axes:
        zero, left = area.transData.transform((0, 0))[0], area.get_window_extent().x0
        assert (zero - left) * 72 / figure.dpi >= MARK * SIZE


def test_the_command_names_every_figure() -> None:
    assert list(NAMES) == sorted(figure.name for figure in FIGURES)
    assert {*KINDS} == {*FORMATS, PGF}


SHOWN = FigureChoices(round=5, sample=Sample(size=40), measure="edges_kept_either_way")


def places(figure: go.Figure) -> Iterator[float]:
    for trace in figure.data:
        for values in (trace.x, trace.y, trace.z if trace.type == "heatmap" else None):
            if values is not None:
                flat = [value for row in values for value in (row if np.ndim(row) else [row])]
                yield from (float(value) for value in flat if isinstance(value, int | float | np.number))


@pytest.mark.parametrize("name", FIGURES.names())
def test_every_figure_is_drawn_on_the_screen(runs_for: Callable[[str], Sequence[Run]], name: str) -> None:
    description = FIGURES.get(name).describe(runs_for(name), SHOWN)
    light, dark = (screen.draw(description, dark) for dark in (False, True))
    assert [trace.name for trace in light.data] == [trace.name for trace in dark.data]
    titles = {axis.title.text for axis in light.select_xaxes()} | {axis.title.text for axis in light.select_yaxes()}
    assert {panel.x.title for panel in description.panels} <= titles
    drawn = {round(value, 6) for value in places(light) if np.isfinite(value)}
    for panel in description.panels:
        for layer in panel.layers:
            if isinstance(layer, Line | Marks) and layer.on != "paper":
                wanted = np.asarray(layer.y if not panel.y.categories else layer.x, dtype=np.float64)
                assert {round(float(value), 6) for value in wanted if np.isfinite(value)} <= drawn
    keys = [key.label for key in description.keys if key.on != "paper"]
    assert len([trace for trace in light.data if trace.showlegend is not False and trace.name]) >= len(keys)


def described(*layers: Layer, **parts: object) -> Description:
    panel = Panel(x=Axis(title="x", limits=(0, 10)), y=Axis(title="y", limits=(0, 100)), layers=layers, **parts)
    return Description(panels=[panel], keys=[Key(label="<b>", ink="text", dash="solid")])


def test_renderer_specific_marks_are_drawn_by_that_renderer_only() -> None:
    lines = [Line(x=[0, 1], y=[1, 2], on=on) for on in ("both", "screen", "paper")]
    notes = [Note(x=5, text=on, on=on) for on in ("both", "screen", "paper")]
    figure = screen.draw(described(*lines, notes=notes))
    assert len([trace for trace in figure.data if len(trace.x) == 2]) == 2
    assert [note.text for note in figure.layout.annotations] == ["both", "screen"]


@pytest.mark.parametrize("name", ["losers", "who_pays"])
def test_runs_have_lanes_of_their_own_in_every_row(runs_for: RunsFor, name: str) -> None:
    description = FIGURES.get(name).describe(runs_for(name), SHOWN)
    figure = screen.draw(description)
    # Keys of the legend are traces without a point.
    marks = [trace for trace in figure.data if trace.type == "scatter" and trace.x[0] is not None]
    places = {(trace.yaxis, round(float(place), 6)) for trace in marks for place in trace.y}
    assert len(places) == len(description.points)
    axes = list(figure.select_yaxes())
    assert [list(axis.ticktext) for axis in axes] == [list(panel.y.categories) for panel in description.panels]
    alone = screen.draw(FIGURES.get(name).describe(runs_for(name)[:1], SHOWN))
    assert {axis.type for axis in alone.select_yaxes()} == {"category"}


def test_text_is_escaped_and_neutral_inks_follow_the_theme() -> None:
    rule = Rule(at=50.0, ink="muted", name="<i>", owner="<u>", value="5 %")
    figure = screen.draw(described(Line(x=[0, 1], y=[1, 2], name="<s>"), rules=[rule], beside=True), dark=True)
    assert [trace.name for trace in figure.data] == ["&lt;s&gt;", "&lt;b&gt;"]
    (label,) = figure.layout.annotations
    assert label.text == "&lt;i&gt; 5 %<br>&lt;u&gt;"
    assert label.font.color == DARK.muted


def test_bands_omit_unknown_values() -> None:
    band = Band(x=[0, 1, 2], low=[1.0, np.nan, 3.0], high=[2.0, 2.0, 4.0], ink=palette.style("ugs"))
    (trace, _) = screen.draw(described(band)).data
    assert trace.x.tolist() == [0, 2, 2, 0]
    nothing = Band(x=[0, 1], low=[np.nan] * 2, high=[np.nan] * 2)
    assert len(screen.draw(described(nothing)).data) == 1


def test_margin_labels_do_not_overlap() -> None:
    rules = [Rule(at=at, name="Dense", value=f"{at} %") for at in (50.0, 50.5)]
    low, high = (note.y for note in screen.draw(described(rules=rules, beside=True)).layout.annotations)
    assert high - low > 5


def test_a_description_without_runs_draws_axes(runs_for: Callable[[str], Sequence[Run]]) -> None:
    assert draw("accuracy", runs_for("accuracy"), SHOWN).axes[0].get_xlabel() == "Graph sparsity (%)"
    assert screen.draw(described()).layout.xaxis.title.text == "x"
