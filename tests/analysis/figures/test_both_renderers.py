"""Every registered figure is drawn on the screen too: the same panels, words and numbers as on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
import pytest

from analysis.drawing import screen
from analysis.drawing.description import Axis, Band, Description, Key, Layer, Line, Marks, Note, Panel, Rule
from analysis.drawing.page import draw
from analysis.figures.base import FIGURES, FigureChoices
from analysis.style import palette
from analysis.style.palette import DARK
from analysis.subgraphs import Sample
from glt.store import Run

CHOICES = FigureChoices(round=5, sample=Sample(size=40), measure="edges_kept_either_way")


def places(figure: go.Figure) -> Iterator[float]:
    for trace in figure.data:
        for values in (trace.x, trace.y, trace.z if trace.type == "heatmap" else None):
            if values is not None:
                flat = [value for row in values for value in (row if np.ndim(row) else [row])]
                yield from (float(value) for value in flat if isinstance(value, int | float | np.number))


@pytest.mark.parametrize("name", FIGURES.names())
def test_every_figure_is_drawn_on_the_screen(runs_for: Callable[[str], Sequence[Run]], name: str) -> None:
    description = FIGURES.get(name).describe(runs_for(name), CHOICES)
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


def test_what_is_for_one_of_them_is_drawn_by_that_one_alone() -> None:
    lines = [Line(x=[0, 1], y=[1, 2], on=on) for on in ("both", "screen", "paper")]
    notes = [Note(x=5, text=on, on=on) for on in ("both", "screen", "paper")]
    figure = screen.draw(described(*lines, notes=notes))
    assert len([trace for trace in figure.data if len(trace.x) == 2]) == 2
    assert [note.text for note in figure.layout.annotations] == ["both", "screen"]


def test_text_is_escaped_and_neutral_inks_follow_the_theme() -> None:
    rule = Rule(at=50.0, ink="muted", name="<i>", owner="<u>", value="5 %")
    figure = screen.draw(described(Line(x=[0, 1], y=[1, 2], name="<s>"), rules=[rule], beside=True), dark=True)
    assert [trace.name for trace in figure.data] == ["&lt;s&gt;", "&lt;b&gt;"]
    (label,) = figure.layout.annotations
    assert label.text == "&lt;i&gt; 5 %<br>&lt;u&gt;"
    assert label.font.color == DARK.muted


def test_a_band_leaves_out_what_is_not_known() -> None:
    band = Band(x=[0, 1, 2], low=[1.0, np.nan, 3.0], high=[2.0, 2.0, 4.0], ink=palette.style("ugs"))
    (trace, _) = screen.draw(described(band)).data
    assert trace.x.tolist() == [0, 2, 2, 0]
    nothing = Band(x=[0, 1], low=[np.nan] * 2, high=[np.nan] * 2)
    assert len(screen.draw(described(nothing)).data) == 1


def test_labels_of_rules_keep_apart_in_the_margin() -> None:
    rules = [Rule(at=at, name="Dense", value=f"{at} %") for at in (50.0, 50.5)]
    low, high = (note.y for note in screen.draw(described(rules=rules, beside=True)).layout.annotations)
    assert high - low > 5


def test_a_description_without_runs_is_a_page_of_axes(runs_for: Callable[[str], Sequence[Run]]) -> None:
    assert draw("accuracy", runs_for("accuracy"), CHOICES).axes[0].get_xlabel() == "Graph sparsity (%)"
    assert screen.draw(described()).layout.xaxis.title.text == "x"
