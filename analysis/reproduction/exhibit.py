"""How one experiment is shown and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from analysis.reproduction.claims import Claim
from analysis.reproduction.comparison import Comparison, judged_together
from analysis.tables import XAxis
from glt.reproduction import EXPERIMENTS, Setting
from glt.store import Run


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known in one setting: the runs, their `rounds_table`, and a way to their `measurement_table`."""

    setting: Setting
    runs: Sequence[Run]
    rounds: pd.DataFrame
    measured: Callable[[], pd.DataFrame]


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

    `measures` says that comparing needs graph measurements, which may take seconds.
    """

    name: str
    pictures: tuple[Picture, ...]
    compare: Callable[[Evidence], list[Comparison]] = field(default=nothing, repr=False)
    claims: Callable[[Evidence], list[Claim]] = field(default=no_claims, repr=False)
    measures: bool = False

    def rows(self, evidence: Evidence) -> list[Comparison]:
        """Return what is compared, judged together."""
        return judged_together(self.compare(evidence))

    @property
    def label(self) -> str:
        """The experiment's own label."""
        return EXPERIMENTS.get(self.name).label
