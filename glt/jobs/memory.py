"""What memory workers need, and a sentence before they start where there is less: the system would kill them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from glt.config import RunConfig
from glt.data import DATASETS
from glt.data.graph import Sizes
from glt.errors import JobError
from glt.formats import file_size, number_of
from glt.jobs import machine_memory
from glt.jobs.devices import CPU, CUDA, Wanted, kind_of, listed
from glt.jobs.queueing import SLOTS_VARIABLE, slot_count, working
from glt.models import MODELS
from glt.store import Run, Store, run_name
from glt.training.problem import network_shape
from glt.training.tasks import TASKS

# What a worker takes that trains next to nothing: Python, torch and the libraries that read graphs.
PROGRAM = 350 * 2**20


def needed_bytes(config: RunConfig) -> int:
    """Return about what a worker of a config takes at its peak on the CPU."""
    return PROGRAM + working_bytes(config)


def working_bytes(config: RunConfig) -> int:
    """Return about what training takes on its device, the program left out."""
    spec, task = DATASETS.get(config.dataset), TASKS.get(config.task)
    sizes = spec.sizes if task.trains_on_split else replace(spec.sizes, trained=0)
    entries = 2 * task.message_edges(sizes.edges, spec)
    return MODELS.get(config.model).working_bytes(network_shape(config, sizes), sizes, entries)


def side_by_side_bytes(needs: Iterable[int], slots: int) -> int:
    """Return what the workers that are largest take, so many of them at a time.

    >>> side_by_side_bytes([10, 30, 20], 2)
    50
    """
    return sum(heapq.nlargest(slots, needs))


def check_memory(
    store: Store, configs: Sequence[RunConfig], seeds: Sequence[int], device: Wanted = None, threads: int | None = None
) -> None:
    """Raise JobError when the workers of these seeds that can begin at once do not fit into what is available.

    Who must wait for a slot looks again when it begins. So does a worker on a CUDA device, and nobody else: to ask for
    its memory takes some of it.
    """
    needs = [needed_bytes(config) for config in lacking(store, configs, seeds)]
    slots = min(len(needs), slot_count(threads or 1) - working(store.queue_path))
    if slots < 1 or CPU not in (listed(device) or (CPU,)):
        return
    there = machine_memory.available_bytes()
    if max(needs) > there:
        raise JobError(_too_large(max(needs), there))
    together = side_by_side_bytes(needs, slots)
    if together > there:
        fitting = max(count for count in range(1, slots) if side_by_side_bytes(needs, count) <= there)
        raise JobError(
            f"{number_of(slots, 'worker')} side by side would need about {file_size(together)} of memory, but only "
            f"{file_size(there)} are available: set {SLOTS_VARIABLE}={fitting} to compute fewer seeds side by side, or "
            "choose fewer hidden units or layers."
        )


def lacking(store: Store, configs: Sequence[RunConfig], seeds: Sequence[int]) -> list[RunConfig]:
    """Return a config for every seed that lacks rounds and that nobody is at."""
    known = {run.name: run for run in store.runs()}
    return [config for config in configs for seed in seeds if _is_lacking(known.get(run_name(config)), config, seed)]


def _is_lacking(run: Run | None, config: RunConfig, seed: int) -> bool:
    return run is None or (run.seed(seed).whole_rounds() <= config.rounds and not run.seed(seed).is_at_work())


def check_worker(config: RunConfig, device: str) -> None:
    """Raise JobError when the device a worker was given has too little memory for it at this moment."""
    if kind_of(device) == CUDA:
        needed, there = working_bytes(config), machine_memory.free_on_cuda(int(device.partition(":")[2] or 0))
    else:
        needed, there = needed_bytes(config), machine_memory.available_bytes()
    if needed > there:
        raise JobError(_too_large(needed, there, f" on {device}" if kind_of(device) == CUDA else ""))


def check_evaluation(path: Path, config: RunConfig, sizes: Sizes) -> None:
    """Raise JobError when to compute the network of a file once, which keeps no gradients, needs more than there is."""
    trained = MODELS.get(config.model).working_bytes(network_shape(config, sizes), sizes, 2 * sizes.edges)
    needed, there = PROGRAM + trained // 2, machine_memory.available_bytes()
    if needed > there:
        raise JobError(
            f"To check {path} its network would be computed, which needs about {file_size(needed)} of memory, but only "
            f"{file_size(there)} are available: check it on a larger machine."
        )


def _too_large(needed: int, there: int, where: str = "") -> str:
    return (
        f"This run would need about {file_size(needed)} of memory{where}, but only {file_size(there)} are available: "
        "choose fewer hidden units or layers, or wait until other programs have ended."
    )
