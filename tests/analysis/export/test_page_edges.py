"""Nothing of a figure touches or leaves the edge of its page: tick labels are measured after the last layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from analysis.drawing.page import draw
from analysis.drawing.venues import VENUES
from analysis.figures.base import FIGURES, FigureChoices
from glt.store import Run, bundled_examples

MakeScored = Callable[..., Run]
# Venues of one width and one size of words give one page.
PAGES = list({FigureChoices(venue=name, columns=n).width: (name, n) for name in VENUES for n in (1, 2)}.values())
CURVES = ("accuracy", "pareto", "teaser")
DPI = 100
# Of 255: lighter than this is paper, or the last of a stroke's blur.
INK = 200


def left_the_page(figure: Figure, width: float) -> str:
    """Say which edges of the page have ink on them, or something of the figure beyond them; "" where none has."""
    assert figure.get_size_inches()[0] == pytest.approx(width)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    ink = (np.asarray(canvas.buffer_rgba())[..., :3] < INK).any(axis=-1)
    box, (wide, high) = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    edges = {
        "left": ink[:, 0].any() or box.x0 < 0,
        "right": ink[:, -1].any() or box.x1 > wide,
        "top": ink[0].any() or box.y1 > high,
        "bottom": ink[-1].any() or box.y0 < 0,
    }
    return ", ".join(edge for edge, touched in edges.items() if touched)


@pytest.fixture(scope="module")
def pair() -> Sequence[Run]:
    """UGS from a random and from a pre-trained start, whose scores lie so near each other that ticks have decimals."""
    names = ("cora-node-gcn-ugs-df8e8f72", "cora-node-gcn-ugs-5840f40e")
    examples = {run.name: run for run in bundled_examples()}
    return [examples[name] for name in names]


@pytest.mark.parametrize("name", FIGURES.names())
def test_no_figure_touches_the_edge_at_any_venue_and_width(pair: Sequence[Run], name: str) -> None:
    touched = {}
    for venue, columns in PAGES:
        choices = FigureChoices(venue=venue, columns=columns, round=9)
        touched[venue, columns] = left_the_page(draw(name, pair, choices), choices.width)
    assert not any(touched.values()), touched


@pytest.mark.parametrize(("shape", "columns"), [("2x1", 1), ("1x2", 2), ("2x2", 2), ("4x1", 1)])
def test_no_panel_touches_the_edge(pair: Sequence[Run], shape: str, columns: int) -> None:
    names = "accuracy,pareto" if shape in ("2x1", "1x2") else "accuracy,pareto,teaser,degrees"
    choices = FigureChoices(columns=columns, round=9)
    assert left_the_page(draw(names, pair, choices, shape), choices.width) == ""


@pytest.fixture
def near(make_scored: MakeScored) -> Sequence[Run]:
    """Runs whose scores span less than a point."""
    return [
        make_scored("ugs", [[0.8012, 0.8009, 0.8003, 0.7991]] * 3),
        make_scored("random", [[0.8012, 0.8004, 0.7998, 0.7986]] * 3),
    ]


@pytest.fixture
def many(make_scored: MakeScored) -> Sequence[Run]:
    """Fourteen runs of one method."""
    scores = [[[0.8 - 0.003 * n, 0.79, 0.7]] * 2 for n in range(14)]
    return [make_scored("ugs", each, hidden=8 * (n + 1)) for n, each in enumerate(scores)]


# Every axis at both widths, then the other figures of curves and other letters on the narrower page.
STRAINED = [("accuracy", FigureChoices(columns=n, x=x)) for n in (1, 2) for x in ("graph", "weight", "macs", "all")]
STRAINED += [(name, FigureChoices(font="sans", text=12.0)) for name in CURVES]


@pytest.mark.parametrize("runs", ["near", "many"])
def test_long_tick_labels_and_many_runs_stay_on_the_page(request: pytest.FixtureRequest, runs: str) -> None:
    shown: Sequence[Run] = request.getfixturevalue(runs)
    touched = {}
    for name, choices in STRAINED:
        about = (name, choices.x, choices.columns, choices.font)
        touched[about] = left_the_page(draw(name, shown, choices), choices.width)
    assert not any(touched.values()), touched
