"""Claims of the paper, tested on our rounds: each holds, does not hold, or is open.

Losses against the dense network are judged by `glt.verdicts` (paired by seed, against a margin), differences between
methods by paired t tests. Both are corrected (Holm) for all rounds that a claim covers. `Exhibit` collects what one
experiment of the paper shows and claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from analysis import palette, published, statistics
from analysis.reproduction.comparison import Comparison, per_seed
from analysis.statistics import detectable_difference_words, family_words, significances
from analysis.tables.curves import XAxis
from glt import formats, verdicts
from glt.registry import Registry
from glt.reproduction import EXPERIMENTS
from glt.verdicts import DELTA, Verdict

if TYPE_CHECKING:
    from analysis.reproduction.comparison import Evidence

# A saving printed as 59 % counts as reached from 58.5 %.
HALF_PERCENT = 0.005
NO_VERDICT = "no verdict (one seed, or no spread)"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, its place, whether it holds (None: open), and our result.

    `tested` is False where nothing could be tested yet, for example with one seed.
    """

    text: str
    place: str
    holds: bool | None
    ours: str
    tested: bool = True


def saves_macs(evidence: Evidence, dataset: str | None = None) -> list[Claim]:
    """Test that a ticket saves the claimed share of MACs.

    Without `dataset` the low end of the claimed range is tested. The claim holds when a round that saves as much is
    shown to be a ticket. It does not hold when every such round is shown to be no ticket. Otherwise it is open.
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
    # The share of the dense network's MACs (dense features) that each round saves, mean over seeds.
    macs = rounds.groupby("round")["macs_dense_features"].mean()
    removed = {int(number): float(1 - count / macs[0]) for number, count in macs.items() if number}
    enough = {k: verdict for k, verdict in judged_rounds(rounds, "ugs").items() if removed[k] >= low - HALF_PERCENT}
    tickets = [number for number, verdict in enough.items() if verdict.is_ticket]
    if tickets:
        best = max(tickets)
        sentence = formats.inside(enough[best].sentence()).removesuffix(".")
        return (
            True,
            f"round {best} needs {formats.percent(removed[best])} fewer MACs than the dense network; {sentence}",
            True,
        )
    if not enough:
        return None, f"no round yet that needs {formats.percent(low)} fewer MACs", False
    words = {verdict.word for verdict in enough.values()}
    sparse = f"rounds k = {formats.spans(sorted(enough))} need at least {formats.percent(low)} fewer MACs"
    return False if words == {"no ticket"} else None, f"{sparse}: {tally(enough)}", words != {"no verdict"}


def tally(found: dict[int, Verdict]) -> str:
    """List the rounds of each verdict: ticket, no ticket, open and no verdict."""
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
    """State the number of seeds behind verdicts and the number of rounds in their family.

    >>> seeds_and_family_words(verdicts.judge([[0.001, 0.0, 0.002], [-0.01, 0.0]]))
    'n = 2 to 3, Holm over 2 rounds'
    """
    seeds = sorted({verdict.seeds for verdict in found})
    number = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    family = max(verdict.family for verdict in found)
    return f"n = {number}" + (f", Holm over {formats.number_of(family, 'round')}" if family else "")


def judged_rounds(rounds: pd.DataFrame, method: str) -> dict[int, Verdict]:
    """Return the verdict of every pruned round of a method; all rounds are one family."""
    losses = losses_by_round(rounds, method)
    return dict(zip(losses, verdicts.judge(list(losses.values())), strict=True))


def losses_by_round(rounds: pd.DataFrame, method: str) -> dict[int, np.ndarray]:
    """Return the score minus that of the dense network of the same seed, by pruned round of a method."""
    dense = per_seed(rounds, published.DENSE, 0)
    numbers = sorted({int(number) for number in rounds.loc[rounds["method"] == method, "round"]} - {0})
    return {number: (per_seed(rounds, method, number) - dense).dropna().to_numpy() for number in numbers}


def leads(
    evidence: Evidence, text: str, place: str, better: str, worse: str, only: Sequence[int] | None = None
) -> list[Claim]:
    """Test that one method scores higher than another in every round of `only` (default: all pruned rounds).

    The claim holds when the method is significantly higher in every round. It does not hold when the method is
    significantly lower in one. Otherwise it is open. The family is always all pruned rounds of both methods, so two
    exhibits that compare the same methods give the same p-values.
    """
    rounds, gaps = evidence.rounds, {}
    for number in sorted({int(number) for number in rounds["round"]} - {0}):
        paired = (per_seed(rounds, better, number) - per_seed(rounds, worse, number)).dropna()
        if len(paired):
            gaps[number] = paired.to_numpy()
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
    detectable = detectable_difference_words(each.detectable for each in found.values() if each.word == "none")
    more = [family_words(family if seeds else 0, seeds), *([f"there {detectable}"] if detectable else [])]
    low, high = (formats.points(end(each.mean for each in found.values())) for end in (min, max))
    means = low if low == high else f"{low.removesuffix(' points').lstrip('+')} to {high.lstrip('+')}"
    ours = f"{palette.label(better)} {', '.join(parts)} ({'; '.join([*more, f'mean difference {means}'])})"
    return [Claim(text, place, holds, ours, tested=len(of["no test"]) < len(found))]


def at_sparsity(rounds: pd.DataFrame, run: str, sparsity: float) -> pd.Series:
    """Return a run's score by seed at a graph sparsity, interpolated; seeds that never reach it are left out."""
    own = rounds[rounds["run"] == run].sort_values("graph_sparsity")
    found = {
        int(seed): float(np.interp(sparsity, rows["graph_sparsity"], rows["test"], right=np.nan))
        for seed, rows in own.groupby("seed")
    }
    return pd.Series(found, dtype=np.float64).dropna()


@dataclass(frozen=True)
class Picture:
    """One figure of an exhibit and its place in the paper: curves over `x`, ablation panels, or subgraphs."""

    kind: Literal["curve", "ablation", "subgraphs"]
    label: str
    place: str
    x: XAxis = "graph"


@dataclass(frozen=True)
class Exhibit:
    """One experiment of the paper: its pictures, the printed numbers to compare, and the claims to test.

    `scores`: the rows compare printed scores. `measures`: the rows need graph measurements, which may take seconds.
    """

    name: str
    pictures: tuple[Picture, ...]
    rows: Callable[[Evidence], list[Comparison]] = field(default=lambda evidence: [], repr=False)
    claims: Callable[[Evidence], list[Claim]] = field(default=lambda evidence: [], repr=False)
    scores: bool = False
    measures: bool = False

    @property
    def label(self) -> str:
        """The experiment's own label."""
        return EXPERIMENTS.get(self.name).label


EXHIBITS: Registry[Exhibit] = Registry("exhibit", "analysis.reproduction.exhibits")
