"""The paper's figures and tables as exhibits: their pictures, printed numbers and claims.

One section a figure or table, in the order of their names; `Exhibit` explains the parts.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from analysis import palette, published
from analysis.reproduction.claims import (
    EXHIBITS,
    NO_VERDICT,
    Claim,
    Exhibit,
    Picture,
    at_sparsity,
    leads,
    losses_by_round,
    saves_macs,
    seeds_and_family_words,
)
from analysis.reproduction.comparison import (
    METHOD_GROUPS,
    READINGS,
    Evidence,
    compare_macs,
    compare_measurements,
    compare_scores,
)
from glt import formats
from glt.pretraining.config import PRETRAINING
from glt.store import Run
from glt.verdicts import Verdict, half_width, judge

# Figure 7: pruning rates

ABLATION_PLACE = "Section 4.4 on Figure 7"
FEW, MANY = 0.05, 0.20
SPARSITY = 0.40
# The paper gives no number for "substantially"; here it is a loss of more than one point.
SUBSTANTIAL = 0.01
COUNTED = {"ticket": "tickets", "no ticket": "no ticket", "open": "open", "no verdict": NO_VERDICT}
ONLY = "With 20 % of weights a round, only 5 % of edges a round finds a ticket."
AGGRESSIVE = "Removing 20 % of edges a round degrades accuracy substantially (here: by more than 1 point)."


def ablation_claims(evidence: Evidence) -> list[Claim]:
    """Test the two claims about the share of edges removed a round."""
    by_rate = {run.config.p_graph: run for run in evidence.runs if run.config.p_weight == MANY}
    if not {FEW, MANY} <= by_rate.keys():
        missing = "not all rates have been run yet"
        return [Claim(text, ABLATION_PLACE, None, missing, tested=False) for text in (ONLY, AGGRESSIVE)]
    return [_only_few(evidence.rounds, by_rate), _aggressive(evidence.rounds, by_rate)]


def _only_few(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> Claim:
    verdicts = _verdicts(rounds, by_rate)
    if not all(verdicts.values()):
        return Claim(ONLY, ABLATION_PLACE, None, "not all rates have a pruned round yet", tested=False)
    few, others = verdicts[FEW], [verdict for rate, of_rate in verdicts.items() if rate != FEW for verdict in of_rate]
    has_ticket = any(verdict.is_ticket for verdict in few)
    if any(verdict.is_ticket for verdict in others) or all(verdict.word == "no ticket" for verdict in few):
        holds: bool | None = False
    else:
        holds = True if has_ticket and all(verdict.word == "no ticket" for verdict in others) else None
    words = "; ".join(f"{100 * rate:g} % of edges: {_counts(of_rate)}" for rate, of_rate in verdicts.items())
    return Claim(ONLY, ABLATION_PLACE, holds, f"{words} ({seeds_and_family_words([*few, *others])})")


def _verdicts(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> dict[float, list[Verdict]]:
    """Return the verdicts of all pruned rounds by rate; all rates form one family."""
    losses = {
        rate: losses_by_round(rounds[rounds["run"] == run.reference], run.config.method)
        for rate, run in sorted(by_rate.items())
    }
    verdicts = iter(judge([loss for of_rate in losses.values() for loss in of_rate.values()]))
    return {rate: [next(verdicts) for _ in of_rate] for rate, of_rate in losses.items()}


def _counts(verdicts: list[Verdict]) -> str:
    counts = {word: sum(verdict.word == word for verdict in verdicts) for word in COUNTED}
    parts = [f"{count} {COUNTED[word]}" for word, count in counts.items() if count]
    return f"{', '.join(parts)} of {len(verdicts)} rounds"


def _aggressive(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> Claim:
    few, many = (at_sparsity(rounds, by_rate[rate].reference, SPARSITY) for rate in (FEW, MANY))
    losses = (many - few).dropna()
    if losses.empty:
        missing = "no seed has reached 40 % graph sparsity at both rates yet"
        return Claim(AGGRESSIVE, ABLATION_PLACE, None, missing, tested=False)
    (verdict,) = judge([losses.to_numpy()], SUBSTANTIAL)
    gap = formats.points_interval(verdict.mean, float(half_width(verdict.deviation, verdict.seeds)))
    outcomes = {"ticket": "less than 1 point shown", "no ticket": "more than 1 point shown", "open": "open"}
    outcome = outcomes.get(verdict.word, NO_VERDICT)
    words = (
        f"at 40 % graph sparsity {gap} against 5 % a round: {outcome} (n = {verdict.seeds}, one-sided paired t test)"
    )
    return Claim(AGGRESSIVE, ABLATION_PLACE, {"no ticket": True, "ticket": False}.get(verdict.word), words)


EXHIBITS.register(
    Exhibit(
        "ablation", (Picture("ablation", "Graph sparsity", "Figure 7 (fig:ablation_ratio)"),), claims=ablation_claims
    )
)


# Figures 6 and A12: UGS from a pre-trained start

GRAPHCL_PICTURES = (
    Picture("curve", "Graph sparsity", "Figure 6 (fig:graphcl)"),
    Picture("curve", "MACs", "Figure 6 (fig:graphcl)", "macs"),
    Picture("curve", "Weight sparsity", "Figure A12 (fig:graphcl_pub)", "weight"),
)
TRAINED = "the pre-trained start"
MODERATE = 0.40
PRETRAINED_LEADS = "A pre-trained start gives better tickets up to 40 % graph sparsity."


def graphcl_claims(evidence: Evidence) -> list[Claim]:
    """Test that the pre-trained start scores higher in every moderately pruned round."""
    rounds = evidence.rounds
    trained = [run.reference for run in evidence.runs if PRETRAINING in run.config.options]
    starts = rounds["run"].isin(trained).map({True: TRAINED, False: "random"})
    moderate = rounds.loc[(rounds["round"] > 0) & (rounds["graph_sparsity"] <= MODERATE), "round"]
    both = replace(evidence, rounds=rounds.assign(method=starts))
    numbers = sorted({int(number) for number in moderate})
    return leads(both, PRETRAINED_LEADS, "Section 4.3", TRAINED, "random", numbers)


EXHIBITS.register(Exhibit("graphcl", GRAPHCL_PICTURES, claims=graphcl_claims))


# Figures 4 and A10, 3 and A9: curves over three axes; only Figure 1 prints their numbers

LINK_PREDICTION_PICTURES = (
    Picture("curve", "MACs", "Figure 4 (fig:link_pre)", "macs"),
    Picture("curve", "Graph sparsity", "Figure A10 (fig:more_small_link)"),
    Picture("curve", "Weight sparsity", "Figure A10 (fig:more_small_link)", "weight"),
)
NODE_CLASSIFICATION_PICTURES = (
    Picture("curve", "Graph sparsity", "Figure 3 (fig:node_cls)"),
    Picture("curve", "MACs", "Figure 3 (fig:node_cls)", "macs"),
    Picture("curve", "Weight sparsity", "Figure A9 (fig:more_small_weight)", "weight"),
)
SURPASSES = "UGS consistently surpasses random pruning."


def curve_claims(evidence: Evidence) -> list[Claim]:
    """Test the saving claimed over several data sets, and that UGS scores higher than random pruning."""
    return [*saves_macs(evidence), *leads(evidence, SURPASSES, "Observation 2, Section 4.1", "ugs", "random")]


EXHIBITS.register(Exhibit("link-prediction", LINK_PREDICTION_PICTURES, claims=curve_claims))
EXHIBITS.register(
    Exhibit(
        "node-classification",
        NODE_CLASSIFICATION_PICTURES,
        lambda evidence: compare_scores(evidence, METHOD_GROUPS),
        curve_claims,
        scores=True,
    )
)


# Table A5: clustering and betweenness of original and pruned graphs

EXHIBITS.register(Exhibit("measurements", (), compare_measurements, measures=True))


# Table 2: tickets against random tickets

# The paper re-initialises "GNN's weights and learnable masks" and published no code for it. Reading 1: only the weights
# are new, on the masks that UGS found (our method `reinit`). Reading 2: the masks are drawn at random too, which is
# random pruning (our method `random`).
TICKET_ROUNDS = (4, 5, 9, 16)
TICKETS_LEAD = "Tickets are better than random tickets"


def random_ticket_claims(evidence: Evidence) -> list[Claim]:
    """Test in the table's four rounds that tickets are better, in both readings."""
    texts = {method: f"{TICKETS_LEAD} ({label[0].lower()}{label[1:]})." for label, method in READINGS.items()}
    return [
        claim
        for method, text in texts.items()
        for claim in leads(evidence, text, "Section 4.4", "ugs", method, TICKET_ROUNDS)
    ]


EXHIBITS.register(
    Exhibit(
        "random-tickets",
        (Picture("curve", "Graph sparsity", published.TICKET_TABLE),),
        lambda evidence: compare_scores(evidence, (palette.label("ugs"), *READINGS)),
        random_ticket_claims,
        scores=True,
    )
)


# Figure 8: the same nodes before and after pruning

EXHIBITS.register(Exhibit("subgraph-gallery", (Picture("subgraphs", "Subgraphs", "Figure 8 (fig:gra_vis)"),)))


# Figure 1: printed accuracies and MACs, and the saving claimed for each data set

EXHIBITS.register(
    Exhibit(
        "teaser",
        (Picture("curve", "Graph sparsity", "Figure 1"),),
        lambda evidence: [*compare_scores(evidence, METHOD_GROUPS), *compare_macs(evidence)],
        lambda evidence: saves_macs(evidence, evidence.setting.dataset),
        scores=True,
    )
)
