"""Table 2: tickets, the same masks with weights drawn anew, and random masks: both readings of a random ticket."""

from __future__ import annotations

from glt.presets import resolve
from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import PRESET, RANDOM, UGS, Arm, Experiment, Setting, grid
from glt.store import run_name

LAST_ROUND = 16
DRAWS = 3


def arms(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS, after it several draws of fresh weights under the masks it found, and random pruning."""
    source = run_name(resolve({**setting._asdict(), **UGS.settings}, PRESET))
    return UGS, *(_draw(source, number) for number in range(DRAWS)), RANDOM


def _draw(source: str, number: int) -> Arm:
    values = {"method": "reinit", "masks_of": source, "draw": number}
    return Arm(f"Random ticket, draw {number}", values, stage=1, reads=source)


EXPERIMENTS.register(
    Experiment(
        "random-tickets",
        "Random tickets",
        "Table 2",
        "Tickets beside random ones: weights drawn anew under the masks UGS finds, or masks drawn anew too.",
        grid(("cora",), ("gcn",)),
        arms,
        order=60,
        rounds=LAST_ROUND,
    )
)
