"""Locks and liveness: one process owns a seed folder, and the process that a status names runs or is gone.

A killed process gives its lock back by itself. A lock may stay held for moments that mean nothing: while somebody looks
whether it is held, and after a kill until the last thread of the dead process has gone. Whoever wants it therefore
tries for a second, by default.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from glt.errors import StoreError
from glt.store import paths
from glt.store.atomic_io import writing
from glt.store.records import Status

PATIENCE = 1.0
TRY_AGAIN = 0.02


class InUse(StoreError):
    """A process holds the lock on `path`, which the message names as it is signed at this moment."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.parent} is in use by {_owner(path)}: wait until it has finished, or stop it first.")


_inherited: dict[Path, int] = {}
_owned: set[Path] = set()


def take_lock(path: Path, patience: float = PATIENCE) -> int:
    """Lock `path` and return the open descriptor.

    Raises InUse, which names the process that holds the lock, after trying for `patience` seconds; 0 tries once.
    Raises StoreError where the file cannot be written or its file system keeps no locks.
    """
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        _lock_soon(descriptor, path, patience)
    except BlockingIOError:
        os.close(descriptor)
        raise InUse(path) from None
    except BaseException:
        os.close(descriptor)
        raise
    sign_lock(descriptor, os.getpid())
    return descriptor


def _lock_soon(descriptor: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            return lock_open(descriptor, path)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(TRY_AGAIN)


def lock_open(descriptor: int, path: Path, *, wait: bool = False, shared: bool = False) -> None:
    """Lock the open file `path` of a store.

    Raises BlockingIOError where another process holds it, unless `wait`, and StoreError where its file system keeps
    no locks: some network and FUSE mounts answer with one of several errors.
    """
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        raise
    except OSError as error:
        raise StoreError(
            f"The store {paths.store_of(path)} lies on a file system that keeps no locks ({error.strerror or error}), "
            "so nothing can be run or changed in it: choose a store on a local disk with --store or GLT_STORE, or "
            "mount this one with locks."
        ) from error


def sign_lock(descriptor: int, pid: int) -> None:
    """Write into a held lock which process and host own it, for the message that others get.

    Where that cannot be written the lock holds all the same.
    """
    content = f"process {pid} on {socket.gethostname()}\n".encode()
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, content, 0)


def own_inherited(path: Path, descriptor: int) -> None:
    """Note that this process was started with the lock on `path` held for it; `locked` takes and releases it."""
    _inherited[path.resolve()] = descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on `path`; within the process that owns it already this does nothing."""
    key = path.resolve()
    if key in _owned:
        yield
        return
    descriptor = _inherited.pop(key) if key in _inherited else take_lock(path)
    _owned.add(key)
    try:
        yield
    finally:
        _owned.discard(key)
        os.close(descriptor)


@contextmanager
def briefly_locked(path: Path) -> Iterator[None]:
    """Hold the lock on `path` for the moments of one change; others wait their turn, threads of this process too."""
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        lock_open(descriptor, path, wait=True)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Say whether some process holds the lock on `path` at this moment.

    Raises StoreError where the file system keeps no locks, so that nobody can tell.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # not there, or a link or a folder, which nobody could hold
        return False
    try:
        lock_open(descriptor, path, shared=True)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_seen_locked(path: Path) -> bool:
    """Say whether a lock is seen to be held; a file system that keeps no locks shows none."""
    try:
        return is_locked(path)
    except StoreError:
        return False


def _owner(path: Path) -> str:
    try:
        return path.read_text().strip() or "another process"
    except OSError:
        return "another process"


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
