"""The queue of workers: numbered slots for cores, and tickets in order of arrival.

Both are locked files in one folder of the store. A killed process releases its locks, so the queue needs no server and
no cleaning up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from glt.errors import ConfigError, StoreError
from glt.store.atomic_io import make_folder, writing
from glt.store.locks import is_locked, is_seen_locked, lock_open

SLOTS_VARIABLE = "GLT_SLOTS"
TICKET = ".ticket"
LOOK_AGAIN = 0.2


def slot_count(threads: int = 1) -> int:
    """Return how many workers compute side by side: GLT_SLOTS, or as cores allow."""
    wanted = os.environ.get(SLOTS_VARIABLE)
    if wanted is None:
        return max(1, cores() // threads)
    if not wanted.isdecimal() or int(wanted) < 1:
        raise ConfigError(f"{SLOTS_VARIABLE} is {wanted!r}: set it to the number of workers that compute side by side.")
    return int(wanted)


def line_of(queue: Path, device: str) -> Path:
    """Return (and make) the folder of a device's line; the CPU's is the queue itself."""
    kind, _, index = device.partition(":")
    folder = queue if kind == "cpu" else queue / f"{kind}-{index or 0}"
    make_folder(folder)
    return folder


def waiting_and_working(line: Path) -> int:
    """Return how many workers wait in a line or have one of its slots."""
    return working(line) + sum(is_seen_locked(each) for each in line.glob(f"*{TICKET}"))


def working(line: Path) -> int:
    """Return how many slots of a line are taken."""
    return sum(is_seen_locked(each) for each in line.glob("slot-*.lock"))


def is_busy(queue: Path) -> bool:
    """Say whether any worker of a store computes or waits, on any device."""
    lines = [queue, *(each for each in queue.glob("*") if each.is_dir())]
    return any(waiting_and_working(line) for line in lines)


def join_line(folder: Path, queued_at: float) -> tuple[Path, int]:
    """Draw a ticket; return its path and the descriptor whose lock keeps it valid."""
    name = f"{_arrival(queued_at)}-{os.getpid()}-{time.monotonic_ns()}"
    path = folder / f"{name}{TICKET}"
    with writing(path):
        blank = folder / f".{name}"
        descriptor = os.open(blank, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            lock_open(descriptor, blank)
        except StoreError:
            os.close(descriptor)
            blank.unlink()
            raise
        blank.rename(path)
    return path, descriptor


def place_in_line(line: Path, queued_at: float) -> int | None:
    """Return the place (from 1) of the ticket drawn at `queued_at`; None if invalid."""
    valid = sorted(ticket.name for ticket in line.glob(f"*{TICKET}") if is_seen_locked(ticket))
    places = (place for place, name in enumerate(valid, 1) if name.startswith(f"{_arrival(queued_at)}-"))
    return next(places, None)


def wait_for_slot(folder: Path, ticket: Path, slots: int, should_stop: Callable[[], bool]) -> int | None:
    """Wait for a free slot and no earlier valid ticket; return the slot's open descriptor.

    Returns None if `should_stop` says so. The ticket is given up in either case.
    """
    try:
        while not should_stop():
            slot = None if _is_behind(folder, ticket) else _free_slot(folder, slots)
            if slot is not None:
                return slot
            time.sleep(LOOK_AGAIN)
        return None
    finally:
        give_up(ticket)


def give_up(ticket: Path) -> None:
    """Leave the line."""
    with writing(ticket):
        ticket.unlink(missing_ok=True)


def _arrival(queued_at: float) -> str:
    """Return a time (seconds since 1970) as a sortable start of a ticket's name."""
    return f"{int(queued_at * 1e9):020d}"


def _is_behind(folder: Path, ticket: Path) -> bool:
    return any(_is_valid(other) for other in sorted(folder.glob(f"*{TICKET}")) if other.name < ticket.name)


def _is_valid(ticket: Path) -> bool:
    if is_locked(ticket):
        return True
    give_up(ticket)
    return False


def _free_slot(folder: Path, slots: int) -> int | None:
    for number in range(slots):
        path = folder / f"slot-{number}.lock"
        with writing(folder):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            lock_open(descriptor, path)
        except BlockingIOError:
            os.close(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        else:
            return descriptor
    return None


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1
