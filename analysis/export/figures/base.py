"""What a paper figure is: a name and a function from runs and choices to a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from analysis.export.choices import FigureChoices
from analysis.export.rendering import paper_style
from glt.registry import Registry
from glt.store import Run


@dataclass(frozen=True)
class PaperFigure:
    """One figure: `make` draws it, in the style that `draw` has set, at `choices.width` inches."""

    name: str
    label: str
    make: Callable[[Sequence[Run], FigureChoices], Figure]


FIGURES: Registry[PaperFigure] = Registry("figure", "analysis.export.figures")


def draw(name: str, runs: Sequence[Run], choices: FigureChoices) -> Figure:
    """Return the figure called `name` for `runs`; raises ConfigError for an unknown one, StoreError for bad runs."""
    figure = FIGURES.get(name)
    with paper_style(choices.page):
        return settled(figure.make(runs, choices))


def settled(figure: Figure) -> Figure:
    """Lay a figure out once and for all: laid out again at every save, its places would move in the last digits."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure
