"""Starting workers: one detached process a seed, which waits in line and outlives whoever started it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from glt.config import RunConfig
from glt.datasets.cache import free_bytes
from glt.errors import StoreError
from glt.formats import file_size, listing
from glt.jobs.dependencies import check_needs
from glt.jobs.devices import Dealer, Wanted, check_device, settle
from glt.jobs.estimate import missing_bytes
from glt.jobs.memory import check_memory
from glt.jobs.spawning import Order, Worker, spawn
from glt.jobs.stopping import stopping_on_failure
from glt.pretraining.config import PretrainConfig
from glt.store import AnyRun, Pretraining, Run, SeedFolder, Store
from glt.store.liveness import ACTIVE, NO_PROCESS
from glt.store.lock import InUse, take_lock

# Seconds for which a lock is waited for that no worker at work holds: its holder is about to start one, or to go.
PATIENCE = 5.0
LOOK_AGAIN = 0.05


RunT = TypeVar("RunT", bound=AnyRun)


@dataclass(frozen=True)
class Started(Generic[RunT]):
    """What starting some seeds of a run came to: every seed that was asked for is in one of three groups.

    `workers` are those that this call started, `finished` the seeds that lack nothing, and `elsewhere` the seeds that a
    worker computes which somebody else started.
    """

    run: RunT
    workers: tuple[Worker, ...] = ()
    finished: tuple[int, ...] = ()
    elsewhere: tuple[int, ...] = ()

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that were started."""
        return tuple(worker.seed_run.seed for worker in self.workers)


def start(
    store: Store,
    config: RunConfig,
    seeds: Sequence[int],
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> Started[Run]:
    """Start a worker for each seed that lacks rounds or has damaged ones; when this returns, each is "queued".

    The workers go on when the caller ends, unless they are `tied` to it; those that need a run at work wait for it.
    Seeds are spread over several devices. Raises StoreError, before anything is started, when a seed is in use or the
    store cannot be written; JobError for settings a seed was not begun with. When a worker cannot be started, those
    that this call started before it are stopped.
    """
    check(store, config, seeds, device, threads)
    return begin(store, store.create(config), seeds, device=device, threads=threads, tied=tied)


def check(
    store: Store, config: RunConfig, seeds: Sequence[int], device: Wanted = None, threads: int | None = None
) -> None:
    """Raise a StudioError, before anything is made, where a device, another run, room or memory is lacking."""
    check_device(device)
    check_needs(store, config, seeds)
    check_room(store, [config], seeds)
    check_memory(store, [config], seeds, device, threads)


def check_room(store: Store, configs: Sequence[RunConfig], seeds: Sequence[int]) -> None:
    """Raise StoreError when the rounds that `seeds` of all these configs lack would not fit on the store's disk."""
    needed = missing_bytes(store, configs, seeds)
    free = free_bytes(store.root)
    if needed > free:
        raise StoreError(
            f"These rounds would fill about {file_size(needed)}, but only {file_size(free)} are free where the store "
            f"{store.root} lies: choose fewer rounds, epochs or seeds, a smaller width, or another --store."
        )


def start_pretraining(
    store: Store,
    config: PretrainConfig,
    seeds: Sequence[int],
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
    leave_busy: bool = False,
) -> Started[Pretraining]:
    """Start a worker for each seed that is not pre-trained yet; raises as `start` does, `leave_busy` as in `begin`."""
    check_device(device)
    run = store.create_pretraining(config)
    return begin(store, run, seeds, device=device, threads=threads, tied=tied, leave_busy=leave_busy)


def begin(
    store: Store,
    run: RunT,
    seeds: Sequence[int],
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
    leave_busy: bool = False,
) -> Started[RunT]:
    """Start a worker for each of these seeds of a run on disk that lacks something or has it damaged.

    A seed that somebody's worker computes is left to it with `leave_busy`, and raises StoreError without.
    """
    _refuse_example(run)
    lacking, finished, busy = _sorted_out(run, seeds, leave_busy)
    begun = _launch(store, run, lacking, _Computing(device, threads, tied, leave_busy))
    return _with(begun, finished, busy)


def resume(
    store: Store,
    run: RunT,
    seeds: Sequence[int] | None = None,
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> Started[RunT]:
    """Start workers for unfinished and damaged seeds again, by default all that are not at work.

    Each goes on after its last round that can be read, a pre-training from its start. Seeds at work are an error only
    where they were asked for. Raises as `start` does.
    """
    _refuse_example(run)
    check_device(device)
    leave_busy = seeds is None
    asked = run.seeds() if seeds is None else [run.existing_seed(seed).seed for seed in seeds]
    lacking, finished, busy = _sorted_out(run, asked, leave_busy)
    if lacking and isinstance(run, Run):
        check_needs(store, run.config, lacking)
        check_memory(store, [run.config], lacking, device, threads)
    begun = _launch(store, run, lacking, _Computing(device, threads, tied, leave_busy))
    return _with(begun, finished, busy)


def not_started(each: Started[Any]) -> str:
    """Say which seeds were not started and why, "" where all were.

    >>> from types import SimpleNamespace
    >>> not_started(SimpleNamespace(elsewhere=(1,), finished=(0, 2)))
    'seed 1 is at work already, seeds 0, 2 are complete already'
    """
    groups = ((each.elsewhere, "at work"), (each.finished, "complete"))
    return ", ".join(
        f"{listing(seeds)} {'is' if len(seeds) == 1 else 'are'} {what} already" for seeds, what in groups if seeds
    )


class _AtWork(InUse):
    """The process that holds the lock is a worker, which the status of the seed says to be at work."""


@dataclass(frozen=True)
class _Computing:
    """How the seeds of one call are computed, and whether it leaves alone those that somebody computes."""

    device: Wanted
    threads: int | None
    tied: bool
    leave_busy: bool


def _sorted_out(run: AnyRun, seeds: Sequence[int], leave_busy: bool) -> tuple[list[int], list[int], list[int]]:
    """Return the seeds that lack something or have it damaged, those that lack nothing, and those left to a worker.

    Where a seed lacks nothing, a status that says otherwise is put right.
    """
    lacking: list[int] = []
    finished: list[int] = []
    busy: list[int] = []
    for seed in dict.fromkeys(seeds):
        if leave_busy and run.seed(seed).is_at_work():
            busy.append(seed)
        elif run.seed(seed).is_sound():
            _conclude(run.seed(seed))
            finished.append(seed)
        else:
            lacking.append(seed)
    return lacking, finished, busy


def _with(begun: Started[RunT], finished: Sequence[int], elsewhere: Sequence[int]) -> Started[RunT]:
    """Add seeds that were sorted out before anything was started."""
    return replace(
        begun,
        finished=tuple(sorted([*begun.finished, *finished])),
        elsewhere=tuple(sorted([*begun.elsewhere, *elsewhere])),
    )


def _conclude(seed_run: SeedFolder) -> None:
    """Write "done" for a worker that was killed, or met a full disk, after it had written everything."""
    if seed_run.status().state in (*ACTIVE, "done"):
        return
    with suppress(StoreError), seed_run.lock():
        _write_done(seed_run)


def _write_done(seed_run: SeedFolder) -> None:
    """Put right the status of a seed that lacks nothing and whose lock is held, so that nobody is at work."""
    status = seed_run.status()
    if status.state != "done":
        seed_run.drop_unfinished()
        seed_run.write_status(status.model_copy(update={"state": "done", "error": None, **NO_PROCESS}))


def _refuse_example(run: AnyRun) -> None:
    if run.is_example:
        raise StoreError(f"{run.name} is a bundled example, which nothing is added to: choose a store of your own.")


def _launch(store: Store, run: RunT, seeds: Sequence[int], computing: _Computing) -> Started[RunT]:
    """Start seeds that lacked something a moment ago; all locks are taken before the first worker is started."""
    if not seeds:
        return Started(run)
    dealer = Dealer(computing.device, store.queue_folder(), computing.threads or 1)
    devices = {seed: dealer.next() for seed in seeds}
    for seed in seeds:
        settle(run.seed(seed), computing.threads, devices[seed])
    finished: list[int] = []
    # The locks are given back before workers are stopped: what stops them writes under their locks.
    with stopping_on_failure() as workers, ExitStack() as held:
        locks = _locks(run, seeds, computing.leave_busy, held)
        orders: list[Order] = []
        for seed in (seed for seed in seeds if seed in locks):
            seed_run = run.seed(seed)
            # Whoever had the lock until now may have computed what was lacking.
            if seed_run.is_sound():
                _write_done(seed_run)
                finished.append(seed)
            else:
                settings = settle(seed_run, computing.threads, devices[seed])
                # Whoever follows the worker must not meet what it is about to clear away.
                orders.append(Order(seed_run, settings, locks[seed], seed_run.drop_unfinished()))
        for order in orders:
            workers.append(spawn(store, run, order, computing.tied))
    return Started(run, tuple(workers), tuple(finished), tuple(seed for seed in seeds if seed not in locks))


def _locks(run: AnyRun, seeds: Sequence[int], leave_busy: bool, held: ExitStack) -> dict[int, int]:
    """Take the locks of these seeds and return their descriptors, which `held` closes; without those left alone.

    Everybody takes them in the order of the seeds: two that start the same seeds never wait for each other.
    """
    locks: dict[int, int] = {}
    for seed in sorted(seeds):
        seed_run = run.seed(seed)
        seed_run.make()
        try:
            locks[seed] = _lock(seed_run)
        except _AtWork:
            if not leave_busy:
                raise
        else:
            held.callback(os.close, locks[seed])
    return locks


def _lock(seed_run: SeedFolder) -> int:
    """Take a seed's lock; raises _AtWork at once where a worker is at the seed.

    Whoever else holds it, a worker that has written its last status or somebody who starts one, is waited for; InUse
    names whoever holds it longer.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return take_lock(seed_run.lock_path, patience=0)
        except InUse:
            if seed_run.is_at_work():
                raise _AtWork(seed_run.lock_path) from None
            if time.monotonic() > deadline:
                raise
        time.sleep(LOOK_AGAIN)
