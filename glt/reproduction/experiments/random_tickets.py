"""Table 2: found tickets retrained from fresh initialisations."""

from __future__ import annotations

from glt.presets import resolve
from glt.reproduction import EXPERIMENTS
from glt.reproduction.experiment import PRESET, UGS, Arm, Experiment, Setting, grid
from glt.store import run_name

LAST_ROUND = 16
DRAWS = 3


def arms(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS, and after it several draws of fresh weights under the masks it found."""
    source = run_name(resolve({**setting._asdict(), **UGS.settings}, PRESET))
    return UGS, *(_draw(source, number) for number in range(DRAWS))


def _draw(source: str, number: int) -> Arm:
    values = {"method": "reinit", "masks_of": source, "draw": number}
    return Arm(f"Random ticket, draw {number}", values, stage=1, reads=source)


EXPERIMENTS.register(
    Experiment(
        "random-tickets",
        "Random tickets",
        "Table 2",
        "The masks UGS finds, retrained from fresh initialisations instead of their own.",
        grid(("cora",), ("gcn",)),
        arms,
        order=60,
        rounds=LAST_ROUND,
    )
)
