"""A page of a paper: one figure at a venue's width, or several as lettered panels with one legend outside."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.export.alignment import align, keep_ticks
from analysis.export.choices import FigureChoices
from analysis.export.figures import FIGURES, Drawing
from analysis.export.figures.legend import add_legend, legend_height
from analysis.export.greys import in_grey
from analysis.export.panels import panels, shape_of
from analysis.export.rendering import paper_style
from glt.store import Run


def plan(name: str, runs: Sequence[Run], choices: FigureChoices, shape: str | None = None) -> Drawing:
    """Read what the figure called `name` shows of `runs`, or several with commas between their names.

    Several are panels in `shape` ("2x2": rows, columns; None: as many in a row as can be read). Raises ConfigError for
    an unknown name or bad choices, StoreError for runs with nothing to show.
    """
    names = [part.strip() for part in name.split(",")]
    if len(names) == 1 and shape is None:
        return FIGURES.get(name).plan(runs, choices, choices.width)
    return panels(names, runs, choices, shape_of(shape, len(names), choices.width))


def draw(name: str, runs: Sequence[Run], choices: FigureChoices, shape: str | None = None) -> Figure:
    """Return the figure called `name` for `runs`; raises as `plan` does."""
    return on_page(plan(name, runs, choices, shape), choices)


def on_page(drawing: Drawing, choices: FigureChoices) -> Figure:
    """Put a drawing on a page of its own."""
    with paper_style(choices.page, choices.font):
        width = choices.width
        figure = Figure(figsize=(width, drawing.height), layout="constrained")
        keys = drawing.fill(figure)
        figure.set_figheight(drawing.height + legend_height(keys, width))
        add_legend(figure, keys, width, drawing.below)
        settle(figure)
        return in_grey(figure) if choices.grey else figure


def settle(figure: Figure) -> None:
    """Lay a figure out once and for all: laid out again at every save, its places would move in the last digits."""
    # A layout makes room for the tick labels there are, but axes of another size may get other ticks: 82, then 82.5.
    for _ in range(2):
        figure.draw_without_rendering()
    for area in figure.axes:
        keep_ticks(area.xaxis)
        keep_ticks(area.yaxis)
    # So the last layout is one for ticks that stay.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    align(figure)
