"""Figures 3 and A9: node classification over graph sparsity, MACs and weight sparsity."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import NETWORKS, SMALL_GRAPHS, Experiment, compared_methods, grid

EXPERIMENTS.register(
    Experiment(
        "node-classification",
        "Node classification",
        "Figures 3 and A9",
        "Accuracy of every round over graph sparsity, inference MACs and weight sparsity.",
        grid(SMALL_GRAPHS, NETWORKS),
        compared_methods,
        order=20,
    )
)
