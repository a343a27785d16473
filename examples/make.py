"""Make the bundled example runs: compute them like any user would, with the results version of today, and pack them.

`python examples/make.py [STORE]`: the full runs go to STORE (default: build/examples) and may be interrupted; starting
again goes on where it stopped. Packed runs leave out theta_0 and weights. An example of the same settings is replaced;
one whose settings the preset `official` had before (GIN, GAT and ADMM) has another name and stays beside the new one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from glt.presets import resolve
from glt.pretraining.config import resolve_pretraining
from glt.store import Store, run_name
from glt.store.examples import pack_run
from glt.user_path import user_path

EXAMPLES = Path(__file__).parent / "runs"
DEFAULT_STORE = Path(__file__).parents[1] / "build" / "examples"
PRESET = "official"


class Example(NamedTuple):
    """One bundled run: its settings and seeds."""

    settings: Mapping[str, Any]
    seeds: tuple[int, ...] = (0,)


CORA_GCN = {"dataset": "cora", "model": "gcn"}
UGS = {**CORA_GCN, "method": "ugs"}
PRETRAINING = resolve_pretraining({"dataset": "cora"})
# In this order: random tickets read the masks of UGS.
RUNS = (
    *(Example({**CORA_GCN, "method": method}, (0, 1, 2, 3, 4)) for method in ("ugs", "random", "admm")),
    Example({**CORA_GCN, "method": "reinit", "masks_of": run_name(resolve(UGS, PRESET)), "rounds": 16}, (0, 1, 2)),
    Example({**UGS, "pretraining": run_name(PRETRAINING)}),
    Example({**UGS, "model": "gin"}),
    Example({**UGS, "model": "gat", "hidden": 64}),
    Example({**UGS, "task": "link"}),
    *(Example({"dataset": "citeseer", "model": "gcn", "method": method}) for method in ("ugs", "random")),
    *(Example({"dataset": "pubmed", "model": "gcn", "method": method}) for method in ("ugs", "random")),
)

PREDICTED = (0, 4, 9, 13, 16)


def pretrain(store: Path) -> None:
    """Train the first layer that one example starts from."""
    _glt("pretrain", "--dataset", PRETRAINING.dataset, "--seeds", "0", "--store", str(store))


def compute(example: Example, store: Path) -> None:
    """Compute one run by the command line, or go on with it."""
    settings = [f"{name}={value}" for name, value in example.settings.items()]
    seeds = ",".join(map(str, example.seeds))
    _glt("run", "--preset", PRESET, "--set", *settings, "--seeds", seeds, "--store", str(store))


def predict(example: Example, store: Path) -> None:
    """Store the predictions of the rounds that the paper prints: 2 MB for two runs of five seeds."""
    rounds = [word for number in PREDICTED for word in ("--round", str(number))]
    _glt("predictions", run_name(resolve(example.settings, PRESET)), *rounds, "--store", str(store))


def pack(example: Example, store: Path) -> None:
    """Pack the seeds of one finished run; an example it had is replaced."""
    run = Store(store).create(resolve(example.settings, PRESET))
    print(f"packed {pack_run(run, EXAMPLES, example.seeds).path}")


def main() -> None:
    """Compute and pack every example."""
    store = user_path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_STORE
    pretrain(store)
    for example in RUNS:
        compute(example, store)
        if example in RUNS[:2]:
            predict(example, store)
        pack(example, store)


def _glt(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "glt", *arguments], check=True)


if __name__ == "__main__":
    main()
