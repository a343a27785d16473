"""What a user may choose about a paper figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analysis.export.venues import Font, Venue, venue_named
from analysis.subgraphs import Sample
from analysis.tables.curves import Score, XAxis
from glt.store import MacConvention
from glt.verdicts import DELTA

RANDOM_WALK = Sample()
THREE: tuple[XAxis, ...] = ("graph", "weight", "macs")


@dataclass(frozen=True)
class FigureChoices:
    """One choice each; a figure reads those it has a use for. `margin` is a fraction, stated before looking.

    `x` "all" draws the three axes as panels (a), (b), (c); `near` ends the y axis 20 points below dense. `round` None
    is the last finished one, `seed` None the first. `text` is the size of words in points, None the venue's own.
    `fresh` marks what the round itself removed. A `measure` is drawn `over` rounds or edges kept, with `null` beside
    as dense a graph of random edges. `edge` names both ends of an edge, None takes one of the node with most of them.
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
        """The venue's measures with the chosen size of words; raises ConfigError for an unknown venue or a bad size."""
        return venue_named(self.venue).with_text(self.text)

    @property
    def width(self) -> float:
        """Width in inches."""
        return self.page.width(self.columns)
