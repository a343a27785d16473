"""A measurement in a process of its own, so that its peak memory is nothing else's."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from glt.jobs.devices import Settings

HERE = "--here"
ROOT = Path(__file__).parents[1]


def in_own_process(name: str, words: Sequence[str], further: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run `python -m benchmarks NAME --here ...` with the settings of a worker and return the JSON it prints."""
    environment = {**Settings().variables(), **os.environ, "OMP_NUM_THREADS": "1", **(further or {})}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks", name, HERE, *words],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def peak_bytes() -> int:
    """Return the highest resident memory of this process: VmHWM, where the system tells it.

    What getrusage says is not used on Linux: a child begins with the peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
