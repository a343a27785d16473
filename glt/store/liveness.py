"""Is the process that a status names still there? A pid alone does not tell, because pids are used again."""

from __future__ import annotations

import os
import socket
import time

import psutil

from glt.store.records import Status

ACTIVE = ("queued", "running")
CLOCK_TOLERANCE = 2.0
SILENCE = 120.0
STARTING = 30.0


def is_alive(status: Status) -> bool:
    """Say whether the worker of an active status lives.

    On another host only the heartbeat can tell: a worker that was silent for two minutes counts as dead.
    """
    if status.host and status.host != socket.gethostname():
        return time.time() - status.heartbeat < SILENCE
    if status.pid is None:
        return time.time() - status.queued_at < STARTING
    return same_process(status.pid, status.process_started)


def same_process(pid: int, started: float | None) -> bool:
    """Say whether process `pid` runs and began at `started` (seconds since 1970, as psutil gives it)."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return started is None or abs(process.create_time() - started) <= CLOCK_TOLERANCE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def identity(pid: int | None = None) -> tuple[int, float]:
    """Return pid and start time (seconds since 1970) of a process, by default of this one."""
    process = psutil.Process(pid or os.getpid())
    return process.pid, process.create_time()


def concluded(status: Status) -> Status:
    """Return the status as it is, or as "lost" when it is active and its process is gone."""
    if status.state in ACTIVE and not is_alive(status):
        error = status.error or "The worker ended without saying why: see log.txt, then resume the run."
        return status.model_copy(update={"state": "lost", "error": error})
    return status
