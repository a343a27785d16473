"""Launch: what the form refuses, what it costs, what it starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from glt.data import DATASETS
from glt.errors import ConfigError
from glt.jobs import memory, sweep
from glt.jobs.launching import Started
from glt.presets import resolve
from glt.seeds import read_seeds
from glt.store import Run, Store
from glt.training.problem import network_shape, tensor_specs


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"seeds": "0, x"}, "'x' is no seed"),
        ({"seeds": "-1"}, "'-1' is no seed"),
        ({"p_graph": "2"}, "p_graph cannot be '2'"),
        ({"rounds": "0"}, "rounds cannot be '0'"),
        ({"learning_rate": "fast"}, "learning_rate cannot be 'fast'"),
        ({"methods": ""}, "No method is chosen"),
    ],
)
def test_bad_input_is_one_sentence_and_starts_nothing(
    wrong: dict[str, str], told: str, store: Store, open_page: Callable[..., AppTest]
) -> None:
    app = open_page("launch", **wrong)
    assert not app.exception
    assert [told in error.value for error in app.error] == [True]
    assert app.button(key="start").disabled


def test_everything_that_is_wrong_is_said_at_once(store: Store, open_page: Callable[..., AppTest]) -> None:
    app = open_page("launch", methods=["ugs", "random"], seeds="x", hidden="wide", p_graph="2")
    assert not app.exception
    (error,) = app.error
    head, *listed = [line for line in error.value.split("\n") if line]
    assert head == "**3 things to put right**"
    assert ["'x' is no seed" in listed[0], "hidden cannot" in listed[1], "p_graph cannot" in listed[2]] == [True] * 3
    assert app.button(key="start").disabled


def test_seeds_are_read_in_order_and_once() -> None:
    assert read_seeds("3, 1,3 , 0") == (3, 1, 0)
    with pytest.raises(ConfigError, match="No seed is given"):
        read_seeds(" , ")


def test_each_method_becomes_a_run_with_the_same_seeds(
    store: Store, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def begin(at: Store, run: Run, seeds: Sequence[int], **settings: object) -> Started[Run]:
        started.append((run.config, list(seeds)))
        return Started(run, elsewhere=tuple(seeds) if run.config.method == "ugs" else (), finished=tuple(seeds[:1]))

    monkeypatch.setattr(sweep, "begin", begin)
    app = open_page("launch", methods=["ugs", "admm"], seeds="0, 2", hidden="16", admm_rho="0.01", gamma_graph="0.5")
    app.button(key="start").click().run()
    assert not app.exception
    wanted = {"hidden": 16, "gamma_graph": 0.5}
    assert started == [
        (resolve({**wanted, "method": "ugs"}, "official"), [0, 2]),
        (resolve({**wanted, "method": "admm", "admm_rho": 0.01}, "official"), [0, 2]),
    ]
    assert app.title[0].value == "Runs"
    # Another tab was faster.
    assert [each.value.split(": ", 2)[2] for each in app.toast] == [
        "seeds 0, 2 are at work already, seed 0 is complete already.",
        "seed 0 is complete already.",
    ]


def test_what_is_on_disk_already_costs_nothing(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    make_run("ugs")
    app = open_page("launch", methods="ugs", seeds="0, 1", rounds="3", epochs="5", retrain_epochs="5")
    cost = {metric.label: metric.value for metric in app.metric}
    assert cost["Epochs"] == "0"
    assert app.button(key="start").disabled


def test_time_is_taken_from_the_store_and_says_so(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    app = open_page("launch", methods="ugs", seeds="7", rounds="1", epochs="5", retrain_epochs="5")
    cost = {metric.label: metric.value for metric in app.metric}
    # Rounds of 2 s for 10 epochs, round 0 left out; the new seed has 15 epochs and a worker that takes 4 s to start.
    assert cost["Time, about"] == "7.0 s"
    assert any("as timed in this store" in caption.value for caption in app.caption)


def test_a_preset_fills_what_is_left_empty(store: Store, open_page: Callable[..., AppTest]) -> None:
    app = open_page("launch", dataset="citeseer")
    assert app.text_input(key="learning_rate").placeholder == "0.01"
    assert open_page("launch").text_input(key="learning_rate").placeholder == "0.008"


def test_what_may_be_pruned_is_listed(store: Store, open_page: Callable[..., AppTest]) -> None:
    app = open_page("launch", model="gin", methods="ugs", hidden="16")
    assert not app.exception
    listed = next(table.value for table in app.table if "Tensor" in table.value)
    told = dict(zip(listed["Tensor"], listed["Pruned"], strict=True))
    tensors = tensor_specs(
        config := resolve({"model": "gin", "hidden": 16}, "official"), network_shape(config, DATASETS.get("cora").sizes)
    )
    assert told == {tensor.name: "yes" if tensor.prunable else "no" for tensor in tensors}
    assert {"yes", "no"} == set(told.values())


def test_random_tickets_wait_for_a_run_to_read(
    store: Store, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    app = open_page("launch", methods="reinit", seeds="0")
    assert [error.value for error in app.error] == [
        "Random tickets need the run whose masks they take: name it with masks_of."
    ]
    assert app.button(key="start").disabled
    run = make_run("ugs")
    app = open_page("launch", methods="reinit", seeds="0", rounds="3")
    app.selectbox(key="masks_of").set_value(run.name).run()
    assert not app.error
    assert not app.button(key="start").disabled


def test_too_little_memory_is_said_before_the_start(
    store: Store, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 300_000_000)
    app = open_page("launch", methods="ugs", seeds="0", hidden="16")
    assert not app.exception
    told = [warning.value for warning in app.warning]
    assert any(each.startswith("300 MB of memory are available, less than") for each in told), told
    assert "Memory, about" in {metric.label for metric in app.metric}


def test_what_is_predicted_is_named_by_its_kind(open_page: Callable[..., AppTest]) -> None:
    for dataset, task, words in (
        ("cora", "node", "1,433 features, 7 classes; bundled."),
        ("ogbn-proteins", "node", "16 features, 112 binary tasks;"),
        ("ogbl-collab", "link", "128 features; read from GLT_DATA or downloaded once."),
    ):
        app = open_page("launch", dataset=dataset, task=task)
        assert not app.exception
        assert any(words in caption.value for caption in app.caption)


def test_a_start_is_offered_only_to_networks_that_can_take_one(open_page: Callable[..., AppTest]) -> None:
    for model, offered in (("gcn", True), ("resgcn", False)):
        app = open_page("launch", model=model)
        assert not app.exception
        assert any(box.label == "Start" for box in app.selectbox) == offered
