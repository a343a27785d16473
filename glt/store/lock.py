"""One process owns a seed folder: an advisory lock that a killed process gives back by itself.

A lock may stay held for moments that mean nothing: while somebody looks whether it is held, and after a kill until
the last thread of the dead process has gone. Whoever wants it therefore tries for a second.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from glt.errors import StoreError
from glt.store.safe_files import writing

PATIENCE = 1.0
TRY_AGAIN = 0.02

_inherited: dict[Path, int] = {}
_owned: set[Path] = set()


def take_lock(path: Path) -> int:
    """Lock `path` and return the open descriptor; raises StoreError naming the process that holds it."""
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        with writing(path):
            _lock_soon(descriptor)
    except StoreError as error:
        os.close(descriptor)
        if isinstance(error.__cause__, BlockingIOError):
            raise StoreError(
                f"{path.parent} is in use by {_owner(path)}: wait until it has finished, or stop it first."
            ) from None
        raise
    sign_lock(descriptor, os.getpid())
    return descriptor


def _lock_soon(descriptor: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        time.sleep(TRY_AGAIN)


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
        with writing(path):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Say whether some process holds the lock on `path` at this moment."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # not there, or a link or a folder, which nobody could hold
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _owner(path: Path) -> str:
    try:
        return path.read_text().strip() or "another process"
    except OSError:
        return "another process"
