"""Start, resume and stop workers: one detached process per seed, which outlives its starter.

`start` and `resume` find the seeds that lack something, take their locks and `spawn` a worker for each; `stop` asks
workers to end after an epoch, and kills them after a grace period.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from glt.config import RunConfig
from glt.errors import JobError, StoreError
from glt.formats import as_typed, file_size, listing
from glt.jobs.devices import Dealer, Settings, Wanted, check_device, settle
from glt.jobs.estimate import forecast
from glt.jobs.memory import check_memory
from glt.jobs.queue import check_needs, join_line, line_of
from glt.pretraining.config import PretrainConfig
from glt.store import AnyRun, Pretraining, Run, SeedFolder, Status, Store, paths
from glt.store.atomic_io import make_folder, refuse_link, writing
from glt.store.locks import ACTIVE, NO_PROCESS, InUse, is_worker, named_process, sign_lock, take_lock
from glt.user_path import DEFAULT_STORE, free_bytes

GRACE = 30.0
LOOK_AGAIN = 0.05
# Seconds to wait for a lock that no working worker holds: its holder is about to start one, or to end.
PATIENCE = 5.0
FINAL = ("done", "failed", "stopped")
RunT = TypeVar("RunT", bound=AnyRun)


@dataclass(frozen=True)
class Worker:
    """A started worker: its seed, its status, and the parts whole before."""

    seed_run: SeedFolder
    status: Status
    whole: int


@dataclass(frozen=True)
class Started(Generic[RunT]):
    """Seeds started by this call, seeds that lack nothing, and seeds of other workers."""

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

    Workers outlive the caller unless `tied` to it; those that need a run in progress wait for it. Seeds are spread over
    several devices. Raises StoreError, before anything starts, if a seed is in use or the store is not writable;
    JobError for settings a seed did not begin with. If a worker cannot be started, those started before it are stopped.
    """
    check(store, config, seeds, device, threads)
    return begin(store, store.create(config), seeds, device=device, threads=threads, tied=tied)


def check(
    store: Store, config: RunConfig, seeds: Sequence[int], device: Wanted = None, threads: int | None = None
) -> None:
    """Raise a StudioError if a device, another run, disk space or memory is lacking."""
    check_device(device)
    check_needs(store, config, seeds)
    check_room(store, [config], seeds)
    check_memory(store, [config], seeds, device, threads)


def check_room(store: Store, configs: Sequence[RunConfig], seeds: Sequence[int]) -> None:
    """Raise StoreError if the rounds that `seeds` lack do not fit on the store's disk."""
    needed = forecast(store, configs, seeds, ()).size_bytes
    free = free_bytes(store.root)
    if needed > free:
        # Some file systems, such as /proc, have no space because nobody can write there.
        make_folder(store.root)
        raise StoreError(
            f"These rounds need about {file_size(needed)}, but only {file_size(free)} are free on the disk of the "
            f"store {store.root}: choose fewer rounds, epochs or seeds, a smaller width, or another --store."
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
    """Start a worker for each seed not pre-trained yet; raises as `start`, `leave_busy` as in `begin`."""
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
    is_resume: bool = False,
) -> Started[RunT]:
    """Start a worker for each of these seeds of an existing run that lacks something or is damaged.

    A busy seed is left alone with `leave_busy`, and raises StoreError without. `is_resume` checks first that other runs
    and memory suffice, as `check` does for a start.
    """
    if run.is_example:
        raise StoreError(_example_words(run))
    lacking: list[int] = []
    finished: list[int] = []
    busy: list[int] = []
    for seed in dict.fromkeys(seeds):
        seed_run = run.seed(seed)
        if leave_busy and seed_run.is_at_work():
            busy.append(seed)
        elif not seed_run.is_sound():
            lacking.append(seed)
        else:
            finished.append(seed)
            # A worker may have been killed after its last result.
            if seed_run.status().state not in (*ACTIVE, "done"):
                with suppress(StoreError), seed_run.lock():
                    _write_done(seed_run)
    if is_resume and lacking and isinstance(run, Run):
        check_needs(store, run.config, lacking)
        check_memory(store, [run.config], lacking, device, threads)
    begun = _launch(store, run, lacking, device, threads, tied, leave_busy)
    return replace(
        begun, finished=tuple(sorted([*begun.finished, *finished])), elsewhere=tuple(sorted([*begun.elsewhere, *busy]))
    )


def _example_words(run: AnyRun) -> str:
    """Say that an example cannot be extended, and how to compute it in another store."""
    seeds = ",".join(map(str, run.seeds()))
    anew = as_typed("run", "--config", run.path / paths.CONFIG, "--seeds", seeds, "--store", DEFAULT_STORE)
    remedy = (
        f"compute it in a store of your own with `{anew}`" if isinstance(run, Run) else "choose a store of your own"
    )
    return f"{run.name} is a bundled example and cannot be extended: {remedy}."


def resume(
    store: Store,
    run: RunT,
    seeds: Sequence[int] | None = None,
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> Started[RunT]:
    """Start workers for unfinished and damaged seeds, by default all idle ones.

    Each continues after its last readable round, a pre-training from its start. Busy seeds are an error only if asked
    for. Raises as `start` does.
    """
    check_device(device)
    asked, leave_busy = _asked(run, seeds), seeds is None
    return begin(store, run, asked, device=device, threads=threads, tied=tied, leave_busy=leave_busy, is_resume=True)


def _asked(run: AnyRun, seeds: Sequence[int] | None) -> list[int]:
    """Return all seeds of a run, or those asked for, which must exist."""
    return run.seeds() if seeds is None else [run.existing_seed(seed).seed for seed in seeds]


def not_started(each: Started[Any]) -> str:
    """Say which seeds were not started and why; "" if all were."""
    groups = ((each.elsewhere, "running"), (each.finished, "complete"))
    words = (f"{listing(seeds)} {'is' if len(seeds) == 1 else 'are'} already {what}" for seeds, what in groups if seeds)
    return ", ".join(words)


def _write_done(seed_run: SeedFolder) -> None:
    """Write "done" for a complete seed whose lock is held."""
    status = seed_run.status()
    if status.state != "done":
        seed_run.drop_unfinished()
        seed_run.write_status(status.model_copy(update={"state": "done", "error": None, **NO_PROCESS}))


def _launch(
    store: Store, run: RunT, seeds: Sequence[int], device: Wanted, threads: int | None, tied: bool, leave_busy: bool
) -> Started[RunT]:
    """Start incomplete seeds; all locks are taken before the first worker starts."""
    if not seeds:
        return Started(run)
    dealer = Dealer(device, store.queue_folder(), threads or 1)
    devices = {seed: dealer.next() for seed in seeds}
    for seed in seeds:
        settle(run.seed(seed), threads, devices[seed])
    finished: list[int] = []
    locks: dict[int, int] = {}
    # Locks are released before workers are stopped, because stopping writes under their locks.
    with stopping_on_failure() as workers, ExitStack() as held:
        # In the order of the seeds, so that two callers never wait for each other.
        for seed in sorted(seeds):
            if (lock := _lock(run.seed(seed), leave_busy)) is not None:
                locks[seed] = lock
                held.callback(os.close, lock)
        orders: list[tuple[SeedFolder, Settings, int]] = []
        for seed in (seed for seed in seeds if seed in locks):
            seed_run = run.seed(seed)
            # The lock's last holder may have computed what was lacking.
            if seed_run.is_sound():
                _write_done(seed_run)
                finished.append(seed)
            else:
                settings = settle(seed_run, threads, devices[seed])
                # Readers of the worker's progress must not see what it is about to clear away.
                orders.append((seed_run, settings, seed_run.drop_unfinished()))
        for seed_run, settings, whole in orders:
            workers.append(Worker(seed_run, spawn(store, seed_run, settings, locks[seed_run.seed], tied), whole))
    return Started(run, tuple(workers), tuple(finished), tuple(seed for seed in seeds if seed not in locks))


def _lock(seed_run: SeedFolder, leave_busy: bool) -> int | None:
    """Take a seed's lock; None for a seed that a worker computes, with `leave_busy`.

    Waits for other holders (a worker that is ending, or a process starting one); then InUse names the holder.
    """
    seed_run.make()
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return take_lock(seed_run.lock_path, patience=0)
        except InUse:
            is_at_work = seed_run.is_at_work()
            if is_at_work and leave_busy:
                return None
            if is_at_work or time.monotonic() > deadline:
                raise
        time.sleep(LOOK_AGAIN)


def spawn(store: Store, seed_run: SeedFolder, settings: Settings, lock: int, tied: bool) -> Status:
    """Start a seed's worker and hand it the seed's `lock`, a descriptor; return its status."""
    queued_at = time.time()
    ticket, ticket_lock = join_line(line_of(store.queue_folder(), settings.device), queued_at)
    try:
        process = _worker_process(store, seed_run, settings, lock, ticket, ticket_lock, tied)
    finally:
        os.close(ticket_lock)
    sign_lock(lock, process.pid)
    times = {"heartbeat": queued_at, "queued_at": queued_at}
    process_fields = named_process(process.pid)
    status = Status(state="queued", seed=seed_run.seed, threads=settings.threads, **process_fields, **times)
    try:
        seed_run.write_status(status)
    except BaseException:
        process.kill()
        raise
    finally:
        # The worker waits for the end of its standard input, so its own status never comes before "queued".
        if process.stdin is not None:
            process.stdin.close()
        threading.Thread(target=process.wait, daemon=True).start()
    return status


def _worker_process(
    store: Store, seed_run: SeedFolder, settings: Settings, lock: int, ticket: Path, ticket_lock: int, tied: bool
) -> subprocess.Popen[bytes]:
    run = seed_run.path.parent.name
    command = [sys.executable, "-m", "glt.jobs.worker", str(store.root.resolve()), run, str(seed_run.seed)]
    command += ["--ticket", str(ticket.resolve()), "--lock", str(lock)]
    command += ["--device", settings.device, "--threads", str(settings.threads)]
    command += ["--tied", str(os.getpid())] if tied else []
    refuse_link(seed_run.log_path)
    with writing(seed_run.log_path), seed_run.log_path.open("ab") as log:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock, ticket_lock),
                env=settings.variables(),
            )
        except OSError as error:
            raise JobError(
                f"No worker could be started ({error.strerror}): close other programs, try again."
            ) from error


def stop(run: AnyRun, seeds: Sequence[int] | None = None, grace: float = GRACE) -> list[int]:
    """Stop the workers of these seeds (default all), waiting ones too; return the stopped seeds.

    Whole rounds stay; a worker still running after `grace` seconds is killed. Raises JobError for a worker on another
    host.
    """
    chosen = [run.seed(seed) for seed in _asked(run, seeds)]
    active = [(one, status) for one in chosen if (status := one.status()).state in ACTIVE]
    for one, status in active:
        if status.host not in ("", socket.gethostname()):
            raise JobError(f"Seed {one.seed} is running on the host {status.host}: stop it there.")
        _signal(status, signal.SIGTERM)
    wait_for_end(active, grace)
    return [one.seed for one, _ in active if one.status().state == "stopped"]


def stop_workers(workers: Sequence[Worker], grace: float = GRACE) -> None:
    """Stop only these workers, the last first, so that waiting ones do not begin."""
    asked = [(worker.seed_run, worker.status) for worker in reversed(workers)]
    for _, status in asked:
        _signal(status, signal.SIGTERM)
    wait_for_end(asked, grace)


@contextmanager
def stopping_on_failure() -> Iterator[list[Worker]]:
    """Collect started workers; an error within the context stops these and no others."""
    workers: list[Worker] = []
    try:
        yield workers
    except BaseException:
        stop_workers(workers)
        raise


def wait_for_end(asked: Sequence[tuple[SeedFolder, Status]], grace: float) -> None:
    """Wait for workers that were asked to stop; kill those left after `grace` seconds.

    Writes "stopped" for a worker that could not, unless another one has begun.
    """
    deadline = time.monotonic() + grace
    for seed_run, before in asked:
        if not _ended(before, deadline):
            _signal(before, signal.SIGKILL)
            _ended(before, time.monotonic() + grace)
        with suppress(StoreError), seed_run.lock():
            now = seed_run.status()
            if now.state not in FINAL and now.pid in (None, before.pid):
                seed_run.write_status(before.model_copy(update={"state": "stopped", **NO_PROCESS}))


def _signal(status: Status, number: signal.Signals) -> None:
    """Send a signal to the worker of a status; SIGKILL also to the processes it started."""
    # Without a start time any process with that number would match, and a status may come from elsewhere.
    if status.pid is None or not status.process_started or not is_worker(status):
        return
    with suppress(ProcessLookupError):
        is_group = number == signal.SIGKILL and os.getpgid(status.pid) == status.pid
        (os.killpg if is_group else os.kill)(status.pid, number)


def _ended(status: Status, deadline: float) -> bool:
    while is_worker(status):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_AGAIN)
    return True
