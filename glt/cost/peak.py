"""How much memory a computation takes at its peak, as PyTorch's allocator sees it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch.profiler import ProfilerActivity, profile

MEMORY_EVENT = "[memory]"


def peak_bytes(step: Callable[[], object]) -> int:
    """Return the most bytes that a CPU computation held at once beyond what was there before, tensors it returns too.

    Every block that PyTorch asks for or gives back is counted, whatever the process keeps for later.
    """
    with _quiet(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    results = profiler.profiler.kineto_results if profiler.profiler else None
    events = [event for event in results.events() if event.name() == MEMORY_EVENT] if results else []
    held = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


@contextmanager
def _quiet() -> Iterator[None]:
    """Send what compiled code prints nowhere: the profiler says on standard error that it starts and stops."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
