"""Is the process that a status names still there? A pid alone does not tell, because pids are used again."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from glt.store.lock import is_seen_locked
from glt.store.records import Status

ACTIVE = ("queued", "running")
CLOCK_TOLERANCE = 2.0
SILENCE = 120.0
STARTING = 30.0
NO_PROCESS = {"pid": None, "process_started": None, "process_mark": None}
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def is_alive(status: Status, lock: Path) -> bool:
    """Say whether the worker of an active status lives; `lock` is the one that it holds.

    On another host a worker that was silent for two minutes counts as dead, unless its lock is seen to be held:
    two hosts need not agree on the time.
    """
    if status.host and status.host != socket.gethostname():
        return time.time() - status.heartbeat < SILENCE or is_seen_locked(lock)
    if status.pid is None:
        return time.time() - status.queued_at < STARTING
    return is_worker(status)


def is_worker(status: Status) -> bool:
    """Say whether the process that a status of this host names runs."""
    return status.pid is not None and same_process(status.pid, status.process_started, status.process_mark)


def same_process(pid: int, started: float | None, mark: str | None = None) -> bool:
    """Say whether process `pid` runs and began at `started` (seconds since 1970, as psutil gives it) or has this mark.

    On Linux a start time since 1970 is reckoned from the clock as it stands, so that a clock that is set moves it.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if started is None or abs(process.create_time() - started) <= CLOCK_TOLERANCE:
            return True
        return mark is not None and mark == process_mark(pid)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def identity(pid: int | None = None) -> tuple[int, float]:
    """Return pid and start time (seconds since 1970) of a process, by default of this one."""
    process = psutil.Process(pid or os.getpid())
    return process.pid, process.create_time()


def named_process(pid: int | None = None) -> dict[str, Any]:
    """Return the fields of a Status that name a process of this host, by default this one."""
    number, started = identity(pid)
    return {
        "pid": number,
        "process_started": started,
        "process_mark": process_mark(number),
        "host": socket.gethostname(),
    }


def process_mark(pid: int) -> str | None:
    """Return what tells a process from all others however the clock is set: boot and time since then; None off Linux.

    Raises psutil.NoSuchProcess when there is none.
    """
    if sys.platform != "linux":
        return None
    try:
        boot = BOOT_ID.read_text().strip()
    except OSError:
        return None
    return f"{boot} {psutil.Process(pid).create_time() - psutil.boot_time():.2f}"


def concluded(status: Status, lock: Path) -> Status:
    """Return the status as it is, or as "lost" when it is active and its process, which held `lock`, is gone."""
    if status.state in ACTIVE and not is_alive(status, lock):
        error = status.error or "The worker ended without saying why: see log.txt, then resume the run."
        return status.model_copy(update={"state": "lost", "error": error})
    return status
