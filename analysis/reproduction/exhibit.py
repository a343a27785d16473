"""How one experiment is shown and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from analysis.reproduction.claims import Claim
from analysis.reproduction.comparison import Comparison
from analysis.tables import XAxis
from glt.reproduction import EXPERIMENTS, Setting
from glt.store import Run


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known in one setting: the runs, their `rounds_table`, and a way to their `measurement_table`.

    `scored` is the `rounds_table` of every run whose scores the paper prints in this setting, in whatever exhibit, so
    that a number has one family of tests and one verdict. It defaults to `rounds`.
    """

    setting: Setting
    runs: Sequence[Run]
    rounds: pd.DataFrame
    measured: Callable[[], pd.DataFrame]
    scored: pd.DataFrame | None = None


@dataclass(frozen=True)
class Picture:
    """One figure of an exhibit, with its place in the paper: curves over `x` (an ablation in panels) or subgraphs."""

    kind: Literal["curve", "ablation", "subgraphs"]
    label: str
    place: str
    x: XAxis = "graph"


def nothing(evidence: Evidence) -> list[Comparison]:
    """Compare nothing: the paper prints no number."""
    return []


def no_claims(evidence: Evidence) -> list[Claim]:
    """Test no claim."""
    return []


@dataclass(frozen=True)
class Exhibit:
    """The pictures of the experiment with this name, what of it is compared, and which claims are tested.

    `scores` says that printed scores are compared, `measures` that comparing needs graph measurements, which may take
    seconds.
    """

    name: str
    pictures: tuple[Picture, ...]
    rows: Callable[[Evidence], list[Comparison]] = field(default=nothing, repr=False)
    claims: Callable[[Evidence], list[Claim]] = field(default=no_claims, repr=False)
    scores: bool = False
    measures: bool = False

    @property
    def label(self) -> str:
        """The experiment's own label."""
        return EXPERIMENTS.get(self.name).label
