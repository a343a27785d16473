"""What a paper figure is: a name and a function from runs and choices to a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from analysis.export.choices import FigureChoices
from analysis.export.greys import in_grey
from analysis.export.rendering import paper_style
from analysis.tables.caption import caption
from glt.registry import Registry
from glt.store import Run


def rounds_caption(rounds: pd.DataFrame, choices: FigureChoices) -> str:
    """Say what a figure over all rounds of a `rounds_table` shows."""
    return caption(rounds, choices.score, choices.macs, choices.tolerance, choices.paper)


@dataclass(frozen=True)
class PaperFigure:
    """One figure: `make` draws it, in the style that `draw` has set, at `choices.width` inches.

    `caption` says what it shows of the runs' `rounds_table`, `left_out` which of the runs it cannot show. `one_round`
    is true of a figure that shows one round of one seed, and so has a use for `choices.round`, `seed` and `sample`
    instead of axes and scores.
    """

    name: str
    label: str
    make: Callable[[Sequence[Run], FigureChoices], Figure]
    caption: Callable[[pd.DataFrame, FigureChoices], str] = rounds_caption
    left_out: Callable[[Sequence[Run]], Sequence[Run]] = lambda runs: ()
    one_round: bool = False

    def missing(self, runs: Sequence[Run]) -> str:
        """Name the runs it cannot show in one sentence, "" where it shows them all."""
        names = ", ".join(run.name for run in self.left_out(runs))
        return f"Left out, because they do not share the settings that a panel keeps fixed: {names}." if names else ""


FIGURES: Registry[PaperFigure] = Registry("figure", "analysis.export.figures")


def draw(name: str, runs: Sequence[Run], choices: FigureChoices) -> Figure:
    """Return the figure called `name` for `runs`; raises ConfigError for an unknown one, StoreError for bad runs."""
    figure = FIGURES.get(name)
    with paper_style(choices.page, choices.font):
        drawn = settled(figure.make(runs, choices))
        return in_grey(drawn) if choices.grey else drawn


def settled(figure: Figure) -> Figure:
    """Lay a figure out once and for all: laid out again at every save, its places would move in the last digits."""
    # The first layout may change which ticks there are, and so what their numbers take.
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure
