"""Figures 6 and A12: tickets drawn from a pre-trained network."""

from __future__ import annotations

from glt.presets import resolve
from glt.pretraining.config import resolve_pretraining
from glt.pretraining.start import first_layer_width
from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import PRESET, UGS, Arm, Experiment, Setting, grid
from glt.store import run_name


def arms(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS from a random start, and from a pre-training as wide as the network's first layer."""
    width = first_layer_width(resolve({**setting._asdict(), **UGS.settings}, PRESET))
    first = resolve_pretraining({"dataset": setting.dataset, "task": setting.task, "hidden": width})
    return UGS, Arm("UGS, pre-trained start", {**UGS.settings, "pretraining": run_name(first)}, first=first)


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
