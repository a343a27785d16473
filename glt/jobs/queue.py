"""The queue of workers: numbered slots, tickets in order of arrival, and waiting for other runs.

Slots and tickets are locked files in one folder of the store. The locks of killed processes are released, so the queue
needs no server and no cleaning.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from glt.config import RunConfig, pretraining_of
from glt.errors import ConfigError, StoreError
from glt.lottery.initial_weights import check_start, start_words
from glt.methods import METHODS
from glt.methods.base import OtherRun
from glt.pretraining.config import check_fit
from glt.store import Pretraining, Run, SeedRun, Store, run_name
from glt.store.atomic_io import make_folder, writing
from glt.store.locks import is_locked, is_seen_locked, lock_open

SLOTS_VARIABLE = "GLT_SLOTS"
TICKET = ".ticket"
LOOK_AGAIN = 0.2


def slot_count(threads: int = 1) -> int:
    """Return how many workers compute side by side: GLT_SLOTS, or as cores allow."""
    slots = os.environ.get(SLOTS_VARIABLE)
    if slots is None:
        return max(1, cores() // threads)
    if not slots.isdecimal() or int(slots) < 1:
        raise ConfigError(f"{SLOTS_VARIABLE} is {slots!r}: set it to the number of workers that compute side by side.")
    return int(slots)


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
    """Wait in line for a slot; return its descriptor, None if `should_stop`."""
    try:
        while not should_stop():
            earlier = (other for other in sorted(folder.glob(f"*{TICKET}")) if other.name < ticket.name)
            slot = None if any(map(_is_valid, earlier)) else _free_slot(folder, slots)
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


def _is_valid(ticket: Path) -> bool:
    """Say whether the holder of a ticket runs; removes the ticket if not."""
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


# Dependencies between runs: a run that needs another one waits for it before it joins the queue. Only the two run
# folders count, not who started them.
SOURCE_LOOK_AGAIN = 1.0


def check_needs(store: Store, config: RunConfig, seeds: Sequence[int]) -> str:
    """Return which run these seeds wait for or start from, in a sentence; "" for none.

    Raises a StudioError if a run that they need is missing, unsuitable or will not finish.
    """

    def expected(name: str) -> OtherRun:
        run = store.find(name, run_name(config))
        return _Expected(run.path, run.config, writable=False)

    METHODS.get(config.method).check(config, seeds, expected)
    name, sources = pretraining_of(config), [awaited(store, config, seed) for seed in seeds]
    chosen: Mapping[int, int] = {}
    if name is not None and all(source == name for source in sources):
        check_fit(config, name, store.find_pretraining(name, run_name(config)).config)
    elif name is not None:
        chosen = check_start(store, config, seeds)
    if known := sorted({source for source in sources if source is not None}):
        return f"Starts automatically when {' and '.join(known)} has finished."
    return start_words(name, chosen) if name is not None else ""


def awaited(store: Store, config: RunConfig, seed: int) -> str | None:
    """Return the running run that a seed must wait for; None if it can begin (or never will)."""
    with suppress(StoreError):
        method = METHODS.get(config.method)
        for name, last in method.reads(config).items():
            source = store.find(name).seed(method.seed_read(config, seed))
            if source.whole_rounds() <= last and source.is_at_work():
                return name
        first = pretraining_of(config)
        if first is not None and _is_making(store.find_pretraining(first), seed):
            return first
    return None


def wait_for_sources(seed_run: SeedRun, queue: Path, ticket: Path, should_stop: Callable[[], bool]) -> Path | None:
    """Wait until what a seed needs is done; return its ticket, None if `should_stop`."""
    store, config, seed = Store.around(seed_run), seed_run.config, seed_run.seed
    has_waited = awaited(store, config, seed) is not None
    if has_waited:
        give_up(ticket)
    while awaited(store, config, seed) is not None:
        if should_stop():
            return None
        time.sleep(SOURCE_LOOK_AGAIN)
    check_needs(store, config, [seed])
    return join_line(queue, time.time())[0] if has_waited else ticket


class _Expected(Run):
    """A run as it will be once its running seeds are done."""

    def seed(self, seed: int) -> SeedRun:
        one = super().seed(seed)
        return _Finished(self.path, seed, self.config, writable=False) if one.is_at_work() else one


class _Finished(SeedRun):
    """A running seed, with all the rounds it will have."""

    def whole_rounds(self) -> int:
        return self.config.rounds + 1


def _is_making(source: Pretraining, seed: int) -> bool:
    """Say whether the seed's first layer, or the only ones to come, are being trained."""
    finished = source.finished()
    if seed in finished:
        return False
    at_work = [other for other in source.seeds() if source.seed(other).is_at_work()]
    return seed in at_work or (not finished and bool(at_work))
