"""The name of a run changes with what shapes its rounds, and with nothing else."""

from __future__ import annotations

import re

import pytest

from glt.config import CORE_FIELDS, RunConfig
from glt.errors import ConfigError
from glt.methods import METHODS
from glt.store import run_name
from glt.store.run_names import fingerprint

OTHERS = {
    "edge_mask": "undirected",
    "degree": "both",
    "hidden": 64,
    "layers": 3,
    "epochs": 7,
    "retrain_epochs": 7,
    "learning_rate": 0.5,
    "weight_decay": 0.5,
    "gamma_graph": 0.5,
    "gamma_weight": 0.5,
    "p_graph": 0.5,
    "p_weight": 0.5,
    "dropout": 0.1,
    "dataset": "citeseer",
    "task": "link",
    "model": "gin",
    "method": "random",
}


def test_the_name_says_what_the_run_is_about() -> None:
    assert re.fullmatch(r"cora-node-gcn-ugs-[0-9a-f]{8}", run_name(RunConfig()))


def test_more_rounds_are_the_same_run() -> None:
    assert run_name(RunConfig(rounds=30)) == run_name(RunConfig(rounds=20))


@pytest.mark.parametrize("method", METHODS.names())
def test_settings_a_method_ignores_are_the_same_run(method: str) -> None:
    plain = fingerprint(RunConfig(method=method))
    for name in METHODS.get(method).ignores:
        assert fingerprint(RunConfig(method=method, **{name: OTHERS[name]})) == plain, name


@pytest.mark.parametrize("name", sorted(set(CORE_FIELDS) - {"rounds"}))
def test_every_other_setting_is_another_run(name: str) -> None:
    assert fingerprint(RunConfig(**{name: OTHERS[name]})) != fingerprint(RunConfig())


def test_options_are_part_of_a_run() -> None:
    assert fingerprint(RunConfig(options={"a": 1})) != fingerprint(RunConfig(options={"a": 2}))


@pytest.mark.parametrize("dataset", ["../up", "a/b", ".hidden", "a b", ""])
def test_a_name_is_never_a_path(dataset: str) -> None:
    with pytest.raises(ConfigError, match="cannot be part of a run's name"):
        run_name(RunConfig(dataset=dataset))
