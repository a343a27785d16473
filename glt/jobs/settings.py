"""What a worker computes on, which shapes the last bits of its results and therefore stays as it was on a resume."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glt.commands import own_environment
from glt.errors import ConfigError, JobError, StoreError
from glt.formats import number_of
from glt.jobs.devices import CPU, kind_of
from glt.jobs.queueing import cores
from glt.printable import quoted
from glt.store import SeedFolder

THREADS_VARIABLE = "GLT_THREADS"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Settings:
    """Compute threads of one worker, and its device."""

    threads: int = 1
    device: str = CPU

    def variables(self) -> dict[str, str]:
        """Return the environment of a worker process: every library gets the same thread count."""
        counts = dict.fromkeys(THREAD_VARIABLES, str(self.threads))
        # Where freed memory is given back, large blocks are best mapped one by one, in large pages: small ones
        # took a quarter of the time at a million edges, and a heap kept up to three times what was needed.
        pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4194304"}
        return {**pages, **own_environment(), **counts, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def settle(seed_run: SeedFolder, threads: int | None, device: str | None) -> Settings:
    """Return the settings recorded for a seed, or for a new seed those wanted (default: one thread, cpu).

    A seed that was begun with more threads than there are cores here goes on with all cores. Raises JobError when
    others are asked for than the seed began with, where another device of the same kind will do, and ConfigError for
    more threads than cores.
    """
    recorded = _recorded(seed_run)
    wanted = threads if threads is not None else _threads_from_environment()
    before, begun = recorded.get("device"), _begun(recorded)
    _check(seed_run, "threads", begun, threads)
    _check(seed_run, "device", before and kind_of(before), device and kind_of(device))
    return Settings(begun or refuse_too_many(wanted), device or before or CPU)


def refuse_too_many(threads: int) -> int:
    """Return a number of threads; raises ConfigError for more than there are cores, which would only wait for them."""
    if threads > cores():
        have = number_of(cores(), "core")
        raise ConfigError(f"{quoted(threads)} threads are more than the {have} of this machine: use at most {cores()}.")
    return threads


def _begun(recorded: Mapping[str, Any]) -> int | None:
    """Return the threads that a seed was begun with, as many of them as have a core here."""
    threads = recorded.get("threads")
    return min(threads, cores()) if isinstance(threads, int) and threads > 0 else None


def _recorded(seed_run: SeedFolder) -> dict[str, Any]:
    """Return what a seed was begun with; where that is damaged, as far as its status tells."""
    try:
        return seed_run.environment()
    except StoreError:
        return {"threads": seed_run.status().threads}


def _check(seed_run: SeedFolder, name: str, recorded: object, wanted: object) -> None:
    if None not in (recorded, wanted) and recorded != wanted:
        raise JobError(
            f"Seed {seed_run.seed} of {seed_run.path.parent.name} was begun with {name} = {recorded} and must go on "
            f"with it, because another one changes the last bits: leave --{name} out."
        )


def _threads_from_environment() -> int:
    wanted = os.environ.get(THREADS_VARIABLE, "1")
    if not wanted.isdecimal() or int(wanted) < 1:
        raise ConfigError(f"{THREADS_VARIABLE} is {quoted(wanted)}: set it to a number of compute threads.")
    return int(wanted)
