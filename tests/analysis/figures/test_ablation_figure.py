from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import plotly.graph_objects as go
import pytest

from analysis.ablation import ablation_panels
from analysis.drawing import screen
from analysis.figures.ablation import ablation_curves
from analysis.style import palette
from analysis.tables import XAxis
from glt.errors import ConfigError
from glt.store import Run


@pytest.fixture
def runs(make_swept: Callable[..., Run]) -> Sequence[Run]:
    return [make_swept(p_graph=g, p_weight=w) for g, w in product((0.05, 0.1, 0.2), (0.1, 0.2, 0.4))]


def lines(figure: go.Figure, axis: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.mode == "lines" and trace.xaxis == axis]


def test_each_panel_has_its_lines_and_its_inset_shows_them_again(runs: Sequence[Run]) -> None:
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
def test_the_inset_enlarges_the_box_that_is_drawn(make_swept: Callable[..., Run], x: XAxis) -> None:
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


def test_marks_name_their_round_and_every_value_has_a_marker_of_its_own(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs))
    marked = {tuple(place) for trace in figure.data if trace.customdata is not None for place in trace.customdata}
    assert marked == {(run, k) for panel in ablation_panels(runs) for run in panel.labels for k in range(13)}
    keys = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.marker.symbol for trace in keys] == ["circle", "square", "triangle-up"] * 2
    assert [trace.legend for trace in keys] == ["legend"] * 3 + ["legend2"] * 3


def test_dark_takes_the_light_part_of_the_scale(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs), dark=True)
    assert [trace.line.color for trace in lines(figure, "x")] == [style.dark for style in palette.steps(3)]


def test_a_single_run_is_refused(make_swept: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="needs runs that differ"):
        screen.draw(ablation_curves([make_swept()]))
