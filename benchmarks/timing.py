"""CPU seconds of one step, by the median over repetitions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_cpu_seconds(step: Callable[[], object], repetitions: int, warm_up: int = 1) -> float:
    """Run `step` `warm_up` times untimed, then return the median CPU seconds of `repetitions` runs."""
    for _ in range(warm_up):
        step()
    return statistics.median([cpu_seconds(step) for _ in range(repetitions)])


def cpu_seconds(step: Callable[[], object]) -> float:
    """Return the CPU seconds of one run of `step`."""
    started = time.process_time()
    step()
    return time.process_time() - started
