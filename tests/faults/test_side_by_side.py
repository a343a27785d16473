"""However many jobs compute side by side, each gives the bytes that it gives alone (`make faults` only)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.store import Store
from tests.faults.effort import THOROUGH
from tests.faults.equal_runs import comparable

SETTINGS = ("--set", "rounds=2", "epochs=20", "retrain_epochs=20", "hidden=16")


def computed(store: Path, method: str, seeds: str) -> Path:
    """Compute seeds of a run, as many at a time as there are, and return its folder."""
    command = [sys.executable, "-m", "glt", "run", "--store", str(store), "--method", method, "--seeds", seeds]
    subprocess.run([*command, *SETTINGS], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "GLT_SLOTS": "4"})
    return Store(store).runs()[0].path


@pytest.mark.skipif(not THOROUGH, reason="fourteen runs: make faults")
@pytest.mark.parametrize("method", ["ugs", "admm"])
def test_the_same_bytes_alone_and_beside_others(tmp_path: Path, say: Callable[[str], None], method: str) -> None:
    runs = {jobs: computed(tmp_path / str(jobs), method, f"0-{jobs - 1}" if jobs > 1 else "0") for jobs in (1, 2, 4)}
    alone = {jobs: {seed: comparable(run / f"seed-{seed}") for seed in range(jobs)} for jobs, run in runs.items()}
    for jobs, seeds in alone.items():
        for seed, files in seeds.items():
            assert files == alone[4][seed], f"seed {seed} beside {jobs - 1} others"
    assert alone[4][0] != alone[4][1]
    say(f"\n{method}: seed 0 alone, beside one and beside three others: {len(alone[1][0])} files equal")
