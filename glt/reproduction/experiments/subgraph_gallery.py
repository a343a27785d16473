"""Figure 8: parts of the graphs before and after pruning."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import GALLERY_ROUND, SMALL_GRAPHS, UGS, Experiment, grid

EXPERIMENTS.register(
    Experiment(
        "subgraph-gallery",
        "Subgraphs",
        "Figure 8",
        "A part of the graph and what UGS left of it at 48.67 % graph sparsity.",
        grid(SMALL_GRAPHS, ("gcn",)),
        lambda setting: (UGS,),
        order=70,
        rounds=GALLERY_ROUND,
    )
)
