"""Two seeds side by side on two cores against one alone: `python -m benchmarks parallel`.

Wall seconds are those of their rounds, and mean something only where nothing else runs meanwhile; CPU seconds a seed
say more on a busy machine. The two share memory and cache, so that each takes longer than one alone.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from benchmarks.results import Measured, document, spread
from benchmarks.runs import Taken, run_once
from benchmarks.subjects import SMALL
from glt.errors import ConfigError

SETTINGS = {"rounds": 1, "epochs": 100, "retrain_epochs": 100}


def measure_parallel(words: Sequence[str]) -> dict[str, Any]:
    """Return seconds of one seed, of the slower of two, and ratios; raises ConfigError on a single core."""
    parser = ArgumentParser(prog="python -m benchmarks parallel", description=__doc__)
    parser.add_argument("--subject", default="cora", choices=SMALL)
    parser.add_argument("--turns", type=int, default=3, help="one alone, then two, so many times (default: 3)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    options = parser.parse_args(words)
    if (os.cpu_count() or 1) < 2:
        raise ConfigError("Two seeds side by side need two cores, and this machine has one.")
    turns = [
        (run_once(options.subject, [0], SETTINGS), run_once(options.subject, [0, 1], SETTINGS))
        for _ in range(options.turns)
    ]
    return document(_results(f"parallel/{options.subject}", turns))


def _results(name: str, turns: Sequence[tuple[Taken, Taken]]) -> list[Measured]:
    wall = [(max(one.rounds), max(two.rounds)) for one, two in turns]
    return [
        spread(f"{name}/one seed", [one for one, _ in wall], "s"),
        spread(f"{name}/two seeds side by side", [two for _, two in wall], "s"),
        spread(f"{name}/two over one", [two / one for one, two in wall], "ratio"),
        spread(f"{name}/two over one, CPU seconds a seed", [two.cpu / 2 / one.cpu for one, two in turns], "ratio"),
    ]
