"""What a figure is: a name and a function from runs and choices to a description, found through the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis.drawing.description import Description
from analysis.drawing.venues import Font, Venue, venue_named
from analysis.subgraphs import Sample
from analysis.tables.captions import caption
from analysis.tables.curves import Score, XAxis
from glt.errors import StoreError
from glt.registry import Registry
from glt.store import MacConvention, Run, SeedRun
from glt.verdicts import DELTA

Group = Literal["curves", "structure", "paper"]
GROUPS: dict[Group, str] = {"curves": "Curves", "structure": "Structure", "paper": "As in the paper"}
# The choices that a figure may use, beside those of the page.
Use = Literal["axis", "score", "paper", "near", "round", "seed", "sample", "measure", "edge"]
CURVE: frozenset[Use] = frozenset({"axis", "score", "paper", "near"})
RANDOM_WALK = Sample()
THREE: tuple[XAxis, ...] = ("graph", "weight", "macs")


@dataclass(frozen=True)
class FigureChoices:
    """One choice each; a figure reads those it uses. `margin` is a fraction, stated before looking.

    `x` "all" draws the three axes as panels (a), (b), (c); `near` ends the y axis 20 points below dense. `round` None
    is the last finished one, `seed` None the first. `text` is the font size in points, None the venue's own. `fresh`
    marks what the round itself removed. A `measure` is drawn `over` rounds or edges kept, with `null` beside as dense a
    graph of random edges. `edge` names both ends of an edge, None takes one of the node with most of them.
    """

    venue: str = "icml"
    columns: int = 1
    x: XAxis | Literal["all"] = "graph"
    score: Score = "test"
    macs: MacConvention = "dense_features"
    margin: float = DELTA
    paper: bool = False
    near: bool = True
    round: int | None = None
    seed: int | None = None
    sample: Sample = RANDOM_WALK
    font: Font = "times"
    text: float | None = None
    grey: bool = False
    fresh: bool = False
    measure: str = "average_clustering"
    over: Literal["round", "kept"] = "round"
    null: bool = True
    edge: tuple[int, int] | None = None

    @property
    def axes(self) -> tuple[XAxis, ...]:
        """The axes that panels are drawn over: the chosen one, or all three."""
        return THREE if self.x == "all" else (self.x,)

    @property
    def page(self) -> Venue:
        """The venue's measures with the chosen font size; raises ConfigError for an unknown venue or a bad size."""
        return venue_named(self.venue).with_text(self.text)

    @property
    def width(self) -> float:
        """Width in inches."""
        return self.page.width(self.columns)


@dataclass(frozen=True)
class Figure:
    """One figure: `describe` reads what it shows of the runs.

    `describe` raises StoreError or ConfigError where these runs have nothing to show. `left_out` says which of the runs
    it cannot show, and `because` why, as the end of a sentence. `uses` are the choices it reads. A `slow` one reads
    every round of every seed.
    """

    name: str
    label: str
    group: Group
    describe: Callable[[Sequence[Run], FigureChoices], Description]
    uses: frozenset[Use]
    left_out: Callable[[Sequence[Run]], Sequence[Run]] = lambda runs: ()
    because: str = ""
    slow: bool = False

    def missing(self, runs: Sequence[Run]) -> str:
        """Name the runs it cannot show in one sentence, "" where it shows them all."""
        names = ", ".join(run.reference for run in self.left_out(runs))
        return f"Left out, because they {self.because}: {names}." if names else ""


FIGURES: Registry[Figure] = Registry("figure", "analysis.figures")


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
