"""What a figure is: a name and a function from runs and choices to a description, found through the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from analysis.drawing.description import DASHES, EVEN, Dash, Description, Key
from analysis.drawing.venues import Font, Venue, venue_page
from analysis.palette import MOST_DASHED, Style, crowd_styles, painted, style
from analysis.subgraphs.samplers import Sample
from analysis.tables.captions import caption
from analysis.tables.curves import Score, XAxis
from glt.errors import StoreError
from glt.registry import Registry
from glt.store import MacConvention, Run, SeedRun
from glt.verdicts import DELTA

if TYPE_CHECKING:
    from analysis.budget import Budget

Group = Literal["curves", "structure", "paper"]
GROUPS: dict[Group, str] = {"curves": "Curves", "structure": "Structure", "paper": "As in the paper"}
# The choices that a figure may use, beside those of the page.
Use = Literal["axis", "score", "paper", "near", "round", "seed", "sample", "measure", "edge", "chance", "budget"]
Chance = Literal["reach", "any"]
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
    `budget` says where methods are compared, None at the usual targets. `chance` is what losses are compared with:
    random removal within the reach of each search, or of any edge. `causes` colours removed edges by cause.
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
    chance: Chance = "reach"
    causes: bool = False
    budget: Budget | None = None

    @property
    def axes(self) -> tuple[XAxis, ...]:
        """The axes that panels are drawn over: the chosen one, or all three."""
        return THREE if self.x == "all" else (self.x,)

    @property
    def page(self) -> Venue:
        """The venue's measures with the chosen font size; raises ConfigError for an unknown venue or a bad size."""
        return venue_page(self.venue, self.text)

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


# How the runs of a table look beside each other: colour and marker of the method, and a dash for each further run.


class RunLooks:
    """Looks of the runs in a table with the columns run, label, method and color.

    Runs look like their method unless `styles` says otherwise by their names, or a person chose a colour. More than
    `most` runs of a method are a crowd, in shades of its colour.
    """

    def __init__(self, table: pd.DataFrame, styles: Mapping[str, Style] | None = None, most: int = MOST_DASHED) -> None:
        self._firsts = table.drop_duplicates("run")[["run", "label", "method"]]
        self._set = styles or {}
        chosen = table[["run", "method", "color"]].drop_duplicates("run").itertuples(index=False, name=None)
        self._own = {run: painted(method, color) for run, method, color in chosen if color}
        self.crowd = {} if styles else crowd_styles(table, most)
        self._dashes = {} if styles else dash_of_run(table)

    def __len__(self) -> int:
        return len(self._firsts)

    def style(self, run: object, method: str) -> Style:
        """Return colours and marker of a run."""
        name = str(run)
        return self._set.get(name) or self._own.get(name) or self.crowd.get(name) or style(method)

    def dash(self, run: object) -> Dash:
        """Return the line of a run: its method's for the first of a method, solid for runs with styles of their own."""
        return DASHES[self._dashes.get(str(run), 0)]

    def keys(self, lines: bool = True, marks: bool = True, size: float = EVEN) -> list[Key]:
        """Return the legend key of every run: its line, its mark, or both."""
        return [
            Key(
                label=label,
                ink=(look := self.style(run, method)),
                dash=self.dash(run) if lines else "",
                shape=look.symbol if marks else "",
                size=size,
                group=run,
            )
            for run, label, method in self._firsts.itertuples(index=False, name=None)
        ]


def dash_of_run(table: pd.DataFrame) -> dict[str, int]:
    """Return which of the DASHES each run's line has: the first run of a method has the method's, others follow.

    A crowd that is a multiple of three takes three of them, so that in a grid of three values each keeps its dash.
    """
    runs = table[["run", "method"]].drop_duplicates()
    groups = runs.groupby("method")
    of_method = groups["run"].transform("size")
    period = np.where((of_method > len(DASHES)) & (of_method % 3 == 0), 3, len(DASHES))
    first = runs["method"].map(lambda method: style(method).dash)
    return dict(zip(runs["run"], (first + groups.cumcount()) % period, strict=True))
