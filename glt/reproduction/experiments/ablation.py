"""Figure 7: how much is pruned in one round."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import Arm, Experiment, Setting, grid

P_GRAPH = (0.05, 0.10, 0.20)
P_WEIGHT = (0.10, 0.20, 0.40)
USUAL = {"p_graph": 0.05, "p_weight": 0.20}


def arms(setting: Setting) -> tuple[Arm, ...]:
    """Return one arm a pair of rates; each changes one of the paper's two, so that the usual pair stands once."""
    pairs = [{**USUAL, "p_graph": rate} for rate in P_GRAPH] + [{**USUAL, "p_weight": rate} for rate in P_WEIGHT]
    distinct = {tuple(pair.items()): pair for pair in pairs}.values()
    return tuple(Arm(_words(pair), {"method": "ugs", **pair}) for pair in distinct)


def _words(pair: dict[str, float]) -> str:
    return f"{100 * pair['p_graph']:g} % of edges, {100 * pair['p_weight']:g} % of weights a round"


EXPERIMENTS.register(
    Experiment(
        "ablation",
        "Pruning rates",
        "Figure 7",
        "UGS on Cora with the GCN when a round removes more edges or more weights, twenty rounds each.",
        grid(("cora",), ("gcn",)),
        arms,
        order=50,
    )
)
