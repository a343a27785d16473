"""Small real runs that break off at a report, and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glt.lottery.lottery import find_tickets
from glt.presets import resolve
from glt.store import SeedRun, Store
from glt.store.tensors import read_tensors, write_tensors

CHECKPOINT = "checkpoint.safetensors"
OPTIONS: dict[str, dict[str, Any]] = {
    "admm": {"admm_iterations": 3, "admm_steps": 2},
    "link": {"task": "link", "gic_clusters": 8, "dropout": 0.5},
    "gin": {"model": "gin"},
    "gat": {"model": "gat", "hidden": 4},
    "undirected": {"edge_mask": "undirected"},
    "one run": {"schedule": "one_run"},
    "deep": {"model": "resgcn", "layers": 4, "hidden": 8, "batch_clusters": 3},
    "fresh": {"model": "resgcn", "layers": 3, "hidden": 8, "batch_clusters": 2, "cluster_masks": "fresh"},
    "last": {"masks_from": "last", "mask_noise": 0.0},
}


class Cut(Exception):
    """Stands for a kill: nothing gets a chance to be written."""


class Killer:
    """An observer at which the computation breaks off after so many reports, and which counts them."""

    def __init__(self, at: int | None = None) -> None:
        self.reports: list[Any] = []
        self._at = at

    def on_progress(self, progress: Any) -> None:
        self.reports.append(progress)
        if len(self.reports) == self._at:
            raise Cut

    def should_stop(self) -> bool:
        return False


def computed(store: Path, method: str, kind: str, observer: Killer) -> SeedRun:
    """Compute a run of two rounds, or what is left of it."""
    small = {"hidden": 16, "epochs": 6, "retrain_epochs": 6, "rounds": 1}
    config = resolve({**small, **OPTIONS.get(kind, {}), "method": method})
    seed_run = Store(store).create(config).seed(0)
    with seed_run.lock():
        find_tickets(seed_run, observer)
    return seed_run


def cut(store: Path, method: str, kind: str, at: int) -> SeedRun:
    """Compute until the report of a number and return what stands in the store then."""
    with pytest.raises(Cut):
        computed(store, method, kind, Killer(at))
    return Store(store).runs()[0].seed(0)


def change(seed_run: SeedRun, how: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Rewrite a checkpoint with other content and a checksum that fits it."""
    path = seed_run.path / CHECKPOINT
    arrays, about = read_tensors(path, "try again")
    how(arrays, about)
    write_tensors(path, arrays, about)
