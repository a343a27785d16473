"""One worker process: its place in the line, its command, and the status it has before it writes its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from glt.errors import JobError
from glt.jobs.devices import Settings
from glt.jobs.queue import join_line, line_of
from glt.store import AnyRun, SeedFolder, Status, Store
from glt.store.liveness import named_process
from glt.store.lock import sign_lock
from glt.store.safe_files import refuse_link, writing


@dataclass(frozen=True)
class Order:
    """A seed whose lock is taken (`lock` is its descriptor), ready to be computed; `whole` as in Worker."""

    seed_run: SeedFolder
    settings: Settings
    lock: int
    whole: int


@dataclass(frozen=True)
class Worker:
    """A worker that was started: its seed, the status that names its process, and how much was whole before it.

    `whole` counts rounds; of a seed without rounds it is 1 where its one result is there.
    """

    seed_run: SeedFolder
    status: Status
    whole: int


def spawn(store: Store, run: AnyRun, order: Order, tied: bool) -> Worker:
    """Start a seed's worker process, which is "queued" when this returns; `tied` ones end with the caller."""
    seed_run, settings, queued_at = order.seed_run, order.settings, time.time()
    ticket, ticket_lock = join_line(line_of(store.queue_folder(), settings.device), queued_at)
    try:
        process = _worker_process(store, run, order, ticket, ticket_lock, tied)
    finally:
        os.close(ticket_lock)
    sign_lock(order.lock, process.pid)
    status = Status(
        state="queued",
        seed=seed_run.seed,
        **named_process(process.pid),
        heartbeat=queued_at,
        queued_at=queued_at,
        threads=settings.threads,
    )
    try:
        seed_run.write_status(status)
    except BaseException:
        process.kill()
        raise
    finally:
        _open_gate(process)
        threading.Thread(target=process.wait, daemon=True).start()
    return Worker(seed_run, status, order.whole)


def _worker_process(
    store: Store, run: AnyRun, order: Order, ticket: Path, ticket_lock: int, tied: bool
) -> subprocess.Popen[bytes]:
    seed_run, settings = order.seed_run, order.settings
    command = [sys.executable, "-m", "glt.jobs.worker", str(store.root.resolve()), run.name, str(seed_run.seed)]
    command += [
        "--ticket",
        str(ticket.resolve()),
        "--lock",
        str(order.lock),
        "--device",
        settings.device,
        "--threads",
        str(settings.threads),
    ]
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
                pass_fds=(order.lock, ticket_lock),
                env=settings.variables(),
            )
        except OSError as error:
            raise JobError(
                f"No worker could be started ({error.strerror}): close other programs, try again."
            ) from error


def _open_gate(process: subprocess.Popen[bytes]) -> None:
    # The worker waits for the end of its standard input, so that its own status never comes before "queued".
    if process.stdin is not None:
        process.stdin.close()
