"""Locks and liveness: one process owns a seed folder; a status names a process that runs or has ended.

The lock of a killed process is released by the system. A lock may be held for short moments: while another process
tests it, and after a kill until the last thread has ended. By default, attempts are therefore repeated for a second.
"""

from __future__ import annotations

import fcntl
import os
import socket
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
    """Another process holds the lock `path`; the message names it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.parent} is in use by {_owner(path)}: wait until it has finished, or stop it first.")


_inherited: dict[Path, int] = {}
_owned: set[Path] = set()


def take_lock(path: Path, patience: float = PATIENCE) -> int:
    """Lock `path` and return the descriptor; raises InUse after `patience` seconds."""
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    deadline = time.monotonic() + patience
    try:
        while True:
            try:
                lock_open(descriptor, path)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise InUse(path) from None
            time.sleep(TRY_AGAIN)
    except BaseException:
        os.close(descriptor)
        raise
    sign_lock(descriptor, os.getpid())
    return descriptor


def lock_open(descriptor: int, path: Path, *, wait: bool = False, shared: bool = False) -> None:
    """Lock an open file of a store.

    Raises BlockingIOError if another process holds it, unless `wait`, and StoreError if its file system has no locks:
    some network and FUSE mounts answer with one of several errors.
    """
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        raise
    except OSError as error:
        raise StoreError(
            f"The store {paths.store_of(path)} is on a file system without locks ({error.strerror or error}), "
            "so nothing can be run or changed in it: choose a store on a local disk with --store or GLT_STORE, or "
            "enable locks on this one."
        ) from error


def sign_lock(descriptor: int, pid: int) -> None:
    """Write the owning process and host into a held lock, for messages; failures do not matter."""
    content = f"process {pid} on {socket.gethostname()}\n".encode()
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, content, 0)


def own_inherited(path: Path, descriptor: int) -> None:
    """Note that this process inherited the held lock `path`; `locked` takes and releases it."""
    _inherited[path.resolve()] = descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock `path`; does nothing within the process that already holds it."""
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
    """Hold the lock `path` for one change; other processes and threads wait."""
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        lock_open(descriptor, path, wait=True)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Say whether a process holds the lock `path`; raises StoreError if the file system has no locks."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # missing, a link or a folder: no lock
        return False
    try:
        lock_open(descriptor, path, shared=True)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_seen_locked(path: Path) -> bool:
    """Say whether the lock `path` is held; False if the file system has no locks."""
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
    """Say whether the worker of an active status, which holds `lock`, is alive.

    A worker on another host is dead after two minutes without a heartbeat unless its lock is held, because clocks of
    two hosts may differ.
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
    """Say whether process `pid` runs and has this start time (seconds since 1970) or mark.

    On Linux psutil derives start times from the clock, so setting the clock moves them.
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


def named_process(pid: int | None = None) -> dict[str, Any]:
    """Return the fields of a Status that name a process of this host, by default this one."""
    process = psutil.Process(pid)
    mark = process_mark(process.pid)
    started = process.create_time()
    return {"pid": process.pid, "process_started": started, "process_mark": mark, "host": socket.gethostname()}


def process_mark(pid: int) -> str | None:
    """Return boot and time since boot, which no clock change affects; None off Linux."""
    try:
        boot = BOOT_ID.read_text().strip()
    except OSError:
        return None
    return f"{boot} {psutil.Process(pid).create_time() - psutil.boot_time():.2f}"


def concluded(status: Status, lock: Path) -> Status:
    """Return the status, as "lost" if it is active but its process, the holder of `lock`, has ended."""
    if status.state in ACTIVE and not is_alive(status, lock):
        error = status.error or "The worker ended without an error message: see log.txt, then resume the run."
        return status.model_copy(update={"state": "lost", "error": error})
    return status
