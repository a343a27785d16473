"""What starting runs will cost, against what it did cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.datasets.graph import Sizes
from glt.jobs.estimate import WORKER_START, Growth, epochs_of, forecast, pace, side_by_side
from glt.jobs.memory import needed_bytes
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS, NetworkShape
from glt.store import Event, RoundRecord, Run, Store
from glt.store.paths import EXAMPLE_MARK

SMALL = RunConfig(hidden=8, rounds=3, epochs=20, retrain_epochs=10)


@pytest.fixture
def two_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "2")


def write_run(store: Store, config: RunConfig, seconds: float = 3.0, rounds: int = 3) -> Run:
    """Write one seed of a run with the real sizes of Cora and its network."""
    run = store.create(config)
    seed_run = run.seed(0)
    seed_run.make()
    spec = DATASETS.get(config.dataset)
    shape = NetworkShape(spec.features, config.hidden, spec.classes, config.layers)
    shapes = MODELS.get(config.model).prunable_shapes(shape)
    generator = np.random.default_rng(0)
    edges, weights = EdgeMask.full(config.edge_mask, spec.edges), WeightMask.full(shapes)
    tensors = {name: np.ones(size, dtype=np.float32) for name, size in shapes.items()}
    seed_run.write_init(tensors)
    for number in range(rounds + 1):
        scores = generator.random(edges.kept).astype(np.float32) if number else None
        if scores is not None:
            edges = edges.prune(scores, config.p_graph)
            weights = weights.prune({name: generator.random(size) for name, size in shapes.items()}, config.p_weight)
        for epoch in range(epochs_of(config, number)):
            event = Event(round=number, stage="retrain", epoch=epoch, loss=1.23456789, val=0.78, test=0.8)
            seed_run.append_event(event)
        masks = Masks(edges, weights)
        record = RoundRecord.of(
            number,
            masks,
            val=0.7,
            test=0.8,
            test_last=0.8,
            best_epoch=3,
            seconds=seconds,
            macs={"dense_features": 1, "sparse_features": 1, "published": 1},
        )
        seed_run.write_round(record, masks, tensors, scores)
    return run


def test_the_disk_that_will_be_filled_is_the_disk_that_is(tmp_path: Path) -> None:
    run = write_run(Store(tmp_path), SMALL)
    expected = Growth(SMALL).of_rounds(range(4))
    assert run.size_bytes() == pytest.approx(expected, rel=0.05)


def test_only_missing_rounds_cost(tmp_path: Path, two_slots: None) -> None:
    store = Store(tmp_path)
    run = write_run(store, SMALL, rounds=1)
    cost = forecast(store, [SMALL], [0, 5], store.runs())
    # Round 0 has 10 epochs, every other 30: two rounds are missing of seed 0, all four of seed 5.
    assert cost.epochs == 60 + 100
    assert cost.workers == cost.cores == 2
    # Round 1 took 3 s for 30 epochs (round 0 pays for the start); the two seeds run side by side in new processes.
    assert cost.seconds == pytest.approx(WORKER_START + 100 * 3 / 30)
    assert "UGS on Cora with GCN-8, as timed in this store" in cost.basis
    assert run.seed(0).whole_rounds() == 2


def test_time_is_unknown_when_nothing_was_timed(tmp_path: Path) -> None:
    cost = forecast(Store(tmp_path), [SMALL], [0], [])
    assert cost.seconds is None
    assert cost.basis == "no run was timed yet"


def test_the_most_alike_run_tells_the_pace(tmp_path: Path) -> None:
    store = Store(tmp_path)
    other_method = write_run(store, SMALL.model_copy(update={"method": "random"}), seconds=1.0)
    larger = write_run(store, SMALL.model_copy(update={"hidden": 16}), seconds=4.0)
    same = pace(SMALL, [larger, other_method])
    scaled = pace(SMALL, [larger])
    assert same is not None
    assert same.run == "Random pruning on Cora with GCN-8"
    assert scaled is not None
    assert scaled.seconds == pytest.approx((8 + 46) / (16 + 46) * 4.0 / 30)
    assert "only a rough guess" in scaled.timed


def test_an_examples_time_says_that_another_machine_may_have_taken_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = write_run(store, SMALL)
    (run.path / EXAMPLE_MARK).touch()
    found = pace(SMALL, store.runs())
    assert found is not None
    assert "perhaps on another machine" in found.timed


def test_workers_wait_for_a_free_core() -> None:
    assert side_by_side([], 2) == 0
    assert side_by_side([3, 1, 1], 2) == 3
    assert side_by_side([1, 1, 3], 2) == 4


def test_a_large_graph_keeps_a_byte_of_each_score_and_counts_the_files_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, config = Store(tmp_path), RunConfig(hidden=8, epochs=1, retrain_epochs=1)
    before = Growth(config).of_rounds([1]), needed_bytes(config)
    large = replace(DATASETS.get("cora"), counted=lambda: Sizes(169_343, 1_157_799, 128, 40))
    monkeypatch.setattr(DATASETS, "get", lambda name: large)
    # A bit of every entry of the mask, and a byte of each of all its scores.
    assert Growth(config).of_rounds([1]) == pytest.approx(2 * 1_157_799 * (1 + 1 / 8), rel=0.02)
    assert Growth(config).of_rounds([1]) < 3_000_000 < 100 * before[0]
    undirected = config.model_copy(update={"edge_mask": "undirected"})
    assert Growth(undirected).of_rounds([1]) < Growth(config).of_rounds([1]) / 1.9
    assert needed_bytes(config) > before[1] + 200 * 2**20
    assert forecast(store, [config], [0], []).memory_bytes == needed_bytes(config)
