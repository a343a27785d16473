"""The sweep on Launch: what can be varied, what it makes, what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from app.views.launch_fields import numeric_fields
from glt.config import RunConfig
from glt.jobs import sweep
from glt.jobs.launching import Started
from glt.presets import resolve
from glt.store import Run, Store

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
