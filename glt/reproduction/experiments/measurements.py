"""Table A5: what pruning left of the graphs' shape."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import GALLERY_ROUND, SMALL_GRAPHS, Experiment, compared_methods, grid

EXPERIMENTS.register(
    Experiment(
        "measurements",
        "Graph measurements",
        "Table A5",
        "Clustering and betweenness of the original graph and of what each method left of it.",
        grid(SMALL_GRAPHS, ("gcn",)),
        compared_methods,
        order=80,
        rounds=GALLERY_ROUND,
    )
)
