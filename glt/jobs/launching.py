"""Starting workers: one detached process a seed, which waits in line and outlives whoever started it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from glt.config import RunConfig
from glt.data.room import free_bytes
from glt.errors import StoreError
from glt.formats import file_size
from glt.jobs.devices import Dealer, Wanted, check_device
from glt.jobs.forecast import missing_bytes
from glt.jobs.memory import check_memory
from glt.jobs.settings import settle
from glt.jobs.spawning import Order, spawn
from glt.jobs.waiting import check_needs
from glt.pretraining.config import PretrainConfig
from glt.store import AnyRun, Pretraining, Run, SeedFolder, Store
from glt.store.liveness import ACTIVE, NO_PROCESS
from glt.store.lock import take_lock

# A worker that has written its last status may need a moment more to go.
PATIENCE = 3.0
LOOK_AGAIN = 0.05


def start(
    store: Store,
    config: RunConfig,
    seeds: Sequence[int],
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> Run:
    """Start a worker for each seed that lacks rounds or has damaged ones; when this returns, each is "queued".

    The workers go on when the caller ends, unless they are `tied` to it; those that need a run at work wait for it.
    Seeds are spread over several devices. Raises StoreError, before anything is started, when a seed is in use or the
    store cannot be written; JobError for settings a seed was not begun with.
    """
    check(store, config, seeds, device, threads)
    run = store.create(config)
    begin(store, run, seeds, device=device, threads=threads, tied=tied)
    return run


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
) -> Pretraining:
    """Start a worker for each seed that is not pre-trained yet; raises as `start` does."""
    check_device(device)
    run = store.create_pretraining(config)
    begin(store, run, seeds, device=device, threads=threads, tied=tied)
    return run


def begin(
    store: Store,
    run: AnyRun,
    seeds: Sequence[int],
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> None:
    """Start a worker for each of these seeds of a run on disk that lacks something or has it damaged."""
    _refuse_example(run)
    _launch(store, run, _lacking(run, seeds), device, threads, tied)


def resume(
    store: Store,
    run: AnyRun,
    seeds: Sequence[int] | None = None,
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> list[int]:
    """Start workers for unfinished and damaged seeds again, by default all that are not at work; return which ones.

    Each goes on after its last round that can be read, a pre-training from its start. Raises as `start` does.
    """
    _refuse_example(run)
    check_device(device)
    asked = _idle(run) if seeds is None else [run.existing_seed(seed).seed for seed in seeds]
    wanted = _lacking(run, asked)
    if wanted and isinstance(run, Run):
        check_needs(store, run.config, wanted)
        check_memory(store, [run.config], wanted, device, threads)
    _launch(store, run, wanted, device, threads, tied)
    return wanted


def _idle(run: AnyRun) -> list[int]:
    """Return the seeds that have no worker."""
    return [seed for seed in run.seeds() if not run.seed(seed).is_at_work()]


def _lacking(run: AnyRun, seeds: Sequence[int]) -> list[int]:
    """Return the seeds that lack something or have it damaged; of the others, what says so is put right."""
    lacking = [seed for seed in seeds if not run.seed(seed).is_sound()]
    for seed in seeds:
        if seed not in lacking:
            _conclude(run.seed(seed))
    return lacking


def _conclude(seed_run: SeedFolder) -> None:
    """Write "done" for a worker that was killed, or met a full disk, after it had written everything."""
    status = seed_run.status()
    if status.state in (*ACTIVE, "done"):
        return
    with suppress(StoreError), seed_run.lock():
        seed_run.drop_unfinished()
        seed_run.write_status(status.model_copy(update={"state": "done", "error": None, **NO_PROCESS}))


def _refuse_example(run: AnyRun) -> None:
    if run.is_example:
        raise StoreError(f"{run.name} is a bundled example, which nothing is added to: choose a store of your own.")


def _launch(store: Store, run: AnyRun, seeds: Sequence[int], device: Wanted, threads: int | None, tied: bool) -> None:
    if not seeds:
        return
    with ExitStack() as held:
        dealer = Dealer(device, store.queue_folder(), threads or 1)
        orders = [_order(run.seed(seed), dealer.next(), threads, held) for seed in dict.fromkeys(seeds)]
        for order in orders:
            spawn(store, run, order, tied)


def _order(seed_run: SeedFolder, device: str | None, threads: int | None, held: ExitStack) -> Order:
    settings = settle(seed_run, threads, device)
    seed_run.make()
    lock = _lock(seed_run)
    held.callback(os.close, lock)
    # Whoever follows the worker must not meet what it is about to clear away.
    seed_run.drop_unfinished()
    return Order(seed_run, settings, lock)


def _lock(seed_run: SeedFolder) -> int:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return take_lock(seed_run.lock_path)
        except StoreError:
            if seed_run.is_at_work() or time.monotonic() > deadline:
                raise
        time.sleep(LOOK_AGAIN)
