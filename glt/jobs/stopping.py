"""Stopping workers: politely first, so that they end at an epoch's end, by force after a grace."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from glt.errors import JobError, StoreError
from glt.jobs.spawning import Worker
from glt.store import AnyRun, SeedFolder, Status
from glt.store.liveness import ACTIVE, NO_PROCESS, is_worker

GRACE = 30.0
LOOK_AGAIN = 0.05
FINAL = ("done", "failed", "stopped")
Asked = tuple[SeedFolder, Status]


def stop(run: AnyRun, seeds: Sequence[int] | None = None, grace: float = GRACE) -> list[int]:
    """Stop the workers of these seeds (default all), waiting ones too, and return which were stopped.

    Whole rounds stay; a worker that has not ended after `grace` seconds is killed. Raises JobError for a worker on
    another host.
    """
    asked = ask_to_stop(run, seeds)
    wait_for_end(asked, grace)
    return [one.seed for one, _ in asked if one.status().state == "stopped"]


def stop_workers(workers: Sequence[Worker], grace: float = GRACE) -> None:
    """Stop these workers and nobody else's, the last first: it waits in line, and must not begin when the first ends.

    A seed that another worker computes by now is left alone. Workers that have ended already are no error.
    """
    asked = [(worker.seed_run, worker.status) for worker in reversed(workers)]
    for _, status in asked:
        _signal(status, _terminate)
    wait_for_end(asked, grace)


@contextmanager
def stopping_on_failure() -> Iterator[list[Worker]]:
    """Collect workers as they are started; what goes wrong meanwhile stops these, and nobody else's."""
    workers: list[Worker] = []
    try:
        yield workers
    except BaseException:
        stop_workers(workers)
        raise


def ask_to_stop(run: AnyRun, seeds: Sequence[int] | None = None) -> list[Asked]:
    """Ask the workers of these seeds (default all) to stop, and return them as they were; raises as `stop` does."""
    chosen = run.seeds() if seeds is None else [run.existing_seed(seed).seed for seed in seeds]
    active = [(run.seed(seed), status) for seed in chosen if (status := run.seed(seed).status()).state in ACTIVE]
    for one, status in active:
        _refuse_elsewhere(one.seed, status)
        _signal(status, _terminate)
    return active


def wait_for_end(asked: Sequence[Asked], grace: float = GRACE) -> None:
    """Wait until workers that were asked to stop have ended; after `grace` seconds those that are left are killed."""
    deadline = time.monotonic() + grace
    for one, status in asked:
        if not _ended(status, deadline):
            _signal(status, _kill_group)
            _ended(status, time.monotonic() + grace)
        _settle(one, status)


def _refuse_elsewhere(seed: int, status: Status) -> None:
    if status.host not in ("", socket.gethostname()):
        raise JobError(f"Seed {seed} computes on the host {status.host}: stop it there.")


def _signal(status: Status, send: Callable[[int], None]) -> None:
    # Without a time any process of that number would do, and a status is a file that somebody may have brought.
    if status.pid is not None and status.process_started and is_worker(status):
        with suppress(ProcessLookupError):
            send(status.pid)


def _terminate(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def _kill_group(pid: int) -> None:
    if os.getpgid(pid) == pid:
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGKILL)


def _ended(status: Status, deadline: float) -> bool:
    while is_worker(status):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_AGAIN)
    return True


def _settle(seed_run: SeedFolder, before: Status) -> None:
    """Write "stopped" for a worker that had no time to do so itself, unless another one has begun."""
    with suppress(StoreError), seed_run.lock():
        now = seed_run.status()
        if now.state not in FINAL and now.pid in (None, before.pid):
            seed_run.write_status(before.model_copy(update={"state": "stopped", **NO_PROCESS}))
