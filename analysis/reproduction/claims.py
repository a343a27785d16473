"""What the paper says in words, tested on our rounds: each statement holds, does not hold, or is open.

Losses against the dense network are judged by `glt.verdicts` (paired by seed, against a margin), differences between
methods by paired t tests; both are corrected for all rounds that a statement is about (Holm). One seed shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from analysis import published, statistics
from analysis.reproduction.comparison import Comparison, per_seed
from analysis.statistics import detectable_words, family_words, significances
from analysis.style import palette
from analysis.tables import XAxis
from glt import formats, verdicts
from glt.reproduction import EXPERIMENTS
from glt.verdicts import DELTA, Verdict

if TYPE_CHECKING:
    from analysis.reproduction.comparison import Evidence

# A printed saving of 59 % is met from 58.5 % on.
HALF_PERCENT = 0.005
NO_VERDICT = "no verdict (one seed, or no spread)"


@dataclass(frozen=True)
class Claim:
    """What the paper says and where, whether our rounds show it (None: open), and what they show.

    `tested` is False where nothing could be tested yet, as with one seed: then there is no verdict.
    """

    text: str
    place: str
    holds: bool | None
    ours: str
    tested: bool = True


def saves_macs(evidence: Evidence, dataset: str | None = None) -> list[Claim]:
    """Test that a ticket saves as many MACs as claimed, for one data set or for the low end of the range over several.

    It holds when a round that saves so many is shown to be a ticket, and does not when all such rounds are shown to be
    none; otherwise it is open.
    """
    claim = published.saving(evidence.setting.task, evidence.setting.model, dataset)
    rounds = evidence.rounds[evidence.rounds["method"] == "ugs"]
    if claim is None:
        return []
    share = formats.percent(claim.low) + (f" to {formats.percent(claim.high)}" if claim.high > claim.low else "")
    text = f"Tickets save {share} of inference MACs without losing performance ({claim.over})."
    if rounds.empty or rounds["round"].max() < 1:
        return [Claim(text, claim.source, None, "no pruned round of UGS yet", tested=False)]
    return [Claim(text, claim.source, *_saved(rounds, claim.low))]


def _saved(rounds: pd.DataFrame, low: float) -> tuple[bool | None, str, bool]:
    found = judged_rounds(rounds, "ugs")
    removed = macs_removed(rounds)
    enough = {number: verdict for number, verdict in found.items() if removed[number] >= low - HALF_PERCENT}
    tickets = [number for number, verdict in enough.items() if verdict.is_ticket]
    if tickets:
        best = max(tickets)
        return (
            True,
            (
                f"round {best} needs {formats.percent(removed[best])} fewer MACs than the dense network; "
                f"{_lower_first(found[best].sentence())}"
            ),
            True,
        )
    if not enough:
        return None, f"no round yet that needs {formats.percent(low)} fewer MACs", False
    asked = f"rounds k = {formats.spans(sorted(enough))} need at least {formats.percent(low)} fewer MACs"
    tested = any(verdict.word != "no verdict" for verdict in enough.values())
    return _refuted(list(enough.values())), f"{asked}: {tally(enough)}", tested


def _refuted(found: Sequence[Verdict]) -> bool | None:
    """Return False where every round is shown to be no ticket, None where that is open."""
    return False if all(verdict.word == "no ticket" for verdict in found) else None


def _lower_first(sentence: str) -> str:
    return formats.inside(sentence).removesuffix(".")


def tally(found: dict[int, Verdict]) -> str:
    """Say of rounds which are shown to be tickets, which are shown to be none, and which are open."""
    words = {
        "ticket": f"shown to {verdicts.shown_words('ticket', DELTA)} in k = ",
        "no ticket": f"shown to {verdicts.shown_words('no ticket', DELTA)} in k = ",
        "open": "open in k = ",
        "no verdict": f"{NO_VERDICT} in k = ",
    }
    of = {word: sorted(number for number, each in found.items() if each.word == word) for word in words}
    parts = [f"{text}{formats.spans(of[word])}" for word, text in words.items() if of[word]]
    return f"{'; '.join(parts)} ({seeds_and_family_words(list(found.values()))})"


def seeds_and_family_words(found: Sequence[Verdict]) -> str:
    """Say of how many seeds verdicts are, and how many rounds were judged together.

    >>> seeds_and_family_words(verdicts.judge([[0.001, 0.0, 0.002], [-0.01, 0.0]]))
    'n = 2 to 3, Holm over 2 rounds'
    """
    seeds = sorted({verdict.seeds for verdict in found})
    number = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    family = max(verdict.family for verdict in found)
    return f"n = {number}" + (f", Holm over {formats.number_of(family, 'round')}" if family else "")


def judged_rounds(rounds: pd.DataFrame, method: str) -> dict[int, Verdict]:
    """Return the verdict of every pruned round of a method against the dense network of the same seed, one family."""
    losses = losses_by_round(rounds, method)
    return dict(zip(losses, verdicts.judge(list(losses.values())), strict=True))


def losses_by_round(rounds: pd.DataFrame, method: str) -> dict[int, np.ndarray]:
    """Return, by pruned round of a method, its score minus that of the dense network of the same seed."""
    dense = per_seed(rounds, published.DENSE, 0)
    numbers = sorted({int(number) for number in rounds.loc[rounds["method"] == method, "round"]} - {0})
    return {number: (per_seed(rounds, method, number) - dense).dropna().to_numpy() for number in numbers}


def macs_removed(rounds: pd.DataFrame) -> dict[int, float]:
    """Return, by round, the share of the dense network's MACs (dense features) that it needs less, mean over seeds."""
    macs = rounds.groupby("round")["macs_dense_features"].mean()
    return {int(number): float(1 - count / macs[0]) for number, count in macs.items() if number}


def leads(
    evidence: Evidence, text: str, place: str, better: str, worse: str, only: Sequence[int] | None = None
) -> list[Claim]:
    """Test that one method scores higher than another in every round of `only`, by default in all pruned ones.

    It holds when the difference is significant in every round, and does not when the method is significantly lower in
    one; otherwise it is open. The family is all pruned rounds of both methods, whatever `only` is: two exhibits that
    compare the same methods give the same p-values.
    """
    gaps = _gaps(evidence.rounds, better, worse)
    tested = dict(zip(gaps, significances(gaps.values()), strict=True))
    found = {number: each for number, each in tested.items() if not only or number in only}
    if not found:
        return [Claim(text, place, None, "no pruned round of both methods yet", tested=False)]
    of = {word: [k for k, each in found.items() if each.word == word] for word in statistics.WORDS}
    holds = False if of["lower"] else True if len(of["higher"]) == len(found) else None
    verbs: dict[statistics.Word, str] = {"higher": "is", "lower": "is", "none": "shows", "no test": "has"}
    parts = [
        f"{verbs[word]} {statistics.WORDS[word]} in k = {formats.spans(numbers)}"
        for word, numbers in of.items()
        if numbers
    ]
    family = max(each.family for each in found.values())
    seeds = [each.seeds for each in found.values() if each.word != "no test"]
    detectable = detectable_words(each.detectable for each in found.values() if each.word == "none")
    more = [family_words(family if seeds else 0, seeds), *([f"there {detectable}"] if detectable else [])]
    means = _range([each.mean for each in found.values()])
    ours = f"{palette.label(better)} {', '.join(parts)} ({'; '.join([*more, f'mean difference {means}'])})"
    return [Claim(text, place, holds, ours, tested=len(of["no test"]) < len(found))]


def _gaps(rounds: pd.DataFrame, better: str, worse: str) -> dict[int, np.ndarray]:
    shared = sorted({int(number) for number in rounds["round"]} - {0})
    paired = {k: (per_seed(rounds, better, k) - per_seed(rounds, worse, k)).dropna() for k in shared}
    return {number: gap.to_numpy() for number, gap in paired.items() if len(gap)}


def _range(gaps: Sequence[float]) -> str:
    low, high = formats.points(min(gaps)), formats.points(max(gaps))
    return low if low == high else f"{low.removesuffix(' points').lstrip('+')} to {high.lstrip('+')}"


def at_sparsity(rounds: pd.DataFrame, run: str, sparsity: float) -> pd.Series:
    """Return a run's score by seed at a graph sparsity, straight between rounds; seeds never so sparse are left out."""
    mine = rounds[rounds["run"] == run].sort_values("graph_sparsity")
    found = {
        int(seed): float(np.interp(sparsity, rows["graph_sparsity"], rows["test"], right=np.nan))
        for seed, rows in mine.groupby("seed")
    }
    return pd.Series(found, dtype=np.float64).dropna()


# How one experiment is shown and judged.


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
