"""Figures 6 and A12: tickets drawn from a pre-trained network."""

from __future__ import annotations

from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import UGS, Arm, Experiment, Setting, grid


def arms(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS from a random start, and from any pre-training."""
    where = f"--dataset {setting.dataset} --task {setting.task}"
    how = (
        f"UGS from GraphCL starts from a pre-training: make one with `python -m glt pretrain {where}` and start "
        f"from it with `python -m glt run {where} --model {setting.model} --method ugs --preset official "
        "--set pretraining=NAME`."
    )
    return UGS, Arm("UGS from GraphCL", UGS.settings, any_of="pretraining", how=how)


EXPERIMENTS.register(
    Experiment(
        "graphcl",
        "Tickets from pre-training",
        "Figures 6 and A12",
        "UGS from a random start and from a start that GraphCL pre-trained, with few labels and for links.",
        grid(("cora", "citeseer"), ("gcn",), ("node", "link")),
        arms,
        order=40,
    )
)
