"""What seeds are computed on: names of devices, whether they are there, and which one the next worker gets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from glt.errors import ConfigError, JobError
from glt.jobs.queueing import line_of, slot_count, waiting_and_working
from glt.printable import quoted

CPU, CUDA = "cpu", "cuda"
NAME = re.compile(r"cpu|cuda(:(0|[1-9]\d{0,3}))?")

# One device, several over which seeds are spread, or None: what is recorded, or the CPU.
Wanted = str | Sequence[str] | None


def read_device(text: str) -> str:
    """Return the name of a device; raises ConfigError for what is none, whether it is there or not.

    >>> read_device(" cuda:1 ")
    'cuda:1'
    """
    name = text.strip()
    if not NAME.fullmatch(name):
        raise ConfigError(f"{quoted(name)} is no device: name cpu, cuda, or one of several as cuda:0, cuda:1.")
    return name


def kind_of(device: str) -> str:
    """Return what a device is, whichever of them.

    >>> kind_of("cuda:1"), kind_of("cpu")
    ('cuda', 'cpu')
    """
    return device.partition(":")[0]


def listed(wanted: Wanted) -> tuple[str, ...]:
    """Return the devices that are asked for, none for what is recorded."""
    return () if wanted is None else (wanted,) if isinstance(wanted, str) else tuple(wanted)


def check_device(wanted: Wanted) -> None:
    """Raise JobError for a device that is named twice or is not there.

    Only a question about another one than the CPU loads torch.
    """
    names = listed(wanted)
    alike = Counter(f"{CUDA}:0" if name == CUDA else name for name in names)
    twice = next((name for name, count in alike.items() if count > 1), None)
    if twice is not None:
        raise JobError(f"The devices {', '.join(names)} have {twice} twice: name every device once.")
    flag = "--device" if isinstance(wanted, str) else "--devices"
    for name in names:
        if kind_of(name) == CUDA:
            _check_cuda(name, flag)


def _check_cuda(name: str, flag: str) -> None:
    found, index = cuda_count(), int(name.partition(":")[2] or 0)
    if not found:
        raise JobError(f"There is no CUDA device here: start the run with {flag} cpu.")
    if index >= found:
        there = ", ".join(f"{CUDA}:{number}" for number in range(found))
        raise JobError(f"There is no device {name} here: use {there}.")


def cuda_count() -> int:
    """Return the number of CUDA devices; loads torch."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def slots_on(device: str, threads: int = 1) -> int:
    """Return how many workers compute on a device at a time: one on a CUDA device, on the CPU as many as have cores."""
    return 1 if kind_of(device) == CUDA else slot_count(threads)


def places(wanted: Wanted, threads: int = 1) -> int:
    """Return how many workers compute at a time on all these devices."""
    return sum(slots_on(name, threads) for name in listed(wanted) or (CPU,))


class Dealer:
    """Gives every next worker the device that has the least to do for what it can do at a time.

    Whoever waits or works at a device already counts; of devices alike, the one named first comes first.
    """

    def __init__(self, wanted: Wanted, queue: Path, threads: int = 1) -> None:
        names = listed(wanted)
        # A single device needs no count, and nothing of the queue is made for it.
        known = names if len(names) > 1 else ()
        self._busy = {name: waiting_and_working(line_of(queue, name)) for name in known}
        self._names = names
        self._threads = threads

    def next(self) -> str | None:
        """Return the device of the next worker; None where none was asked for."""
        if len(self._names) < 2:
            return self._names[0] if self._names else None
        name = min(self._names, key=lambda name: (self._busy[name] + 1) / slots_on(name, self._threads))
        self._busy[name] += 1
        return name
