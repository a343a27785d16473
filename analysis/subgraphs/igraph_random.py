"""igraph's random numbers, seeded: the same picture every time."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()


@contextmanager
def seeded_igraph(seed: int) -> Iterator[None]:
    """Let igraph draw from a generator seeded with `seed`; its generator is global, so one thread at a time."""
    import igraph

    with _lock:
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)
