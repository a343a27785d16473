"""Figures 6 and A12: tickets drawn from a pre-trained network."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import UGS, Arm, Experiment, Setting, grid

PRE_TRAINED = Arm("UGS from GraphCL", {"method": "ugs", "pretraining": "graphcl"}, awaits="GraphCL pre-training")


def arms(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS from a random and from a pre-trained start."""
    return UGS, PRE_TRAINED


EXPERIMENTS.register(
    Experiment(
        "graphcl",
        "Tickets from pre-training",
        "Figures 6 and A12",
        "UGS from a random start and from a start that GraphCL pre-trained, with few labels and for links.",
        grid(("cora", "citeseer"), ("gcn",), ("node", "link")),
        arms,
    )
)
