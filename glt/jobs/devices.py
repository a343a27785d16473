"""Devices and threads of workers: which exist, which is next, and what a resumed seed keeps.

Threads and kind of device change the last bits of results, so `settle` keeps those a seed began with.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glt.errors import ConfigError, JobError, StoreError, quoted
from glt.formats import number_of, own_environment
from glt.jobs.queue import cores, line_of, slot_count, waiting_and_working
from glt.store import SeedFolder

KINDS = CPU, CUDA = "cpu", "cuda"
NAME = re.compile(r"cpu|cuda(:(0|[1-9]\d{0,3}))?")

# One device, several to spread seeds over, or None: the recorded one, else the CPU.
Wanted = str | Sequence[str] | None
THREADS_VARIABLE = "GLT_THREADS"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def read_device(text: str) -> str:
    """Return a device's name; raise ConfigError if it is none (whether present or not)."""
    name = text.strip()
    if not NAME.fullmatch(name):
        raise ConfigError(f"{quoted(name)} is not a device: use cpu, cuda, or one of several as cuda:0, cuda:1.")
    return name


def kind_of(device: str) -> str:
    """Return the kind of a device: "cuda" of "cuda:1"."""
    return device.partition(":")[0]


def listed(wanted: Wanted) -> tuple[str, ...]:
    """Return the devices asked for; none means the recorded one."""
    return () if wanted is None else (wanted,) if isinstance(wanted, str) else tuple(wanted)


def check_device(wanted: Wanted) -> None:
    """Raise JobError for a device that is missing or named twice; loads torch for CUDA only."""
    names = listed(wanted)
    alike = Counter(f"{CUDA}:0" if name == CUDA else name for name in names)
    twice = next((name for name, count in alike.items() if count > 1), None)
    if twice is not None:
        raise JobError(f"The devices {', '.join(names)} name {twice} twice: name each device once.")
    flag = "--device" if isinstance(wanted, str) else "--devices"
    for name in names:
        if kind_of(name) != CUDA:
            continue
        found = cuda_count()
        if not found:
            raise JobError(f"There is no CUDA device here: start the run with {flag} cpu.")
        if int(name.partition(":")[2] or 0) >= found:
            there = ", ".join(f"{CUDA}:{number}" for number in range(found))
            raise JobError(f"There is no device {name} here: use {there}.")


def cuda_count() -> int:
    """Return the number of CUDA devices; loads torch."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def slots_on(device: str, threads: int = 1) -> int:
    """Return how many workers compute on a device at a time: one on CUDA, by cores on the CPU."""
    return 1 if kind_of(device) == CUDA else slot_count(threads)


def places(wanted: Wanted, threads: int = 1) -> int:
    """Return how many workers compute at the same time on all devices."""
    return sum(slots_on(name, threads) for name in listed(wanted) or (CPU,))


class Dealer:
    """Gives each worker the device with the least load per slot, first-named first."""

    def __init__(self, wanted: Wanted, queue: Path, threads: int = 1) -> None:
        names = listed(wanted)
        # A single device needs no count, and nothing of the queue is made for it.
        known = names if len(names) > 1 else ()
        self._busy = {name: waiting_and_working(line_of(queue, name)) for name in known}
        self._names = names
        self._threads = threads

    def next(self) -> str | None:
        """Return the next worker's device; None if none was asked for."""
        if len(self._names) < 2:
            return self._names[0] if self._names else None
        name = min(self._names, key=lambda name: (self._busy[name] + 1) / slots_on(name, self._threads))
        self._busy[name] += 1
        return name


@dataclass(frozen=True)
class Settings:
    """Compute threads and device of one worker."""

    threads: int = 1
    device: str = CPU

    def variables(self) -> dict[str, str]:
        """Return a worker's environment, with one thread count for every library."""
        counts = dict.fromkeys(THREAD_VARIABLES, str(self.threads))
        # Workers that return freed memory map large blocks one by one, in large pages: small pages took a quarter of
        # the time at a million edges, and a heap kept up to three times what was needed.
        pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4194304"}
        return {**pages, **own_environment(), **counts, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def settle(seed_run: SeedFolder, threads: int | None, device: str | None) -> Settings:
    """Return a seed's recorded settings, or for a new seed the given ones (default: one thread, cpu).

    A seed begun with more threads than cores here resumes with all cores. Raises JobError for settings that differ from
    the recorded ones (another device of the same kind is fine), ConfigError for more threads than cores.
    """
    try:
        recorded = seed_run.environment()
    except StoreError:  # it is damaged
        recorded = {"threads": seed_run.status().threads}
    setting = os.environ.get(THREADS_VARIABLE, "1")
    if threads is None and (not setting.isdecimal() or int(setting) < 1):
        raise ConfigError(f"{THREADS_VARIABLE} is {quoted(setting)}: set it to a number of compute threads.")
    before, begun = recorded.get("device"), recorded.get("threads")
    begun = min(begun, cores()) if isinstance(begun, int) and begun > 0 else None
    _check(seed_run, "threads", begun, threads)
    _check(seed_run, "device", before and kind_of(before), device and kind_of(device))
    return Settings(begun or refuse_too_many(int(setting) if threads is None else threads), device or before or CPU)


def refuse_too_many(threads: int) -> int:
    """Return a number of threads; raise ConfigError if there are fewer cores."""
    if threads > cores():
        have = number_of(cores(), "core")
        raise ConfigError(f"{quoted(threads)} threads are more than the {have} of this machine: use at most {cores()}.")
    return threads


def _check(seed_run: SeedFolder, name: str, recorded: object, wanted: object) -> None:
    if None not in (recorded, wanted) and recorded != wanted:
        raise JobError(
            f"Seed {seed_run.seed} of {seed_run.path.parent.name} began with {name} = {recorded} and must continue "
            f"with it, because another value changes the results: leave --{name} out."
        )
