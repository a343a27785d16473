"""Random tickets: another run's masks seed by seed, and weights of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glt.config import RunConfig
from glt.errors import ConfigError, StoreError
from glt.jobs import resume, start
from glt.lottery.lottery import find_tickets
from glt.presets import resolve
from glt.store import Progress, Run, Status, Store

SMALL = {"hidden": 8, "epochs": 2, "retrain_epochs": 2, "rounds": 2}


class Nobody:
    """An observer that wants nothing."""

    def on_progress(self, progress: Progress) -> None:
        """Take no note."""

    def should_stop(self) -> bool:
        return False


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def computed(store: Store, config: RunConfig, seeds: tuple[int, ...] = (0, 1)) -> Run:
    run = store.create(config)
    for seed in seeds:
        with run.seed(seed).lock():
            find_tickets(run.seed(seed), Nobody())
    return run


@pytest.fixture
def source(store: Store) -> Run:
    return computed(store, resolve(SMALL))


def again(source: Run, **settings: object) -> RunConfig:
    return resolve({**SMALL, "method": "reinit", "masks_of": source.name, **settings})


def test_masks_are_those_of_the_same_seed_and_round(store: Store, source: Run) -> None:
    run = computed(store, again(source))
    for seed in (0, 1):
        for number in range(3):
            ours, theirs = run.seed(seed).masks(number), source.seed(seed).masks(number)
            assert np.array_equal(ours.edges.keep, theirs.edges.keep)
            for name, keep in theirs.weights.keep.items():
                assert np.array_equal(ours.weights.keep[name], keep)


def test_every_draw_starts_elsewhere_and_the_same_draw_at_the_same_place(store: Store, source: Run) -> None:
    starts = [source, *(computed(store, again(source, draw=draw), (0,)) for draw in (0, 1))]
    weights = [run.seed(0).theta0()["layers.0.weight"] for run in starts]
    assert not any(np.array_equal(one, other) for one, other in [(weights[0], weights[1]), (weights[1], weights[2])])
    elsewhere = Store(store.root.parent / "other")
    elsewhere.root.mkdir()
    source.path.rename(elsewhere.root / source.name)
    repeated = computed(elsewhere, again(source, draw=1), (0,))
    assert np.array_equal(repeated.seed(0).theta0()["layers.0.weight"], weights[2])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"masks_of": ""}, "need the run whose masks they take"),
        ({"hidden": 9}, "hidden is 9 here and 8 in"),
        ({"rounds": 3}, "only 2 of the 3 rounds"),
        ({"edge_mask": "undirected"}, "edge_mask is 'undirected' here"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_starts(
    store: Store, source: Run, settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        start(store, again(source, **settings), [0])
    assert [run.name for run in store.runs()] == [source.name]


def test_options_that_a_config_leaves_out_are_compared_too(store: Store) -> None:
    source = computed(store, resolve({**SMALL, "model": "gin", "gin_last_relu": True}), (0,))
    with pytest.raises(ConfigError, match="gin_last_relu is False here and True in"):
        start(store, again(source, model="gin"), [0])


def test_a_seed_the_other_run_lacks_and_a_run_that_is_not_there(store: Store, source: Run) -> None:
    with pytest.raises(ConfigError, match=r"Seed 7 of .* has no round"):
        start(store, again(source), [0, 7])
    with pytest.raises(StoreError, match="No run 'elsewhere'"):
        start(store, again(source, masks_of="elsewhere"), [0])


def test_going_on_without_the_other_run_is_refused_before_a_worker_starts(store: Store, source: Run) -> None:
    run = store.create(again(source))
    run.seed(0).make()
    run.seed(0).write_status(Status(state="stopped", seed=0))
    source.path.rename(store.root.parent / "elsewhere")
    with pytest.raises(StoreError, match=f"No run '{source.name}'"):
        resume(store, run)
    assert run.seed(0).status().state == "stopped"
