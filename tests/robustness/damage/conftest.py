"""A small store computed by the real engine, each test with a copy of its own: two seeds, and a pre-training."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from glt.lottery.lottery import compute_rounds
from glt.presets import resolve
from glt.pretraining.config import resolve_pretraining
from glt.store import Epoch, SeedRun, Status, Store

SMALL = {"hidden": 4, "rounds": 2, "epochs": 3, "retrain_epochs": 3}
ENVIRONMENT = {"versions": {"python": "3.11", "numpy": "2.4"}, "threads": 1, "device": "cpu", "revision": None}


def compute(seed_run: SeedRun) -> None:
    """Compute what a seed lacks, in this process."""
    with seed_run.lock():
        compute_rounds(seed_run, SimpleNamespace(on_progress=lambda _: None, should_stop=lambda: False))


def make_store(root: Path) -> Store:
    """Compute a run of two seeds and write a pre-training of one."""
    store = Store(root)
    run = store.create(resolve(SMALL, "official"))
    for number in (0, 1):
        seed = run.seed(number)
        compute(seed)
        seed.write_environment(ENVIRONMENT)
        seed.write_status(Status(state="done", seed=number))
        seed.log_path.write_text("a line\n")
    pretraining = store.create_pretraining(resolve_pretraining({"hidden": 4})).seed(0)
    with pretraining.lock():
        for epoch in range(5):
            pretraining.append_epoch(Epoch(epoch=epoch, loss=0.7 - epoch / 100))
        about = {"best_epoch": 4, "epochs": 5, "loss": 0.66, "graph": "a" * 64}
        pretraining.write_first_layer(np.full((1433, 4), 0.25, dtype=np.float32), about)
    pretraining.write_status(Status(state="done", seed=0))
    store.annotate(run.name, {"title": "Small", "note": "of a test"})
    return store


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The undamaged store; it must not be written to."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield make_store(tmp_path_factory.mktemp("whole") / "store").root
    torch.set_num_threads(threads)


@pytest.fixture
def copy(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Store]:
    """Copy the store, each time to a fresh folder."""
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    made = iter(range(10_000))

    def copy() -> Store:
        folder = tmp_path / f"copy {next(made)}"
        shutil.copytree(whole, folder / "store")
        return Store(folder / "store")

    return copy
