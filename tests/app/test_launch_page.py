"""Launch: form, sweep, cost and start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from app.views.launch import numeric_fields
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.jobs import memory, sweep
from glt.jobs.launcher import Started
from glt.presets import resolve
from glt.seeds import read_seeds
from glt.store import Run, Store
from glt.training.problem import network_shape, tensor_specs


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"seeds": "0, x"}, "'x' is not a seed"),
        ({"seeds": "-1"}, "'-1' is not a seed"),
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
    assert head == "**3 problems**"
    assert ["'x' is not a seed" in listed[0], "hidden cannot" in listed[1], "p_graph cannot" in listed[2]] == [True] * 3
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
        "seeds 0, 2 are already running, seed 0 is already complete.",
        "seed 0 is already complete.",
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
        "Random tickets need a source of masks: set masks_of to a finished run."
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
    assert any(each.startswith("300 MB of memory is available, less than") for each in told), told
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
        assert any(box.label == "Initial weights" for box in app.selectbox) == offered


SETTING = {"dataset": "cora", "task": "node", "model": "gcn"}
OpenPage = Callable[..., AppTest]


def test_every_number_can_be_varied_but_the_rounds() -> None:
    names = [name for name, _ in numeric_fields(SETTING, ["ugs"])]
    assert {"p_graph", "p_weight", "hidden", "dropout", "mask_noise", "mask_learning_rate"} <= set(names)
    assert not {"rounds", "dataset", "degree", "options", "mask_weight_decay", "masks_from"} & set(names)
    of_both = [name for name, _ in numeric_fields(SETTING, ["ugs", "random"])]
    assert "mask_noise" not in of_both
    assert [name for name, _ in numeric_fields(SETTING, [])] == [
        name for name in names if name in RunConfig.model_fields
    ]


def test_the_values_of_a_grid_are_counted_costed_and_started(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def begin(at: Store, run: Run, seeds: Sequence[int], **settings: object) -> Started[Run]:
        started.append((run.config, list(seeds)))
        return Started(run)

    monkeypatch.setattr(sweep, "begin", begin)
    app = open_page("launch", methods="ugs", seeds="0, 1", hidden="16")
    app.multiselect(key="vary").set_value(["p_graph", "p_weight"]).run()
    assert not app.exception
    # The paper's own values stand in the fields at first.
    assert app.button(key="start").label == "Start 9 runs"
    app.text_input(key="sweep_p_weight").set_value(".1, .3").run()
    counts = "3 values of p_graph \N{MULTIPLICATION SIGN} 2 values of p_weight: 6 runs for each method."
    assert counts in [caption.value for caption in app.caption]
    cost = {metric.label: metric.value for metric in app.metric}
    assert cost["Workers"].startswith("12 on ")
    # Each seed: 200 epochs of round 0 and 400 of every other one.
    assert cost["Epochs"] == f"{12 * (200 + 20 * 400):,}"
    app.button(key="start").click().run()
    assert not app.exception
    assert started == [
        (resolve({"method": "ugs", "hidden": 16, "p_graph": g, "p_weight": w}, "official"), [0, 1])
        for g, w in product((0.05, 0.1, 0.2), (0.1, 0.3))
    ]
    assert app.title[0].value == "Runs"


def test_the_grid_is_in_the_address_and_comes_back_from_it(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", methods=["ugs", "random"], vary=["hidden", "p_graph"], sweep_hidden="8,16")
    assert app.query_params["vary"] == ["hidden", "p_graph"]
    assert app.query_params["sweep_hidden"] == "8,16"
    assert app.query_params["sweep_p_graph"] == "0.05, 0.1, 0.2"
    assert app.text_input(key="sweep_hidden").value == "8,16"
    assert app.button(key="start").label == "Start 12 runs"
    text = " ".join(each.value for each in (*app.markdown, *app.caption))
    assert "hidden = 8, p_graph = 0.05" in text
    assert "and 6 more" in text


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"vary": "hidden"}, "hidden has no values"),
        ({"vary": "hidden", "sweep_hidden": "8,,9"}, "hidden lacks a value"),
        ({"vary": "hidden", "sweep_hidden": "8, many"}, "hidden cannot be 'many'"),
        ({"vary": "p_graph", "sweep_p_graph": "0.1, 0.10"}, "holds the same run twice"),
        ({"vary": "p_graph", "p_graph": "0.3"}, "p_graph is set to 0.3 and varied in the grid too"),
        ({"vary": "epochs", "sweep_epochs": "5, 9", "methods": ["ugs", "random"]}, "The method random ignores epochs"),
    ],
)
def test_a_grid_that_cannot_be_is_one_sentence_and_starts_nothing(
    wrong: dict[str, str | list[str]], told: str, store: Store, open_page: OpenPage
) -> None:
    app = open_page("launch", **{"methods": "ugs", **wrong})
    assert not app.exception
    assert [told in error.value for error in app.error] == [True]
    assert app.button(key="start").disabled


def test_points_on_disk_cost_nothing(make_run: Callable[..., Run], open_page: OpenPage) -> None:
    make_run("ugs")
    short = {"rounds": "3", "epochs": "5", "retrain_epochs": "5"}
    app = open_page("launch", methods="ugs", seeds="0, 1", vary="p_graph", sweep_p_graph="0.05, 0.1", **short)
    cost = {metric.label: metric.value for metric in app.metric}
    # Only the two seeds at 0.1 are missing.
    assert cost["Epochs"] == str(2 * (5 + 3 * 10))
    assert [badge for badge in app.markdown if "complete" in badge.value]


def test_export_draws_the_ablation_of_a_sweep(
    store: Store, draw_seed: Callable[..., None], open_page: OpenPage
) -> None:
    for rate in (0.05, 0.1):
        values = {"rounds": 3, "epochs": 5, "retrain_epochs": 5, "p_graph": rate}
        draw_seed(store.create(resolve(values, "official")).seed(0))
    app = open_page("export", what="ablation", columns="2")
    assert not app.exception
    assert not app.error
    assert any("dashed: the dense model" in caption.value for caption in app.caption)
    assert (
        open_page("export", what="ablation", runs=store.runs()[0].name).error[0].value.startswith("An ablation needs")
    )
