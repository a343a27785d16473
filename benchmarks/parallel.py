"""Two seeds side by side on two cores against one alone: `python -m benchmarks parallel`, wall seconds of their rounds.

The two share memory and cache, so their time is more than that of one; nothing else should run meanwhile.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from benchmarks.results import document, spread
from benchmarks.runs import run_once
from benchmarks.subjects import SMALL
from glt.errors import ConfigError

SETTINGS = {"rounds": 1, "epochs": 100, "retrain_epochs": 100}


def measure_parallel(words: Sequence[str]) -> dict[str, Any]:
    """Return seconds of one seed, of the slower of two, and their ratio; raises ConfigError on a single core."""
    parser = ArgumentParser(prog="python -m benchmarks parallel", description=__doc__)
    parser.add_argument("--subject", default="cora", choices=SMALL)
    parser.add_argument("--turns", type=int, default=3, help="one alone, then two, so many times (default: 3)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    options = parser.parse_args(words)
    if (os.cpu_count() or 1) < 2:
        raise ConfigError("Two seeds side by side need two cores, and this machine has one.")
    alone, both = [], []
    for _ in range(options.turns):
        alone.append(max(run_once(options.subject, [0], SETTINGS).rounds))
        both.append(max(run_once(options.subject, [0, 1], SETTINGS).rounds))
    ratios = [two / one for one, two in zip(alone, both, strict=True)]
    name = f"parallel/{options.subject}"
    return document(
        [
            spread(f"{name}/one seed", alone, "s"),
            spread(f"{name}/two seeds side by side", both, "s"),
            spread(f"{name}/two over one", ratios, "ratio"),
        ]
    )
