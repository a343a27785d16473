"""RunConfig: equal configs give equal bytes, and a bad value is named in one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glt.config import CORE_FIELDS, RunConfig, canonical_json, make_config
from glt.errors import ConfigError
from glt.presets import resolve

# The names scripts rely on (`--set name=value`, `show --json`).
PROMISED = (
    "dataset task model method edge_mask hidden layers rounds epochs retrain_epochs learning_rate weight_decay "
    "gamma_graph gamma_weight p_graph p_weight dropout"
).split()


def test_promised_names_exist() -> None:
    assert set(PROMISED) <= set(CORE_FIELDS)


def test_canonical_json_does_not_depend_on_the_order_of_values() -> None:
    one = make_config({"dataset": "cora", "hidden": 16, "options": {"b": 1, "a": 2.5}})
    other = make_config({"options": {"a": 2.5, "b": 1}, "hidden": 16, "dataset": "cora"})
    assert one.canonical_json() == other.canonical_json()
    assert one.canonical_json() != make_config({"hidden": 17}).canonical_json()


@given(p=st.floats(0, 1, exclude_min=True, exclude_max=True), rounds=st.integers(1, 1000))
def test_a_config_survives_its_json(p: float, rounds: int) -> None:
    config = make_config({"p_graph": p, "rounds": rounds, "options": {"rho": 1e-3, "cap": 10, "warm": True}})
    assert make_config(json.loads(config.canonical_json())) == config


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"p_graph": 0}, "p_graph"),
        ({"p_weight": 1.0}, "p_weight"),
        ({"p_weight": float("nan")}, "p_weight"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 2.5}, "rounds"),
        ({"epochs": "many"}, "epochs"),
        ({"learning_rate": float("inf")}, "learning_rate"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"weight_decay": -1}, "weight_decay"),
        ({"dropout": 1}, "dropout"),
        ({"layers": 1}, "layers"),
        ({"edge_mask": "both"}, "edge_mask"),
        ({"degree": "mine"}, "degree"),
    ],
)
def test_a_bad_value_is_named_in_one_sentence(values: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_config(values)
    message = str(caught.value)
    assert message.startswith(f"{field} cannot be ")
    assert message.endswith(".")
    assert "\n" not in message


def test_every_bad_value_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        resolve({"hidden": "wide", "rounds": 0, "roundz": 3, "mask_noise": "loud"})
    assert [fault.split(" cannot")[0].split(":")[0] for fault in caught.value.faults] == [
        "hidden",
        "rounds",
        "Unknown setting 'roundz'",
        "mask_noise",
    ]
    message = str(caught.value)
    assert message.startswith("4 settings cannot be used: hidden cannot be 'wide': ")
    assert "\n" not in message


def test_an_unknown_network_is_named_beside_a_bad_value() -> None:
    with pytest.raises(ConfigError, match=r"2 settings cannot be used: rounds cannot be 0: .*; Unknown model 'gnc'"):
        resolve({"model": "gnc", "rounds": 0})


def test_an_unknown_setting_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Unknown setting 'p_grap': did you mean 'p_graph'"):
        make_config({"p_grap": 0.1})


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        RunConfig().rounds = 3  # type: ignore[misc]


def test_canonical_json_refuses_what_json_has_no_word_for() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"loss": float("nan")})


@pytest.mark.parametrize(
    ("name", "most"), [("rounds", 1_000), ("epochs", 1_000_000), ("retrain_epochs", 1_000_000), ("hidden", 65_536)]
)
def test_sizes_beyond_reason_are_refused_before_anything_starts(name: str, most: int) -> None:
    assert getattr(make_config({name: most}), name) == most
    with pytest.raises(ConfigError, match=f"{name} cannot be {most + 1}: input should be less than or equal to {most}"):
        make_config({name: most + 1})


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rounds": "abc"}, "rounds cannot be 'abc': a whole number belongs here."),
        ({"rounds": 1.5}, "rounds cannot be 1.5: a whole number belongs here."),
        ({"p_graph": "much"}, "p_graph cannot be 'much': a number belongs here."),
    ],
)
def test_what_belongs_in_a_setting_is_said_in_plain_words(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        make_config(values)
    assert str(raised.value) == sentence
