"""A small run made by hand: three rounds of nested masks over 12 edges and two tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import Event, RoundRecord, Run, SeedRun, Store

SHAPES = {"first": (7, 3), "second": (3, 2)}
ROUNDS = 3


def record(number: int) -> RoundRecord:
    scores = {"val": 0.7, "test": 0.6 + 0.01 * number, "test_last": 0.59, "best_epoch": 4, "seconds": 1.5}
    macs = {"dense_features": 10, "sparse_features": 5, "published": 9}
    return RoundRecord.of(number, masks_of(number), **scores, macs=macs)


def events(number: int) -> list[Event]:
    return [
        Event(round=number, stage="retrain", epoch=epoch, loss=1.0 / (epoch + 1), val=0.5, test=0.4)
        for epoch in range(25)
    ]


def scores_of(number: int) -> NDArray[np.float32]:
    return np.random.default_rng(number).random(24).astype(np.float32)


def weights_of(number: int) -> dict[str, NDArray[np.float32]]:
    generator = np.random.default_rng(100 + number)
    values = {name: generator.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
    return {**values, "eps": np.float32(0.25).reshape(())}


def masks_of(number: int) -> Masks:
    masks = Masks(EdgeMask.full("directed", 12), WeightMask.full(SHAPES))
    for k in range(1, number + 1):
        survivors = scores_of(k)[: masks.edges.kept]
        masks = Masks(masks.edges.prune(survivors, 0.1), masks.weights.prune(weights_of(k), 0.2))
    return masks


def write_round(seed_run: SeedRun, number: int) -> None:
    for event in events(number):
        seed_run.append_event(event)
    scores = scores_of(number)[: masks_of(number - 1).edges.kept] if number else None
    seed_run.write_round(record(number), masks_of(number), weights_of(number), scores)


def fill(run: Run, seed: int, rounds: int = ROUNDS) -> SeedRun:
    seed_run = run.seed(seed)
    with seed_run.lock():
        seed_run.write_init(weights_of(99))
        seed_run.write_environment({"versions": {"numpy": "1"}, "threads": 2, "cwd": "/home/somebody"})
        for number in range(rounds + 1):
            write_round(seed_run, number)
    return seed_run


@pytest.fixture
def config() -> RunConfig:
    return RunConfig(rounds=ROUNDS)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def run(store: Store, config: RunConfig) -> Run:
    return store.create(config)


@pytest.fixture
def seed_run(run: Run) -> SeedRun:
    return fill(run, 0)


@pytest.fixture
def filled() -> Callable[..., SeedRun]:
    return fill


@pytest.fixture
def one_round() -> Callable[[SeedRun, int], None]:
    return write_round
