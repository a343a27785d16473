"""Make the bundled example runs again: compute them like any user would, then pack them small.

`python examples/make.py [STORE]`: the full runs go to STORE (default: build/examples) and may be interrupted; starting
again goes on where it stopped. Packed runs leave out theta_0 and weights.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from glt.presets import resolve
from glt.store import Store
from glt.store.compact import pack_run

EXAMPLES = Path(__file__).parent / "runs"
DEFAULT_STORE = Path(__file__).parents[1] / "build" / "examples"
METHODS = ("ugs", "random", "admm")
SEEDS = "0,1,2,3,4"


def compute(method: str, store: Path) -> None:
    """Compute one run by the command line, or go on with it."""
    chosen = ["--dataset", "cora", "--model", "gcn", "--method", method, "--preset", "official"]
    command = [sys.executable, "-m", "glt", "run", *chosen, "--seeds", SEEDS, "--store", str(store)]
    subprocess.run(command, check=True)


def pack(method: str, store: Path) -> None:
    """Pack one finished run; an example it had is replaced."""
    run = Store(store).create(resolve({"dataset": "cora", "model": "gcn", "method": method}, "official"))
    print(f"packed {pack_run(run, EXAMPLES).path}")


def main() -> None:
    """Compute and pack every example."""
    store = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_STORE
    for method in METHODS:
        compute(method, store)
        pack(method, store)


if __name__ == "__main__":
    main()
