"""Pre-training in the app: its progress on Runs, and as a start on Launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from app.components import run_select
from app.data.runs import run_progress
from app.views import launch as launch_fields
from glt.config import RunConfig
from glt.jobs import sweep
from glt.jobs.launcher import Started
from glt.pretraining.config import PretrainConfig, resolve_pretraining
from glt.store import Pretraining, Progress, Run, Status, Store

MakePretraining = Callable[..., Pretraining]


def words(app: AppTest) -> str:
    return " ".join(
        str(element.value) for kind in (app.subheader, app.markdown, app.caption, app.error) for element in kind
    )


def test_one_is_opened_by_its_address(make_pretraining: MakePretraining, open_page: Callable[..., AppTest]) -> None:
    run = make_pretraining(("done", "failed"))
    app = open_page("runs", run=run.name)
    assert not app.exception
    shown = words(app)
    assert "GraphCL · Cora · edge perturbation · 16 wide" in shown
    assert "lowest loss 0.432 in epoch 12" in shown
    assert "restarts when resumed" in shown
    assert "lower learning_rate" in shown
    assert app.button(key=f"resume-{run.name}").label == "Resume all"


def test_they_stand_beside_runs_and_can_be_deleted(
    make_pretraining: MakePretraining, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    run = make_pretraining()
    other = make_run("ugs")
    app = open_page("runs")
    assert not app.exception
    assert app.query_params["run"] == other.name
    app.button(key=f"open-{run.name}").click().run()
    assert app.query_params["run"] == run.name
    app.button(key=f"delete-{run.name}").click().run()
    assert not app.exception
    assert app.button(key="confirm-delete").label == "Move to trash"


def test_progress_is_said_in_epochs(make_pretraining: MakePretraining, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_pretraining(("done", "running"))
    at = Progress(round=0, rounds=0, stage="pre-training", epoch=1200, epochs=10_000, fraction=0.12)
    monkeypatch.setattr("glt.store.locks.is_alive", lambda *_: True)
    run.seed(1).write_status(Status(state="running", seed=1, progress=at))
    now = run_progress(run)
    assert now.is_active
    assert now.fraction == pytest.approx(0.56)
    assert now.seeds[1].doing == "epoch 1,200 of at most 10,000"


def test_launch_offers_finished_ones_of_the_same_data_and_task(
    make_pretraining: MakePretraining,
    store: Store,
    open_page: Callable[..., AppTest],
    monkeypatch: pytest.MonkeyPatch,
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
    assert "seed 0 from its seed 0, seed 1 from its seed 0" in words(app)
    app.button(key="start").click().run()
    assert [config.options["pretraining"] for config in started] == [run.name]


def test_one_that_does_not_fit_is_one_sentence(
    make_pretraining: MakePretraining, open_page: Callable[..., AppTest]
) -> None:
    run = make_pretraining()
    app = open_page("launch", pretraining=run.name)
    assert not app.exception
    assert ["has width 16, but the first layer of gcn" in error.value for error in app.error] == [True]
    assert app.button(key="start").disabled


def test_a_damaged_first_layer_is_said(make_pretraining: MakePretraining, open_page: Callable[..., AppTest]) -> None:
    run = make_pretraining()
    (run.seed(0).path / "pretrained.safetensors").write_bytes(b"nothing")
    app = open_page("runs", run=run.name)
    assert not app.exception
    assert "is damaged" in words(app)
    assert f"mend-{run.name}" in [button.key for button in app.button]


def test_launch_starts_one_of_the_width_and_seeds_of_the_form(
    store: Store, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
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


def test_launch_says_why_one_cannot_start(store: Store, open_page: Callable[..., AppTest]) -> None:
    app = open_page("launch", seeds="one")
    app.button(key="start-pre-training").click().run()
    assert not app.exception
    assert any("one" in error.value for error in app.error)
    assert store.pretrainings() == []
