"""Memory: what workers need, what the machine has, and an error before they start if it does not fit.

Without the check the system would kill them.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.datasets.graph import Sizes
from glt.errors import JobError
from glt.formats import file_size, number_of
from glt.jobs.devices import CPU, CUDA, Wanted, kind_of, listed
from glt.jobs.queue import SLOTS_VARIABLE, slot_count, working
from glt.methods import METHODS
from glt.methods.base import MaskSearch
from glt.models import MODELS
from glt.store import Store, run_name
from glt.training.problem import network_shape
from glt.training.tasks import TASKS

CONTROL_GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
# Files with limit and use, and the line of memory.stat with what is reclaimable: control groups version 2 and 1.
FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
# Bytes of a worker that trains next to nothing: Python, torch and libraries that read graphs.
PROGRAM = 350 * 2**20


def available_bytes() -> int:
    """Return the bytes available to a new process, control groups' limits included."""
    left = [found for folder in _groups() if (found := left_in_group(folder)) is not None]
    return min([psutil.virtual_memory().available, *left])


def free_on_cuda(index: int) -> int:
    """Return the free bytes of a CUDA device; opening it takes some itself."""
    import torch

    return int(torch.cuda.mem_get_info(index)[0])


def left_in_group(folder: Path) -> int | None:
    """Return the bytes left in a control group; None without a limit."""
    for limit, use, reclaimable in FILES:
        with suppress(OSError, ValueError):
            used = int((folder / use).read_text()) - _line(folder / "memory.stat", reclaimable)
            return max(0, int((folder / limit).read_text()) - used)
    return None


def _groups() -> Iterator[Path]:
    """Return the folders of this process's control groups and their parents."""
    with suppress(OSError):
        for line in MEMBERSHIP.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or "memory" in controllers.split(","):
                root = CONTROL_GROUPS / "memory" if controllers else CONTROL_GROUPS
                inner = root / path.lstrip("/")
                yield from (folder for folder in (inner, *inner.parents) if folder == root or root in folder.parents)


def _line(path: Path, name: str) -> int:
    with suppress(OSError):
        for line in path.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0


def needed_bytes(config: RunConfig) -> int:
    """Estimate the peak bytes of a config's worker on the CPU."""
    return PROGRAM + working_bytes(config)


def working_bytes(config: RunConfig) -> int:
    """Estimate the bytes of training on its device, without the program's."""
    spec, task = DATASETS.get(config.dataset), TASKS.get(config.task)
    sizes = spec.sizes if task.trains_on_split and not _reads_all_nodes(config) else replace(spec.sizes, trained=0)
    entries = 2 * task.message_edges(sizes.edges, spec)
    return MODELS.get(config.model).working_bytes(network_shape(config, sizes), sizes, entries)


def _reads_all_nodes(config: RunConfig) -> bool:
    """Return whether the method's loss has a term on the outputs of all nodes."""
    method = METHODS.get(config.method)
    decision = method.edge_decision(config)
    in_search = isinstance(decision, MaskSearch) and decision.reads_all_nodes
    return in_search or method.retraining(config, 1, 1).distillation > 0


def side_by_side_bytes(needs: Iterable[int], slots: int) -> int:
    """Return the bytes of the `slots` largest workers together."""
    return sum(heapq.nlargest(slots, needs))


def check_memory(
    store: Store, configs: Sequence[RunConfig], seeds: Sequence[int], device: Wanted = None, threads: int | None = None
) -> None:
    """Raise JobError if the workers that can begin at once do not fit into available memory.

    Waiting workers, and those on CUDA (asking takes memory), are checked by `check_worker` when they begin.
    """
    needs = [needed_bytes(config) for config in lacking(store, configs, seeds)]
    slots = min(len(needs), slot_count(threads or 1) - working(store.queue_path))
    if slots < 1 or CPU not in (listed(device) or (CPU,)):
        return
    there = available_bytes()
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
    """Return one config per unfinished, idle seed."""
    known = {run.name: run for run in store.runs()}
    return [
        config
        for config, seed in itertools.product(configs, seeds)
        if (run := known.get(run_name(config))) is None
        or (run.seed(seed).whole_rounds() <= config.rounds and not run.seed(seed).is_at_work())
    ]


def check_worker(config: RunConfig, device: str) -> None:
    """Raise JobError if a worker's device has too little memory now."""
    if kind_of(device) == CUDA:
        needed, there = working_bytes(config), free_on_cuda(int(device.partition(":")[2] or 0))
    else:
        needed, there = needed_bytes(config), available_bytes()
    if needed > there:
        raise JobError(_too_large(needed, there, f" on {device}" if kind_of(device) == CUDA else ""))


def check_evaluation(path: Path, config: RunConfig, sizes: Sizes) -> None:
    """Raise JobError if one pass of a ticket file's network needs more memory than available."""
    trained = MODELS.get(config.model).working_bytes(network_shape(config, sizes), sizes, 2 * sizes.edges)
    needed, there = PROGRAM + trained // 2, available_bytes()
    if needed > there:
        raise JobError(
            f"Checking {path} computes its network, which needs about {file_size(needed)} of memory, but only "
            f"{file_size(there)} are available: check it on a larger machine."
        )


def _too_large(needed: int, there: int, where: str = "") -> str:
    return (
        f"This run would need about {file_size(needed)} of memory{where}, but only {file_size(there)} are available: "
        "choose fewer hidden units or layers, or wait until other programs have ended."
    )
