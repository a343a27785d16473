"""A pre-training in the store: complete with its first layer, and distinct from runs with rounds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from glt.config import RunConfig
from glt.errors import StoreError
from glt.pretraining.config import PretrainConfig, resolve_pretraining
from glt.store import Epoch, Pretraining, PretrainingSeed, Run, Status, Store, run_name

CONFIG = PretrainConfig(hidden=4)
WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)
ABOUT = {"best_epoch": 1, "epochs": 3, "loss": 0.5, "graph": "a" * 64}


def fill_seed(seed: PretrainingSeed, done: bool = True) -> PretrainingSeed:
    seed.make()
    for epoch, loss in enumerate((0.7, 0.5, 0.6)):
        seed.append_epoch(Epoch(epoch=epoch, loss=loss))
    if done:
        seed.write_first_layer(WEIGHT, ABOUT)
    seed.write_status(Status(state="done" if done else "stopped", seed=seed.seed))
    return seed


@pytest.fixture
def pretraining(store: Store) -> Pretraining:
    run = store.create_pretraining(CONFIG)
    fill_seed(run.seed(0))
    return run


def test_names_open_runs_and_pretrainings(store: Store, pretraining: Pretraining) -> None:
    run = store.create(RunConfig())
    assert [run.name for run in store.runs()] == [run_name(RunConfig())]
    assert [run.name for run in store.pretrainings()] == [pretraining.name]
    assert len(store.contents().every) == 2
    assert store.damaged() == []
    assert isinstance(store.find_any(pretraining.name), Pretraining)
    assert isinstance(store.find_any(run.name), Run)
    assert store.find_pretraining(pretraining.name).config == CONFIG
    with pytest.raises(StoreError, match="is a pre-training run, which has no rounds"):
        store.find(pretraining.name)
    with pytest.raises(StoreError, match="is not a pre-training run"):
        store.find_pretraining(run.name)


def test_a_pretraining_round_trips_and_is_kept(pretraining: Pretraining) -> None:
    seed = pretraining.existing_seed()
    assert seed.drop_unfinished() == 1
    layer = seed.first_layer()
    np.testing.assert_array_equal(layer.weight, WEIGHT)
    assert (layer.best_epoch, layer.epochs, layer.loss, layer.graph_hash) == (1, 3, 0.5, "a" * 64)
    assert [epoch.loss for epoch in seed.epochs()[0]] == [0.7, 0.5, 0.6]
    assert seed.is_complete()
    assert seed.is_sound()
    assert pretraining.finished() == [0]
    other = pretraining.seed(1)
    other.make()
    other.write_first_layer(WEIGHT, {**ABOUT, "epochs": 9})
    assert other.first_layer().sha256 == layer.sha256, "the checksum is that of the weight alone"


def test_unfinished_damaged_and_lost_pretrainings_restart(store: Store, pretraining: Pretraining) -> None:
    unfinished = fill_seed(pretraining.seed(1), done=False)
    assert not unfinished.is_complete()
    assert unfinished.drop_unfinished() == 0
    assert unfinished.epochs()[0] == []
    seed = pretraining.seed(0)
    assert seed.status().state == "done"
    path = seed.path / "pretrained.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    assert not seed.is_sound()
    with pytest.raises(StoreError, match=r"pretrained.safetensors is damaged"):
        seed.first_layer()
    assert seed.drop_unfinished() == 0
    assert not path.exists()
    assert seed.status().state == "stopped"
    store.move_to_trash(pretraining.path)
    assert store.contents().every == []


def test_a_changed_config_is_detected(store: Store, pretraining: Pretraining) -> None:
    path = pretraining.path / "config.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "config": {**document["config"], "share": 0.5}}))
    assert store.pretrainings() == []
    assert "does not match its config.json" in store.damaged()[0][1]
    path.write_text(json.dumps({**document, "kind": "distillation"}))
    assert "a kind of run that this version does not know ('distillation')" in store.damaged()[0][1]


def test_every_setting_changes_the_name() -> None:
    others = {
        **{"dataset": "citeseer", "task": "link", "augmentation": "nodes", "share": 0.1, "hidden": 8},
        **{"learning_rate": 0.1, "epochs": 5, "patience": 3, "split_seed": 1},
    }
    assert set(others) == set(PretrainConfig.model_fields)
    names = {run_name(PretrainConfig(**{name: value})) for name, value in others.items()}
    assert len(names | {run_name(PretrainConfig())}) == len(others) + 1
    assert resolve_pretraining({"task": "link"}).split_seed == 0
    assert resolve_pretraining({}).split_seed is None
