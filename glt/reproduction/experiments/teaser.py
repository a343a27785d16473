"""Figure 1: accuracy against both sparsities on Cora and Citeseer."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import Experiment, compared_methods, grid

EXPERIMENTS.register(
    Experiment(
        "teaser",
        "The summary",
        "Figure 1",
        "Accuracy at growing sparsity of graph and network: UGS, random pruning and ADMM with the GCN.",
        grid(("cora", "citeseer"), ("gcn",)),
        compared_methods,
        order=10,
    )
)
