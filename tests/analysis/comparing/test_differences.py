"""In what two runs differ: their settings, what one of them does not use, and what they were computed with."""

from __future__ import annotations

from collections.abc import Callable

from analysis.compare import environment_differences, setting_differences
from glt.config import RunConfig
from glt.store import Run

MakeRun = Callable[..., Run]


def test_settings_that_differ_say_which_is_the_default() -> None:
    one = RunConfig(hidden=64, rounds=5, options={"masks_from": "last"})
    found = setting_differences(one, RunConfig(p_graph=0.1))
    rows = {row.setting: (row.one_words, row.other_words) for row in found.rows}
    assert rows == {
        "hidden": ("64", "512 (default)"),
        "p_graph": ("5 % (default)", "10 %"),
        "masks_from": ("last", "best_validation (default)"),
        "rounds": ("5", "20 (default)"),
    }
    assert (found.only_one, found.only_other) == ({}, {})


def test_what_a_method_ignores_is_used_by_the_other_only() -> None:
    found = setting_differences(RunConfig(gamma_graph=0.5), RunConfig(method="random"))
    assert [row.setting for row in found.rows] == ["method"]
    assert found.only_one["gamma_graph"] == 0.5
    assert found.only_other == {}
    assert "p_graph" not in found.only_one


def test_an_option_that_nobody_named_is_its_default() -> None:
    named = RunConfig(options={"masks_from": "best_validation"})
    assert setting_differences(named, RunConfig()).rows == []


def test_environments_are_compared_over_all_seeds(make_run: MakeRun) -> None:
    one, other = make_run("ugs", seeds=(0, 1)), make_run("random")
    versions = {"python": "3.11.7", "torch": "2.13.0"}
    for seed in (0, 1):
        one.seed(seed).write_environment({"versions": versions, "threads": 1, "data_hash": "a" * 64})
    later = {"resumed_with": [{"torch": "2.14.0", "python": "3.11.7"}], "data_hash": "b" * 64}
    other.seed(0).write_environment({"versions": versions, "threads": 2, "device": "cpu", **later})
    found = {each.what: (each.one, each.other) for each in environment_differences(one, other)}
    assert found == {
        "torch": (("2.13.0",), ("2.13.0", "2.14.0")),
        "threads": (("1",), ("2",)),
        "device": ((), ("cpu",)),
        "data (hash)": (("aaaaaaaa",), ("bbbbbbbb",)),
    }
