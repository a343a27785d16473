"""Runs that start from a pre-training: what theta_0 is, which seed, and what is refused before anything starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glt.datasets import load_graph
from glt.errors import ConfigError, DataError, JobError
from glt.jobs import start
from glt.jobs.devices import Settings
from glt.jobs.environment import record_environment
from glt.lottery.initial_weights import check_start, source_of, starts_of
from glt.lottery.lottery import find_tickets
from glt.presets import resolve
from glt.pretraining.config import FIRST_LAYER, first_layer_width, resolve_pretraining
from glt.store import Pretraining, SeedRun, Store, run_name
from glt.training.problem import Problem

TINY = {"hidden": 4, "rounds": 1, "epochs": 2, "retrain_epochs": 2}


class Quiet:
    def on_progress(self, progress: object) -> None: ...

    def should_stop(self) -> bool:
        return False


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def pretrained(store: Store, seeds: tuple[int, ...] = (0,), **settings: Any) -> Pretraining:
    """Write a pre-training whose first layers are drawn, not trained."""
    config = resolve_pretraining({"hidden": 4, **settings})
    run = store.create_pretraining(config)
    from glt.training.tasks import message_graph

    graph = message_graph(config.graph_config())
    for seed in seeds:
        weight = np.random.default_rng(seed).normal(size=(graph.num_features, config.hidden)).astype(np.float32)
        run.seed(seed).make()
        about = {"best_epoch": 0, "epochs": 1, "loss": 0.1, "graph": graph.content_hash}
        run.seed(seed).write_first_layer(weight, about)
    return run


def seed_from(store: Store, pretraining: Pretraining, seed: int, **settings: Any) -> SeedRun:
    seed_run = store.create(resolve({**TINY, "pretraining": pretraining.name, **settings})).seed(seed)
    seed_run.make()
    return seed_run


def test_theta0_is_the_pretrained_first_layer_and_the_seeds_own_rest(store: Store) -> None:
    pretraining = pretrained(store, (0, 3))
    seed_run = seed_from(store, pretraining, 3)
    find_tickets(seed_run, Quiet())
    theta0 = seed_run.theta0()
    own = Problem(seed_run.config, load_graph("cora")).initial_weights(3)
    np.testing.assert_array_equal(theta0[FIRST_LAYER], pretraining.seed(3).first_layer().weight)
    assert not np.array_equal(theta0[FIRST_LAYER], own[FIRST_LAYER])
    assert set(theta0) == set(own)
    for name in set(own) - {FIRST_LAYER}:
        np.testing.assert_array_equal(theta0[name], own[name])
    assert len(seed_run.rounds()) == 2


@pytest.mark.parametrize(("model", "settings"), [("gin", {}), ("gat", {"gat_heads": 2, "hidden": 2})])
def test_other_networks_take_it_where_the_width_fits(store: Store, model: str, settings: dict[str, Any]) -> None:
    pretraining = pretrained(store)
    seed_run = seed_from(store, pretraining, 0, model=model, **settings)
    assert first_layer_width(seed_run.config) == 4
    find_tickets(seed_run, Quiet())
    np.testing.assert_array_equal(seed_run.theta0()[FIRST_LAYER], pretraining.seed(0).first_layer().weight)


def test_the_name_of_a_run_changes_only_when_it_starts_from_one() -> None:
    assert "pretraining" not in resolve({}).options
    assert run_name(resolve({})) != run_name(resolve({"pretraining": "cora-node-gcn-graphcl-00000000"}))


def test_a_seed_takes_its_own_pretraining_else_the_first(store: Store) -> None:
    pretraining = pretrained(store, (1, 4))
    config = resolve({**TINY, "pretraining": pretraining.name})
    assert check_start(store, config, [0, 1, 4, 7]) == {0: 1, 1: 1, 4: 4, 7: 1}
    assert check_start(store, resolve(TINY), [0]) == {}


def test_a_begun_seed_stays_with_the_one_it_recorded(store: Store) -> None:
    pretraining = pretrained(store, (1,))
    seed_run = seed_from(store, pretraining, 0)
    source = source_of(seed_run)
    assert source is not None
    record_environment(seed_run, Settings(), "a" * 64, source)
    pretrained(store, (0, 1))
    again = source_of(seed_run)
    assert again is not None
    assert again.record() == source.record() == seed_run.environment()["pretraining"]
    assert starts_of(store.find(seed_run.path.parent.name), [0]) == {0: 1}
    record_environment(seed_run, Settings(), "a" * 64, again)


def test_a_changed_pretraining_is_refused_on_resume(store: Store) -> None:
    pretraining = pretrained(store)
    seed_run = seed_from(store, pretraining, 0)
    record_environment(seed_run, Settings(), "a" * 64, source_of(seed_run))
    layer = pretraining.seed(0).first_layer()
    about = {"best_epoch": 0, "epochs": 1, "loss": 0.1, "graph": layer.graph_hash}
    pretraining.seed(0).write_first_layer(layer.weight + 1, about)
    with pytest.raises(JobError, match=r"is not what seed 0 of .* began with \(content \w{8}, then \w{8}\)"):
        record_environment(seed_run, Settings(), "a" * 64, source_of(seed_run))


@pytest.mark.parametrize(
    ("pretraining", "run", "sentence"),
    [
        (
            {"dataset": "citeseer"},
            {},
            "was pre-trained on citeseer, the run is on cora: make one with `python",
        ),
        ({"hidden": 8}, {}, "is 8 wide, the first layer of gcn with hidden = 4 is 4: make one with"),
        ({}, {"model": "gat"}, "is 4 wide, the first layer of gat with hidden = 4 is 32: .*--hidden 32"),
        ({}, {"model": "resgcn"}, "resgcn has a map of its own before its first layer, so it cannot start from"),
        ({"task": "link"}, {}, "was pre-trained for task 'link', whose edges are not those of task 'node'"),
        ({}, {"task": "link"}, "was pre-trained for task 'node', whose edges are not those of task 'link'"),
        (
            {"task": "link", "split_seed": 1},
            {"task": "link"},
            r"has seen edges that the run holds out \(split_seed 1, here 0\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_starts(
    store: Store, pretraining: dict[str, Any], run: dict[str, Any], sentence: str
) -> None:
    name = pretrained(store, **pretraining).name
    config = resolve({**TINY, **run, "pretraining": name})
    with pytest.raises(ConfigError, match=sentence):
        start(store, config, [0])
    assert store.runs() == []


def test_an_unknown_unfinished_or_wrong_one_is_refused(store: Store) -> None:
    name = store.create_pretraining(resolve_pretraining({"hidden": 4})).name
    other = store.create(resolve(TINY)).name
    cases = {
        name: f"{name} is not finished: go on with",
        name[:-1]: f"pretraining cannot be '{name[:-1]}': No run '{name[:-1]}' .* did you mean {name}",
        other: "is not a pre-training run",
        str(store.root / name): "pretraining cannot be the path",
    }
    for given, sentence in cases.items():
        with pytest.raises(ConfigError, match=sentence):
            start(store, resolve({**TINY, "pretraining": given}), [0])


def test_another_graph_is_noticed_when_it_starts(store: Store) -> None:
    pretraining = pretrained(store)
    seed = pretraining.seed(0)
    weight = seed.first_layer().weight
    seed.write_first_layer(weight, {"best_epoch": 0, "epochs": 1, "loss": 0.1, "graph": "b" * 64})
    with pytest.raises(DataError, match="pre-trained on another graph"):
        find_tickets(seed_from(store, pretraining, 0), Quiet())


def test_no_edge_that_links_are_scored_on_is_seen(store: Store) -> None:
    from glt.datasets.link_split import split_links
    from glt.training.tasks import message_graph

    graph = load_graph("cora")
    config = resolve_pretraining({"task": "link", "split_seed": 2})
    seen = {tuple(edge) for edge in message_graph(config.graph_config()).edges.T.tolist()}
    split = split_links(graph, 2)
    held_out = {tuple(sorted(edge)) for edge in np.concatenate([split.val, split.test], axis=1).T.tolist()}
    assert held_out
    assert not seen & held_out
    assert len(seen) + len(held_out) == graph.num_edges


def test_the_config_document_is_plain(store: Store) -> None:
    run = pretrained(store)
    document = json.loads((run.path / "config.json").read_text())
    assert document["kind"] == "pre-training"
    assert document["config"]["augmentation"] == "edges"
