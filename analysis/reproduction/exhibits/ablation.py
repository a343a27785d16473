"""Figure 7: which pruning rates leave tickets, and what aggressive ones cost."""

from __future__ import annotations

import math

import pandas as pd

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, at_sparsity
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture, nothing
from analysis.tables import curve_table
from glt import formats
from glt.store import Run

PLACE = "Section 4.4 on Figure 7"
FEW, MANY = 0.05, 0.20
SPARSITY = 0.40
ONLY = "With 20 % of weights a round, only 5 % of edges a round finds a ticket."
AGGRESSIVE = "Removing 20 % of edges a round degrades accuracy substantially."


def claims(evidence: Evidence) -> list[Claim]:
    """Test both statements on how many edges go in a round."""
    by_rate = {run.config.p_graph: run for run in evidence.runs if run.config.p_weight == MANY}
    if not {FEW, MANY} <= by_rate.keys():
        waiting = "not all rates have been run yet"
        return [Claim(ONLY, PLACE, None, waiting), Claim(AGGRESSIVE, PLACE, None, waiting)]
    return [_only_few(evidence.rounds, by_rate), _aggressive(evidence.rounds, by_rate)]


def _only_few(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> Claim:
    table = curve_table(rounds)
    found = [rate for rate, run in sorted(by_rate.items()) if table[table["run"] == run.name]["is_ticket"].any()]
    words = ", ".join(f"{100 * rate:g} %" for rate in found)
    return Claim(
        ONLY, PLACE, found == [FEW], f"tickets at {words} of edges a round" if found else "no rate has a ticket"
    )


def _aggressive(rounds: pd.DataFrame, by_rate: dict[float, Run]) -> Claim:
    few, many = (at_sparsity(rounds, by_rate[rate].name, SPARSITY) for rate in (FEW, MANY))
    if math.isnan(few) or math.isnan(many):
        return Claim(AGGRESSIVE, PLACE, None, "40 % graph sparsity is not reached yet")
    gap = formats.points(many - few)
    return Claim(AGGRESSIVE, PLACE, many < few - 0.01, f"at 40 % graph sparsity it is {gap} against 5 % a round")


EXHIBITS.register(
    Exhibit("ablation", (Picture("ablation", "Graph sparsity", "Figure 7 (fig:ablation_ratio)"),), nothing, claims)
)
