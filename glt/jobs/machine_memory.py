"""How much memory there is: of the machine, of the control group this process is held to, of a CUDA device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

CONTROL_GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
# Files with limit and use, and the line of memory.stat with what of it is given back on demand: versions 2 and 1.
FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def available_bytes() -> int:
    """Return what a new process can take: what the machine has available, or less where a control group says so."""
    left = [found for folder in _groups() if (found := left_in_group(folder)) is not None]
    return min([psutil.virtual_memory().available, *left])


def free_on_cuda(index: int) -> int:
    """Return what is free on a CUDA device; opens it, which itself takes memory there."""
    import torch

    return int(torch.cuda.mem_get_info(index)[0])


def left_in_group(folder: Path) -> int | None:
    """Return the bytes left in a control group, None where it has no limit."""
    for limit, use, reclaimable in FILES:
        with suppress(OSError, ValueError):
            used = int((folder / use).read_text()) - _line(folder / "memory.stat", reclaimable)
            return max(0, int((folder / limit).read_text()) - used)
    return None


def _groups() -> Iterator[Path]:
    """Return the folders of the groups this process is in, and those around them."""
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
