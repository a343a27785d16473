"""What a paper figure is: a name and a plan, from runs and choices to a drawing that is not yet on a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D

from analysis.export.choices import FigureChoices
from analysis.tables.captions import caption
from glt.errors import StoreError
from glt.registry import Registry
from glt.store import Run, SeedRun

Group = Literal["curves", "structure", "paper"]
GROUPS: dict[Group, str] = {"curves": "Curves", "structure": "Structure", "paper": "As in the paper"}
# The choices that a figure may have a use for, beside those of the page.
Use = Literal["axis", "score", "paper", "near", "round", "seed", "sample", "measure", "edge"]
CURVE: frozenset[Use] = frozenset({"axis", "score", "paper", "near"})


class Keys(NamedTuple):
    """What a legend explains: the runs, then what the marks mean."""

    runs: Sequence[Line2D] = ()
    marks: Sequence[Line2D] = ()


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure that waits for its page.

    `points` holds the numbers that are drawn, `height` is inches without the legend. `fill` draws into a figure or a
    part of one, in the style of the page, and returns the keys of the legend; `below` puts that under the panels.
    """

    points: pd.DataFrame
    caption: str
    height: float
    fill: Callable[[FigureBase], Keys]
    below: bool = False


@dataclass(frozen=True)
class PaperFigure:
    """One figure: `plan` reads what it shows of the runs, for a width in inches.

    `plan` raises StoreError or ConfigError where these runs have nothing to show. `left_out` says which of the runs it
    cannot show, and `because` why, as the end of a sentence. `uses` are the choices it has a use for. A `slow` one
    reads every round of every seed.
    """

    name: str
    label: str
    group: Group
    plan: Callable[[Sequence[Run], FigureChoices, float], Drawing]
    uses: frozenset[Use]
    left_out: Callable[[Sequence[Run]], Sequence[Run]] = lambda runs: ()
    because: str = ""
    slow: bool = False

    def missing(self, runs: Sequence[Run]) -> str:
        """Name the runs it cannot show in one sentence, "" where it shows them all."""
        names = ", ".join(run.reference for run in self.left_out(runs))
        return f"Left out, because they {self.because}: {names}." if names else ""


FIGURES: Registry[PaperFigure] = Registry("figure", "analysis.export.figures")


def rounds_caption(rounds: pd.DataFrame, choices: FigureChoices) -> str:
    """Say what a figure over all rounds of a `rounds_table` shows."""
    return caption(rounds, choices.score, choices.macs, choices.margin, choices.paper)


def shown_round(run: Run, choices: FigureChoices) -> tuple[SeedRun, int]:
    """Return the seed and the round of a run that are chosen; raises StoreError for a seed or round it does not have.

    Without a choice: the first seed, and its last finished round.
    """
    seed = run.existing_seed(choices.seed)
    rounds = len(seed.rounds())
    if rounds == 0:
        raise StoreError(f"{run.reference} has no finished round of seed {seed.seed} yet: wait for round 0.")
    return seed, rounds - 1 if choices.round is None else choices.round
