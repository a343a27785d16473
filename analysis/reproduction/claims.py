"""What the paper says in words, tested on our rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis import palette, published
from analysis.reproduction.comparison import mean_and_half, per_seed
from analysis.tables import curve_table, tickets_table
from analysis.tables.statistics import FEWEST
from glt import formats

if TYPE_CHECKING:
    from analysis.reproduction.exhibit import Evidence

INTERVAL = "the 95% interval of the difference seed by seed"
FEW_SEEDS = {1: "one seed that both have, so no interval", 2: "two seeds that both have, too few for an interval"}


@dataclass(frozen=True)
class Claim:
    """What the paper says and where, whether our rounds bear it out (None: cannot be said yet), and what they say."""

    text: str
    place: str
    holds: bool | None
    ours: str


def saves_macs(evidence: Evidence, dataset: str | None = None) -> list[Claim]:
    """Test that the extreme ticket saves as many MACs as claimed, for one data set or for the range over several."""
    claim = published.saving(evidence.setting.task, evidence.setting.model, dataset)
    rounds = evidence.rounds[evidence.rounds["method"] == "ugs"]
    if claim is None:
        return []
    share = formats.percent(claim.low) + (f" to {formats.percent(claim.high)}" if claim.high > claim.low else "")
    text = f"Tickets save {share} of inference MACs without losing performance ({claim.over})."
    if rounds["round"].max() < 1 or rounds.empty:
        return [Claim(text, claim.source, None, "no pruned round of UGS yet")]
    return [Claim(text, claim.source, *_saved(rounds, claim))]


def _saved(rounds: pd.DataFrame, claim: published.Saving) -> tuple[bool, str]:
    best = tickets_table(rounds).iloc[0]
    dense = f"dense baseline of {formats.percent(best['dense'])}"
    if not best["is_ticket"]:
        gap = formats.points(-best["difference"]).lstrip("+")
        return False, f"no round of UGS reaches its {dense}; round {best['round']} comes closest, {gap} below"
    saved = f"UGS matches its {dense} up to round {best['round']}, which saves {formats.percent(best['macs_saved'])}"
    return bool(best["macs_saved"] >= claim.low - 0.005), f"{saved} of MACs"


def leads(
    evidence: Evidence, text: str, place: str, better: str, worse: str, only: Sequence[int] | None = None
) -> list[Claim]:
    """Test that one method is above another, paired by seed, in every round of `only`, by default in all pruned ones.

    It holds when each round's 95% interval of the paired difference lies above zero, and does not when one lies below.
    Otherwise it stays open, for the seeds do not tell; fewer than three never do. `better` heads the words of
    what was found.
    """
    gaps = [gap for gap in _gaps(evidence.rounds, better, worse) if not only or gap.round in only]
    if not gaps:
        return [Claim(text, place, None, "not both have pruned rounds yet")]
    who = f"{palette.label(better)} is"
    behind = [gap.round for gap in gaps if gap.mean <= 0]
    clearly = [gap.round for gap in gaps if gap.is_clearly_behind]
    few = FEW_SEEDS.get(max(gap.seeds for gap in gaps), "")
    if behind:
        words = f"{who} ahead in {len(gaps) - len(behind)} of {len(gaps)} rounds and behind in k = {spans(behind)}"
        told = f"beyond {INTERVAL} in k = {spans(clearly)}" if clearly else f"never beyond {INTERVAL}"
        told = told if any(gap.seeds >= FEWEST for gap in gaps) else few
        return [Claim(text, place, False if clearly else None, f"{words} ({told})")]
    words = f"{who} ahead in all {len(gaps)} rounds, by {_range([gap.mean for gap in gaps])}"
    unclear = [gap.round for gap in gaps if not gap.is_clear]
    if all(gap.seeds < FEWEST for gap in gaps):
        return [Claim(text, place, None, f"{words} ({few})")]
    if unclear:
        return [Claim(text, place, None, f"{words}, but within {INTERVAL} in k = {spans(unclear)}")]
    return [Claim(text, place, True, f"{words}, each beyond {INTERVAL}")]


@dataclass(frozen=True)
class _Gap:
    """How far one method is above another in a round: shared seeds, their mean, and its interval's half-width."""

    round: int
    seeds: int
    mean: float
    half: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies above zero; fewer than three seeds have none."""
        return self.mean - self.half > 0

    @property
    def is_clearly_behind(self) -> bool:
        """Whether the interval lies below zero."""
        return self.mean + self.half < 0


def _gaps(rounds: pd.DataFrame, better: str, worse: str) -> list[_Gap]:
    shared = sorted({int(number) for number in rounds["round"]} - {0})
    paired = {number: per_seed(rounds, better, number) - per_seed(rounds, worse, number) for number in shared}
    known = {number: gaps.dropna() for number, gaps in paired.items()}
    return [_Gap(number, len(gaps), *mean_and_half(gaps)) for number, gaps in known.items() if len(gaps)]


def _range(gaps: Sequence[float]) -> str:
    low, high = formats.points(min(gaps)), formats.points(max(gaps))
    return low if low == high else f"{low.removesuffix(' points').lstrip('+')} to {high.lstrip('+')}"


def spans(numbers: Sequence[int]) -> str:
    """Write whole numbers in ascending order, runs of three and more as ranges.

    >>> spans([1, 2, 5, 6, 7, 9])
    '1, 2, 5 to 7, 9'
    """
    groups = np.split(np.asarray(numbers), np.flatnonzero(np.diff(numbers) != 1) + 1)
    words = [f"{group[0]} to {group[-1]}" if len(group) > 2 else ", ".join(map(str, group)) for group in groups]
    return ", ".join(words)


def at_sparsity(rounds: pd.DataFrame, run: str, sparsity: float) -> float:
    """Return a run's mean score at a graph sparsity, straight between rounds; NaN beyond its last one."""
    curve = curve_table(rounds[rounds["run"] == run])
    return float(np.interp(sparsity, curve["graph_sparsity"], curve["mean"], right=np.nan))
