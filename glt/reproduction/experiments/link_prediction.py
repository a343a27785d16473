"""Figures 4 and A10: link prediction over MACs, graph sparsity and weight sparsity."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import NETWORKS, SMALL_GRAPHS, Experiment, compared_methods, grid

EXPERIMENTS.register(
    Experiment(
        "link-prediction",
        "Link prediction",
        "Figures 4 and A10",
        "ROC-AUC of every round over inference MACs, graph sparsity and weight sparsity.",
        grid(SMALL_GRAPHS, NETWORKS, ("link",)),
        compared_methods,
        order=30,
    )
)
