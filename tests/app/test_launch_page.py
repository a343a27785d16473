"""Launch: form, sweep, cost and start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest

from app.components import run_select
from app.data.runs import run_progress
from app.views import launch as launch_fields
from app.views.launch import numeric_fields
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.jobs import memory, sweep
from glt.jobs.launcher import Started
from glt.methods import METHODS
from glt.presets import resolve
from glt.pretraining.config import PretrainConfig, resolve_pretraining
from glt.scores import SCORES
from glt.seeds import read_seeds
from glt.store import Pretraining, Progress, Run, Status, Store
from glt.training.problem import network_shape, tensor_specs
from tests.app.conftest import MakePretraining, MakeRun, OpenPage, texts


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"seeds": "0, x"}, "'x' is not a seed"),
        ({"seeds": "-1"}, "'-1' is not a seed"),
        ({"p_graph": "2"}, "p_graph must be less than 1, not 2"),
        ({"rounds": "0"}, "rounds must be at least 1, not 0"),
        ({"learning_rate": "fast"}, "learning_rate cannot be 'fast'"),
        ({"methods": ""}, "No method is chosen"),
        ({"methods": "ugs", "vary": "hidden"}, "hidden has no values"),
        ({"methods": "ugs", "vary": "hidden", "sweep_hidden": "8,,9"}, "hidden lacks a value"),
        ({"methods": "ugs", "vary": "hidden", "sweep_hidden": "8, many"}, "hidden cannot be 'many'"),
        ({"methods": "ugs", "vary": "p_graph", "sweep_p_graph": "0.1, 0.10"}, "holds the same run twice"),
        ({"methods": "ugs", "vary": "p_graph", "p_graph": "0.3"}, "p_graph is set to 0.3 and varied in the grid too"),
        ({"vary": "epochs", "sweep_epochs": "5, 9", "methods": ["ugs", "random"]}, "The method random ignores epochs"),
    ],
)
def test_bad_input_is_one_sentence_and_starts_nothing(
    wrong: dict[str, str | list[str]], expected: str, store: Store, open_page: OpenPage
) -> None:
    app = open_page("launch", **wrong)
    assert [expected in error.value for error in app.error] == [True]
    assert app.button(key="start-runs").disabled


def test_all_input_errors_are_shown_at_once(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", methods=["ugs", "random"], seeds="x", hidden="wide", p_graph="2")
    (error,) = app.error
    head, *listed = [line for line in error.value.split("\n") if line]
    assert head == "**3 problems**"
    assert ["'x' is not a seed" in listed[0], "hidden cannot" in listed[1], "p_graph must" in listed[2]] == [True] * 3
    assert app.button(key="start-runs").disabled


@pytest.mark.parametrize("method", METHODS.names())
def test_the_options_of_every_method_have_fields(open_page: OpenPage, method: str) -> None:
    app = open_page("launch", methods=method)
    assert not app.exception
    labels = {field.key for kind in ("text_input", "selectbox") for field in app.get(kind)}
    # The source of random tickets is chosen among finished runs.
    assert METHODS.get(method).Options.model_fields.keys() - {"masks_of"} <= labels
    assert app.button(key="start-runs")


def test_seeds_are_sorted_and_unique() -> None:
    assert read_seeds("3, 1,3 , 0") == (3, 1, 0)
    with pytest.raises(ConfigError, match="No seed is given"):
        read_seeds(" , ")


def test_each_method_becomes_a_run_with_the_same_seeds(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def begin(at: Store, run: Run, seeds: Sequence[int], **settings: object) -> Started[Run]:
        started.append((run.config, list(seeds)))
        return Started(run, elsewhere=tuple(seeds) if run.config.method == "ugs" else (), finished=tuple(seeds[:1]))

    monkeypatch.setattr(sweep, "begin", begin)
    app = open_page("launch", methods=["ugs", "admm"], seeds="0, 2", hidden="16", admm_rho="0.01", gamma_graph="0.5")
    app.button(key="start-runs").click().run()
    assert not app.exception
    wanted = {"hidden": 16, "gamma_graph": 0.5}
    assert started == [
        (resolve({**wanted, "method": "ugs"}, "official"), [0, 2]),
        (resolve({**wanted, "method": "admm", "admm_rho": 0.01}, "official"), [0, 2]),
    ]
    assert app.title[0].value == "Runs"
    # Another tab started it first.
    assert [each.value.split(": ", 2)[2] for each in app.toast] == [
        "seeds 0, 2 are already running, seed 0 is already complete.",
        "seed 0 is already complete.",
    ]


def test_edge_scores_are_offered_by_their_labels_and_started(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[RunConfig]()

    def begin(at: Store, run: Run, seeds: Sequence[int], **settings: object) -> Started[Run]:
        started.append(run.config)
        return Started(run)

    monkeypatch.setattr(sweep, "begin", begin)
    app = open_page("launch", methods=["ugs", "score"], seeds="0", score="jaccard", inverse="true")
    offered = app.selectbox(key="score")
    assert offered.options == ["Local degree (preset)", *(score.label for score in SCORES)]
    assert all(f"`{score.name}`): {score.description}" in offered.help for score in SCORES)
    app.button(key="start-runs").click().run()
    assert not app.exception
    expected = {"method": "score", "score": "jaccard", "inverse": True}
    assert started == [resolve({"method": "ugs"}, "official"), resolve(expected, "official")]


def test_an_option_of_several_methods_has_one_field_and_reaches_all(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[RunConfig]()

    def begin(at: Store, run: Run, seeds: Sequence[int], **settings: object) -> Started[Run]:
        started.append(run.config)
        return Started(run)

    monkeypatch.setattr(sweep, "begin", begin)
    methods = ["ugs", "wd_glt", "ace_glt", "fast_glt", "score", "teddy"]
    app = open_page("launch", methods=methods, seeds="0", mask_noise="0.001", wd_nodes="30")
    headings = {text.value.strip("*") for text in app.markdown if text.value.startswith("**")}
    assert {"UGS, WD-GLT, ACE-GLT", "UGS, WD-GLT, ACE-GLT, FastGLT", "WD-GLT", "ACE-GLT", "FastGLT"} <= headings
    app.button(key="start-runs").click().run()
    assert not app.exception
    noisy = {config.method: config.options.get("mask_noise") for config in started}
    assert noisy == {**dict.fromkeys(methods[:4], 0.001), "score": None, "teddy": None}
    assert [config.method for config in started if "wd_nodes" in config.options] == ["wd_glt"]


def test_values_that_differ_between_the_methods_of_a_preset_are_named_so(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", methods=["ugs", "score", "teddy", "wd_glt"], preset="early_bird")
    assert app.selectbox(key="score").options[0] == "by method (preset)"
    assert app.selectbox(key="stop").options[0] == "by method (preset)"
    # 100 epochs of UGS, 200 of the others.
    assert app.text_input(key="epochs").placeholder == "by method"
    assert app.text_input(key="hidden").placeholder == "512"


def test_an_unknown_score_in_a_link_is_reported(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", methods="score", score="jacard")
    assert any("“Score” to “jacard”, which does not exist here" in toast.value for toast in app.toast)
    assert app.selectbox(key="score").value == ""


def test_finished_rounds_cost_nothing(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    app = open_page("launch", methods="ugs", seeds="0, 1", rounds="3", epochs="5", retrain_epochs="5")
    cost = {metric.label: metric.value for metric in app.metric}
    assert cost["Epochs"] == "0"
    assert app.button(key="start-runs").disabled
    short = {"rounds": "3", "epochs": "5", "retrain_epochs": "5"}
    app = open_page("launch", methods="ugs", seeds="0, 1", vary="p_graph", sweep_p_graph="0.05, 0.1", **short)
    cost = {metric.label: metric.value for metric in app.metric}
    # Only the two seeds at 0.1 are missing.
    assert cost["Epochs"] == str(2 * (5 + 3 * 10))
    assert [badge for badge in app.markdown if "complete" in badge.value]


def test_time_estimates_come_from_the_store(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    app = open_page("launch", methods="ugs", seeds="7", rounds="1", epochs="5", retrain_epochs="5")
    cost = {metric.label: metric.value for metric in app.metric}
    # Rounds of 2 s for 10 epochs, round 0 left out; the new seed has 15 epochs and a worker that takes 4 s to start.
    assert cost["Time, about"] == "7.0 s"
    assert any("as timed in this store" in caption.value for caption in app.caption)


def test_prunable_tensors_are_listed(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", model="gin", methods="ugs", hidden="16")
    listed = next(table.value for table in app.table if "Tensor" in table.value)
    expected = dict(zip(listed["Tensor"], listed["Pruned"], strict=True))
    tensors = tensor_specs(
        config := resolve({"model": "gin", "hidden": 16}, "official"), network_shape(config, DATASETS.get("cora").sizes)
    )
    assert expected == {tensor.name: "yes" if tensor.prunable else "no" for tensor in tensors}
    assert {"yes", "no"} == set(expected.values())


def test_random_tickets_need_a_source_run(store: Store, make_run: MakeRun, open_page: OpenPage) -> None:
    app = open_page("launch", methods="reinit", seeds="0")
    assert [error.value for error in app.error] == [
        "Random tickets need a source of masks: add --set masks_of=RUN, a finished run of the same store."
    ]
    assert app.button(key="start-runs").disabled
    run = make_run("ugs")
    app = open_page("launch", methods="reinit", seeds="0", rounds="3")
    app.selectbox(key="masks_of").set_value(run.name).run()
    assert not app.error
    assert not app.button(key="start-runs").disabled


def test_too_little_memory_is_reported_before_the_start(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 300_000_000)
    app = open_page("launch", methods="ugs", seeds="0", hidden="16")
    expected = [warning.value for warning in app.warning]
    assert any(each.startswith("300 MB of memory is available, less than") for each in expected), expected
    assert "Memory, about" in {metric.label for metric in app.metric}


@pytest.mark.parametrize(
    ("view", "rate", "words", "takes_a_start"),
    [
        ({}, "0.008", "1,433 features, 7 classes; bundled.", True),
        ({"dataset": "citeseer"}, "0.01", "bundled.", True),
        ({"model": "resgcn"}, "0.008", "1,433 features", False),
        ({"dataset": "ogbn-proteins"}, "0.01", "16 features, 112 binary tasks;", True),
        ({"dataset": "ogbl-collab", "task": "link"}, "0.01", "read from GLT_DATA or downloaded once.", True),
    ],
)
def test_the_form_follows_data_set_task_and_network(
    view: dict[str, str], rate: str, words: str, takes_a_start: bool, store: Store, open_page: OpenPage
) -> None:
    app = open_page("launch", **view)
    assert words in texts(app)
    assert app.text_input(key="learning_rate").placeholder == rate
    assert any(box.label == "Initial weights" for box in app.selectbox) == takes_a_start


SETTING = {"dataset": "cora", "task": "node", "model": "gcn"}


def test_every_numeric_setting_but_rounds_can_be_varied() -> None:
    names = [name for name, _ in numeric_fields(SETTING, ["ugs"])]
    assert {"p_graph", "p_weight", "hidden", "dropout", "mask_noise", "mask_learning_rate"} <= set(names)
    assert not {"rounds", "dataset", "degree", "options", "mask_weight_decay", "masks_from"} & set(names)
    of_both = [name for name, _ in numeric_fields(SETTING, ["ugs", "random"])]
    assert "mask_noise" not in of_both
    assert [name for name, _ in numeric_fields(SETTING, [])] == [
        name for name in names if name in RunConfig.model_fields
    ]


def test_grid_points_are_counted_estimated_and_started(
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
    assert app.button(key="start-runs").label == "Start 9 runs"
    app.text_input(key="sweep_p_weight").set_value(".1, .3").run()
    counts = "3 values of p_graph \N{MULTIPLICATION SIGN} 2 values of p_weight: 6 runs for each method."
    assert counts in [caption.value for caption in app.caption]
    cost = {metric.label: metric.value for metric in app.metric}
    assert cost["Workers"].startswith("12 on ")
    # Each seed: 200 epochs of round 0 and 400 of every other one.
    assert cost["Epochs"] == f"{12 * (200 + 20 * 400):,}"
    app.button(key="start-runs").click().run()
    assert not app.exception
    assert started == [
        (resolve({"method": "ugs", "hidden": 16, "p_graph": g, "p_weight": w}, "official"), [0, 1])
        for g, w in product((0.05, 0.1, 0.2), (0.1, 0.3))
    ]
    assert app.title[0].value == "Runs"


def test_the_grid_is_restored_from_the_url(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", methods=["ugs", "random"], vary=["hidden", "p_graph"], sweep_hidden="8,16")
    assert app.query_params["vary"] == ["hidden", "p_graph"]
    assert app.query_params["sweep_hidden"] == "8,16"
    assert app.query_params["sweep_p_graph"] == "0.05, 0.1, 0.2"
    assert app.text_input(key="sweep_hidden").value == "8,16"
    assert app.button(key="start-runs").label == "Start 12 runs"
    text = " ".join(each.value for each in (*app.markdown, *app.caption))
    assert "hidden = 8, p_graph = 0.05" in text
    assert "and 6 more" in text


def test_export_draws_the_ablation_of_a_sweep(
    store: Store, draw_seed: Callable[..., None], open_page: OpenPage
) -> None:
    for rate in (0.05, 0.1):
        values = {"rounds": 3, "epochs": 5, "retrain_epochs": 5, "p_graph": rate}
        draw_seed(store.create(resolve(values, "official")).seed(0))
    app = open_page("export", what="ablation", columns="2")
    assert not app.error
    assert any("dashed: the dense model" in caption.value for caption in app.caption)
    assert (
        open_page("export", what="ablation", runs=store.runs()[0].name).error[0].value.startswith("An ablation needs")
    )


def test_a_pretraining_is_opened_by_its_url(make_pretraining: MakePretraining, open_page: OpenPage) -> None:
    run = make_pretraining(("done", "failed"))
    app = open_page("runs", run=run.name)
    shown = texts(app)
    assert "GraphCL · Cora · edge perturbation · 16 wide" in shown
    assert "lowest loss 0.432 in epoch 12" in shown
    assert "restarts when resumed" in shown
    assert "lower learning_rate" in shown
    assert app.button(key=f"resume-{run.name}").label == "Resume all"


def test_pretrainings_are_listed_with_runs_and_can_be_deleted(
    make_pretraining: MakePretraining, make_run: MakeRun, open_page: OpenPage
) -> None:
    run = make_pretraining()
    other = make_run("ugs")
    app = open_page("runs")
    assert app.query_params["run"] == other.name
    app.button(key=f"open-{run.name}").click().run()
    assert app.query_params["run"] == run.name
    app.button(key=f"delete-{run.name}").click().run()
    assert not app.exception
    assert app.button(key="confirm-delete").label == "Move to trash"


def test_pretraining_progress_is_in_epochs(make_pretraining: MakePretraining, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_pretraining(("done", "running"))
    at = Progress(round=0, rounds=0, stage="pre-training", epoch=1200, epochs=10_000, fraction=0.12)
    monkeypatch.setattr("glt.store.locks.is_alive", lambda *_: True)
    run.seed(1).write_status(Status(state="running", seed=1, progress=at))
    now = run_progress(run)
    assert now.is_active
    assert now.fraction == pytest.approx(0.56)
    assert now.seeds[1].doing == "epoch 1,200 of at most 10,000"


def test_launch_offers_matching_finished_pretrainings(
    make_pretraining: MakePretraining, store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_pretraining()
    make_pretraining(("stopped",), augmentation="nodes")
    make_pretraining(dataset="citeseer")
    make_pretraining(task="link")
    started: list[RunConfig] = []

    def begin(at: Store, run: Run, seeds: Sequence[int], **settings: object) -> Started[Run]:
        started.append(run.config)
        return Started(run)

    monkeypatch.setattr(sweep, "begin", begin)
    app = open_page("launch", seeds="0, 1", hidden="16", methods=["ugs"])
    assert app.selectbox(key="pretraining").options == ["Random", run_select.subject(run)]
    assert app.selectbox(key="pretraining").value == ""
    app.selectbox(key="pretraining").select(run.name).run()
    assert not app.exception
    assert app.query_params["pretraining"] == run.name
    assert "seed 0 from its seed 0, seed 1 from its seed 0" in texts(app)
    app.button(key="start-runs").click().run()
    assert [config.options["pretraining"] for config in started] == [run.name]


def test_a_pretraining_that_does_not_fit_is_one_sentence(
    make_pretraining: MakePretraining, open_page: OpenPage
) -> None:
    run = make_pretraining()
    app = open_page("launch", pretraining=run.name)
    assert ["has width 16, but the first layer of gcn" in error.value for error in app.error] == [True]
    assert app.button(key="start-runs").disabled


def test_a_damaged_first_layer_is_reported(make_pretraining: MakePretraining, open_page: OpenPage) -> None:
    run = make_pretraining()
    (run.seed(0).path / "pretrained.safetensors").write_bytes(b"nothing")
    app = open_page("runs", run=run.name)
    assert "is damaged" in texts(app)
    assert f"mend-{run.name}" in [button.key for button in app.button]


def test_launch_starts_a_pretraining_of_the_forms_width_and_seeds(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[PretrainConfig, tuple[int, ...]]] = []

    def launch(
        at: Store, config: PretrainConfig, seeds: tuple[int, ...], leave_busy: bool = False
    ) -> Started[Pretraining]:
        started.append((config, seeds))
        return Started(at.create_pretraining(config))

    monkeypatch.setattr(launch_fields, "start_pretraining", launch)
    monkeypatch.setattr(launch_fields.url_state, "go", lambda page, **view: None)
    app = open_page("launch", dataset="citeseer", task="link", seeds="1-2", hidden="16")
    app.selectbox(key="augmentation").select("nodes").run()
    app.button(key="start-pre-training").click().run()
    assert not app.exception
    values = {"dataset": "citeseer", "task": "link", "augmentation": "nodes", "hidden": 16}
    assert started == [(resolve_pretraining(values), (1, 2))]


def test_launch_states_why_a_pretraining_cannot_start(store: Store, open_page: OpenPage) -> None:
    app = open_page("launch", seeds="one")
    app.button(key="start-pre-training").click().run()
    assert not app.exception
    assert any("one" in error.value for error in app.error)
    assert store.pretrainings() == []
