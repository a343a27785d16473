"""Figure 7: which pruning rates leave tickets, and what aggressive ones cost."""

from __future__ import annotations

import pandas as pd

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import NO_VERDICT, Claim, at_sparsity, losses_by_round, seeds_and_family_words
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture, nothing
from analysis.statistics import half_width
from glt import formats
from glt.store import Run
from glt.verdicts import Verdict, judge

PLACE = "Section 4.4 on Figure 7"
FEW, MANY = 0.05, 0.20
SPARSITY = 0.40
# What the paper calls substantial has no number there; here it is a loss of more than one point.
SUBSTANTIAL = 0.01
COUNTED = {"ticket": "tickets", "no ticket": "no ticket", "open": "open", "no verdict": NO_VERDICT}
ONLY = "With 20 % of weights a round, only 5 % of edges a round finds a ticket."
AGGRESSIVE = "Removing 20 % of edges a round degrades accuracy substantially (here: by more than 1 point)."


def claims(evidence: Evidence) -> list[Claim]:
    """Test both statements on how many edges go in a round."""
    by_rate = {run.config.p_graph: run for run in evidence.runs if run.config.p_weight == MANY}
    if not {FEW, MANY} <= by_rate.keys():
        waiting = "not all rates have been run yet"
        return [Claim(ONLY, PLACE, None, waiting, tested=False), Claim(AGGRESSIVE, PLACE, None, waiting, tested=False)]
    return [_only_few(evidence.rounds, by_rate), _aggressive(evidence.rounds, by_rate)]


def _only_few(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> Claim:
    found = _verdicts(rounds, by_rate)
    if not all(found.values()):
        return Claim(ONLY, PLACE, None, "not all rates have a pruned round yet", tested=False)
    few, others = found[FEW], [verdict for rate, each in found.items() if rate != FEW for verdict in each]
    has_ticket = any(verdict.is_ticket for verdict in few)
    if any(verdict.is_ticket for verdict in others) or all(verdict.word == "no ticket" for verdict in few):
        holds: bool | None = False
    else:
        holds = True if has_ticket and all(verdict.word == "no ticket" for verdict in others) else None
    words = "; ".join(f"{100 * rate:g} % of edges: {_counts(each)}" for rate, each in found.items())
    return Claim(ONLY, PLACE, holds, f"{words} ({seeds_and_family_words([*few, *others])})")


def _verdicts(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> dict[float, list[Verdict]]:
    """Return, by rate, the verdicts of all pruned rounds; those of all rates are one family."""
    losses = {
        rate: losses_by_round(rounds[rounds["run"] == run.reference], run.config.method)
        for rate, run in sorted(by_rate.items())
    }
    found = iter(judge([loss for of_rate in losses.values() for loss in of_rate.values()]))
    return {rate: [next(found) for _ in of_rate] for rate, of_rate in losses.items()}


def _counts(found: list[Verdict]) -> str:
    counts = {word: sum(verdict.word == word for verdict in found) for word in COUNTED}
    return ", ".join(f"{count} {COUNTED[word]}" for word, count in counts.items() if count) + f" of {len(found)} rounds"


def _aggressive(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> Claim:
    few, many = (at_sparsity(rounds, by_rate[rate].reference, SPARSITY) for rate in (FEW, MANY))
    losses = (many - few).dropna()
    if losses.empty:
        return Claim(AGGRESSIVE, PLACE, None, "no seed has reached 40 % graph sparsity at both rates yet", tested=False)
    (verdict,) = judge([losses.to_numpy()], SUBSTANTIAL)
    half = float(half_width(verdict.deviation, verdict.seeds))
    gap = formats.points_interval(verdict.mean, half)
    shown = {"ticket": "less than 1 point shown", "no ticket": "more than 1 point shown", "open": "open"}
    told = shown.get(verdict.word, NO_VERDICT)
    words = f"at 40 % graph sparsity {gap} against 5 % a round: {told} (n = {verdict.seeds}, one-sided paired t test)"
    return Claim(AGGRESSIVE, PLACE, {"no ticket": True, "ticket": False}.get(verdict.word), words)


EXHIBITS.register(
    Exhibit("ablation", (Picture("ablation", "Graph sparsity", "Figure 7 (fig:ablation_ratio)"),), nothing, claims)
)
