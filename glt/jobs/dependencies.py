"""Dependencies between runs: a run that needs another one waits for it before it joins the queue.

Only the two run folders count, not who started them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from glt.config import RunConfig
from glt.errors import StoreError
from glt.jobs.queue import give_up, join_line
from glt.lottery.initial_weights import check_start
from glt.methods import METHODS
from glt.methods.base import OtherRun, OtherSeed
from glt.pretraining.config import check_fit, pretraining_of
from glt.store import Pretraining, Run, SeedRun, Store, run_name

LOOK_AGAIN = 1.0


def check_needs(store: Store, config: RunConfig, seeds: Sequence[int]) -> None:
    """Raise a StudioError if a run that these seeds need is missing, does not fit or will not finish.

    A run in progress counts as finished: `wait_for_sources` waits for it.
    """
    METHODS.get(config.method).check(config, seeds, partial(_expected, store, run_name(config)))
    name = pretraining_of(config)
    if name is not None and all(awaited(store, config, seed) == name for seed in seeds):
        check_fit(config, name, store.find_pretraining(name, run_name(config)).config)
    else:
        check_start(store, config, seeds)


def awaited(store: Store, config: RunConfig, seed: int) -> str | None:
    """Return the run in progress that a seed must wait for; None if it can begin (or never will)."""
    with suppress(StoreError):
        name = METHODS.get(config.method).reads(config)
        if name is not None and _is_finding(store.find(name).seed(seed), config.rounds):
            return name
        name = pretraining_of(config)
        if name is not None and _is_making(store.find_pretraining(name), seed):
            return name
    return None


def wait_for_sources(seed_run: SeedRun, queue: Path, ticket: Path, should_stop: Callable[[], bool]) -> Path | None:
    """Wait until what a seed needs is done; return its ticket, None if `should_stop` says so.

    While it waits it has no ticket, so that others need not wait behind it. Raises a StudioError if what it needs ended
    early.
    """
    store, config, seed = Store.around(seed_run), seed_run.config, seed_run.seed
    has_waited = awaited(store, config, seed) is not None
    if has_waited:
        give_up(ticket)
    while awaited(store, config, seed) is not None:
        if should_stop():
            return None
        time.sleep(LOOK_AGAIN)
    check_needs(store, config, [seed])
    return join_line(queue, time.time())[0] if has_waited else ticket


@dataclass(frozen=True, eq=False)
class _Expected:
    """A run as it will be once its seeds in progress are done."""

    run: Run

    @property
    def name(self) -> str:
        return self.run.name

    @property
    def config(self) -> RunConfig:
        return self.run.config

    def seeds(self) -> list[int]:
        return self.run.seeds()

    def seed(self, seed: int) -> OtherSeed:
        one = self.run.seed(seed)
        return _Finished(one) if one.is_at_work() else one


class _Finished(SeedRun):
    """A seed in progress, with all the rounds it will have."""

    def __init__(self, seed_run: SeedRun) -> None:
        super().__init__(seed_run.path.parent, seed_run.seed, seed_run.config, writable=False)

    def whole_rounds(self) -> int:
        return self.config.rounds + 1


def _expected(store: Store, asking: str, name: str) -> OtherRun:
    return _Expected(store.find(name, asking))


def _is_finding(seed_run: SeedRun, rounds: int) -> bool:
    return seed_run.whole_rounds() <= rounds and seed_run.is_at_work()


def _is_making(source: Pretraining, seed: int) -> bool:
    """Say whether the seed's own first layer is being trained, or the only ones there will be."""
    finished = source.finished()
    if seed in finished:
        return False
    at_work = [other for other in source.seeds() if source.seed(other).is_at_work()]
    return seed in at_work or (not finished and bool(at_work))
