"""Selection of runs: titles, runs and examples of one name, and runs that are missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import tests.conftest
from analysis.bundle import bundle_bytes
from analysis.cli.main import main as analysis
from analysis.figures.base import FigureChoices
from analysis.tables.rounds import rounds_table
from app.components import run_select
from app.data import runs
from app.data.runs import Catalog, open_catalog
from glt.cli.main import main as glt
from glt.errors import ConfigError
from glt.masks import Masks
from glt.store import RoundRecord, Run, SeedRun, Store, paths
from glt.store.examples import pack_run
from tests.app.conftest import MakePretraining, MakeRun, OpenPage


def test_distinguishing_settings_come_first_in_labels(make_run: MakeRun) -> None:
    runs = [make_run(name, hidden=h, epochs=10 * h) for name in ("ugs", "admm") for h in (16, 32)]
    assert [run_select.run_words(runs)[run.name] for run in runs] == [
        "UGS, hidden = 16 · Cora GCN",
        "UGS, hidden = 32 · Cora GCN",
        "ADMM, hidden = 16 · Cora GCN",
        "ADMM, hidden = 32 · Cora GCN",
    ]


# Test scores of the last round of seed 0: 0.77 of the example, 0.57 of the user's own run.
LESS = 0.2


@pytest.fixture
def own(make_run: MakeRun, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of the user whose scores are 20 points below those of the example of the same name."""
    first = make_run("ugs", states=("done",))
    pack_run(first, tmp_path / "examples")
    store.move_to_trash(first.path)
    store.empty_trash()
    made_up = tests.conftest.made_up

    def lower(number: int, masks: Masks, seed_run: SeedRun) -> RoundRecord:
        record = made_up(number, masks, seed_run)
        return record.model_copy(update={"test": record.test - LESS, "test_last": record.test_last - LESS})

    monkeypatch.setattr(tests.conftest, "made_up", lower)
    run = make_run("ugs", states=("done",))
    monkeypatch.setattr(tests.conftest, "made_up", made_up)
    monkeypatch.setattr(runs, "EXAMPLES", tmp_path / "examples")
    monkeypatch.setattr(paths, "EXAMPLES", tmp_path / "examples")
    return run


def example_of(run: Run) -> str:
    return f"examples/{run.name}"


def test_a_run_and_its_example_have_distinct_references_and_titles(
    own: Run, open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Catalog = open_catalog()
    assert [run.reference for run in found.runs] == [own.name, example_of(own)]
    assert [run.is_example for run in found.runs] == [False, True]
    assert found.find(own.name).path == own.path
    words = {own.name: "UGS · Cora GCN", example_of(own): "UGS · Cora GCN · example"}
    assert run_select.run_words(found.runs) == words
    table = rounds_table(found.runs)
    last = table[table["round"] == 3].set_index("run")
    assert last["test"].round(6).to_dict() == {own.name: 0.57, example_of(own): 0.77}
    assert last["label"].to_dict() == {own.name: "UGS", example_of(own): "UGS (example)"}
    assert set(rounds_table(found.examples)["label"]) == {"UGS"}
    app = open_page("compare", one=own.name, other=example_of(own))
    assert (app.selectbox(key="one").value, app.selectbox(key="other").value) == (own.name, example_of(own))
    with pytest.raises(ConfigError, match=f"{own.name} and {example_of(own)} have the same: choose one"):
        bundle_bytes(found.runs, FigureChoices())
    # A store that is the folder of the examples lists them once.
    monkeypatch.setenv("GLT_STORE", str(tmp_path / "examples"))
    assert [run.reference for run in open_catalog().runs] == [example_of(own)]


@pytest.mark.parametrize(("page", "scores"), [("curves", {57.0, 77.0}), ("tickets", {57.0, 77.0})])
def test_a_figure_shows_the_requested_run_or_both(own: Run, open_page: OpenPage, page: str, scores: set[float]) -> None:
    def shown(**view: Any) -> set[str]:
        app = open_page(page, **view)
        assert not app.error
        if page == "curves":
            table = app.dataframe[0].value
            return {f"{row['Method']} {row['Test accuracy']:.0f}" for _, row in table.iterrows() if row["Round"] == 3}
        return {f"{card.label}: {card.value}" for card in app.metric if card.label == "Test accuracy"}

    if page == "curves":
        assert shown(runs=[own.name]) == {"UGS 57"}
        assert shown(runs=[example_of(own)]) == {"UGS 77"}
        assert shown(runs=[own.name, example_of(own)]) == {"UGS 57", "UGS (example) 77"}
    else:
        own_run, example_run = shown(runs=[own.name]), shown(runs=[example_of(own)])
        assert len(own_run) == len(example_run) == 1
        assert own_run != example_run
        assert shown(runs=[own.name, example_of(own)]) == own_run | example_run


@pytest.mark.parametrize(("page", "key"), [("curves", "runs"), ("tickets", "runs"), ("export", "runs")])
def test_multi_run_pickers_offer_run_and_example(own: Run, open_page: OpenPage, page: str, key: str) -> None:
    picker = open_page(page).multiselect(key=key)
    assert picker.options == ["UGS · Cora GCN", "UGS · Cora GCN · example"]
    assert picker.value == [own.name]


def test_single_run_pickers_offer_run_and_example(own: Run, open_page: OpenPage) -> None:
    for reference, tag in ((own.name, ""), (example_of(own), " · example")):
        app = open_page("subgraphs", run=reference)
        assert app.selectbox(key="run").options == ["UGS · Cora GCN", "UGS · Cora GCN · example"]
        assert app.selectbox(key="run").value == reference
        score = "57.0 %" if reference == own.name else "77.0 %"
        assert any(f"UGS · Cora GCN{tag}, seed 0" in each.value and score in each.value for each in app.caption)
    beside = open_page("subgraphs", run=own.name, beside=example_of(own))
    assert beside.selectbox(key="beside").value == example_of(own)


def test_the_run_list_has_both_and_only_own_runs_can_be_deleted(own: Run, open_page: OpenPage) -> None:
    app = open_page("runs", run=own.name)
    assert app.button(key=f"open-{own.name}")
    assert app.button(key=f"open-{example_of(own)}")
    assert app.button(key=f"delete-{own.name}")
    app.button(key=f"open-{example_of(own)}").click().run()
    assert app.query_params["run"] == example_of(own)
    assert example_of(own) in [each.value for each in app.caption]
    assert f"delete-{own.name}" not in [each.key for each in app.button]


def test_an_old_link_opens_the_own_run_else_the_example(own: Run, store: Store, open_page: OpenPage) -> None:
    assert open_page("curves", runs=[own.name]).multiselect(key="runs").value == [own.name]
    store.move_to_trash(own.path)
    app = open_page("curves", runs=[own.name])
    assert app.multiselect(key="runs").value == [example_of(own)]
    assert ["the example of that name" in toast.value for toast in app.toast] == [True]
    assert open_page("runs", run=own.name).query_params["run"] == example_of(own)


def test_run_and_example_have_separate_annotations(own: Run, store: Store) -> None:
    store.annotate(own.name, {"title": "Mine"})
    own_run, example_run = open_catalog().runs
    assert (own_run.annotation.title, example_run.annotation.title) == ("Mine", "")
    store.annotate(example_run.annotation_key, {"title": "Theirs", "hidden": True})
    assert (own_run.annotation.title, example_run.annotation.title) == ("Mine", "Theirs")
    assert not own_run.annotation.hidden
    # Earlier versions kept the annotation of an example under the bare name.
    store.annotate(example_run.annotation_key, {"title": "", "hidden": False})
    store.annotate(own.name, {"title": "Of the paper", "note": "kept"})
    store.move_to_trash(own.path)
    (example_run,) = open_catalog().runs
    # The title was of the user's own run, which lies in the trash.
    assert example_run.annotation.title == ""
    store.empty_trash()
    assert example_run.annotation.title == "Of the paper"
    store.annotate(example_run.annotation_key, {"color": "blue"})
    expected = {"title": "Of the paper", "note": "kept", "color": "blue"}
    assert {name: each.as_json() for name, each in store.annotations().entries.items()} == {
        example_run.annotation_key: expected
    }


def test_the_command_line_distinguishes_run_and_example(
    own: Run, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--store", str(store.root)]

    def document_of(*arguments: str) -> Any:
        assert glt([*arguments, *place, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    own_run, example_run = document_of("show", own.name), document_of("show", example_of(own))
    assert (own_run["run"], example_run["run"]) == (own.name, example_of(own))
    assert ("example" in own_run, example_run["example"]) == (False, True)
    assert [round(each["seeds"][0]["rounds"][3]["test"], 6) for each in (own_run, example_run)] == [0.57, 0.77]
    assert [each["run"] for each in document_of("list")] == [own.name]
    both = document_of("list", "--examples")
    assert [(each["run"], each.get("example", False)) for each in both] == [(own.name, False), (example_of(own), True)]
    assert document_of("annotate", example_of(own), "--title", "Theirs")["annotation"] == {"title": "Theirs"}
    assert "annotation" not in document_of("show", own.name)
    assert analysis(["compare", own.name, example_of(own), *place, "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert (compared["one"], compared["other"], compared["shared_seeds"]) == (own.name, example_of(own), [0])
    # Runs of two stores with one name are named by their paths.
    path = str(store.root.parent / "other" / own.name)
    shutil.copytree(own.path, path)
    for one, other in ((own.name, example_of(own)), (str(own.path), path)):
        assert analysis(["table", "tickets", own.name, other, *place, "--format", "csv"]) == 0
        table = capsys.readouterr().out
        assert f"\n{one}," in table
        assert f"\n{other}," in table
    assert glt(["delete", example_of(own), *place]) == 1
    assert "cannot be deleted" in capsys.readouterr().err
    assert (paths.EXAMPLES / own.name).is_dir()
    store.move_to_trash(own.path)
    store.empty_trash()
    assert glt(["show", own.name, *place]) == 1
    assert f"the bundled example of that name is {example_of(own)}." in capsys.readouterr().err


def test_a_reference_that_is_also_a_path_is_refused(
    own: Run, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "here" / "examples" / own.name
    here.mkdir(parents=True)
    (here / paths.CONFIG).write_bytes((own.path / paths.CONFIG).read_bytes())
    monkeypatch.chdir(tmp_path / "here")
    assert glt(["show", example_of(own), "--store", str(store.root)]) == 1
    assert f"write ./{example_of(own)} for the folder" in capsys.readouterr().err
    assert glt(["show", f"./{example_of(own)}", "--store", str(store.root)]) == 0


ONE = [("subgraphs", {}), ("measurements", {"view": "elements"})]
SEVERAL = ["curves", "tickets", "export", "measurements"]


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Run, Run]:
    """The run that will be missing, and another one that a page could wrongly take instead."""
    return make_run("random"), make_run("ugs")


def reports_missing(app: AppTest, run: Run) -> bool:
    assert not app.exception
    return any(f"The run {run.name} is no longer in the store" in error.value for error in app.error)


@pytest.mark.parametrize(("page", "view"), ONE)
def test_a_single_run_page_reports_a_missing_run_until_it_returns(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str, view: dict[str, str]
) -> None:
    gone, other = pair
    app = open_page(page, run=gone.name, **view)
    store.annotate(gone.name, {"hidden": True})
    assert not app.run().error
    store.move_to_trash(gone.path)
    for _ in range(2):
        app.run()
        assert reports_missing(app, gone)
        assert app.selectbox(key="run").value is None
        assert app.selectbox(key="run").options == ["UGS · Cora GCN"]
        assert app.query_params["run"] == gone.name
    store.restore(gone.name)
    assert not app.run().error
    assert app.selectbox(key="run").value == gone.name
    store.move_to_trash(gone.path)
    app.run()
    app.selectbox(key="run").set_value(other.name).run()
    assert not app.error
    assert app.query_params["run"] == other.name


@pytest.mark.parametrize("page", SEVERAL)
def test_a_multi_run_page_reports_a_missing_run_and_shows_the_rest(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str
) -> None:
    gone, other = pair
    app = open_page(page, runs=[gone.name, other.name])
    assert not app.error
    store.move_to_trash(gone.path)
    for _ in range(2):
        assert reports_missing(app.run(), gone)
        assert app.multiselect(key="runs").value == [other.name]
        assert app.query_params["runs"] == [other.name, gone.name]
    app.button(key="go-on-without-runs").click().run()
    assert not app.error
    assert app.query_params["runs"] == other.name


@pytest.mark.parametrize("page", SEVERAL)
def test_missing_runs_are_not_replaced_by_others(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str
) -> None:
    gone, other = pair
    app = open_page(page, runs=gone.name)
    store.move_to_trash(gone.path)
    assert reports_missing(app.run(), gone)
    assert app.multiselect(key="runs").value == []
    assert "No runs chosen" in [heading.value for heading in app.subheader]
    app.multiselect(key="runs").set_value([other.name]).run()
    assert not app.error


@pytest.mark.parametrize("page", [*SEVERAL, "subgraphs", "runs"])
def test_a_run_in_the_trash_is_reported_in_an_empty_store(
    make_run: MakeRun, store: Store, open_page: OpenPage, page: str
) -> None:
    run = make_run("ugs")
    app = open_page(page, **{"run" if page in ("subgraphs", "runs") else "runs": run.name})
    store.move_to_trash(run.path)
    assert reports_missing(app.run(), run)
    assert "It is in the trash" in app.error[0].value


def test_a_missing_second_run_is_named_and_not_replaced(
    pair: tuple[Run, Run], make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    gone, other = pair
    third = make_run("admm")
    beside = open_page("subgraphs", run=other.name, beside=gone.name)
    app = open_page("compare", one=gone.name, other=other.name)
    store.move_to_trash(gone.path)
    assert reports_missing(app.run(), gone)
    assert app.selectbox(key="one").value is None
    app.selectbox(key="one").set_value(third.name).run()
    assert not app.error
    assert (app.selectbox(key="one").value, app.selectbox(key="other").value) == (third.name, other.name)
    assert reports_missing(beside.run(), gone)
    assert beside.selectbox(key="beside").value == ""
    beside.button(key="go-on-without-beside").click().run()
    assert not beside.error


@pytest.mark.parametrize("action", ["delete", "mend"])
def test_a_button_of_a_missing_run_acts_on_no_other_run(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, action: str
) -> None:
    gone, other = pair
    app = open_page("runs", run=gone.name)
    button = app.button(key=f"{action}-{gone.name}")
    store.move_to_trash(gone.path)
    button.click().run()
    assert reports_missing(app, gone)
    keys = {each.key for each in app.button}
    assert f"{action}-{other.name}" not in keys
    assert "confirm-delete" not in keys
    assert not app.toast
    assert app.query_params["run"] == gone.name
    app.button(key=f"open-{other.name}").click().run()
    assert not app.error
    assert f"{action}-{other.name}" in {each.key for each in app.button}


@pytest.mark.parametrize("way", ["renamed", "moved"])
def test_a_renamed_or_moved_folder_is_missing(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, way: str
) -> None:
    gone, _ = pair
    app = open_page("runs", run=gone.name)
    target = store.root / f"{gone.name}-old" if way == "renamed" else store.root.parent / gone.name
    gone.path.rename(target)
    assert reports_missing(app.run(), gone)
    target.rename(gone.path)
    assert not app.run().error


def test_a_missing_store_is_reported_and_no_example_replaces_the_run(
    example: Run, make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    run = make_run("random")
    app = open_page("subgraphs", run=run.name)
    store.root.rename(store.root.with_name("elsewhere"))
    assert reports_missing(app.run(), run)
    assert any("no longer exists" in error.value for error in app.error)
    assert app.selectbox(key="run").value is None


def test_a_run_that_became_damaged_is_reported(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    damaged, _ = pair
    app = open_page("subgraphs", run=damaged.name)
    (damaged.path / "config.json").write_text("{")
    app.run()
    assert any(f"The run {damaged.name} cannot be opened" in error.value for error in app.error)
    assert app.selectbox(key="run").value is None


def test_a_missing_own_run_is_not_replaced_by_its_example(
    example: Run, make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    own = make_run("ugs")
    assert own.name == example.name
    app = open_page("subgraphs", run=own.name)
    store.move_to_trash(own.path)
    assert reports_missing(app.run(), own)
    assert app.selectbox(key="run").value is None
    assert app.selectbox(key="run").options == ["UGS · Cora GCN · example"]


def test_a_missing_pretraining_is_not_replaced_by_a_random_start(
    make_pretraining: MakePretraining, store: Store, open_page: OpenPage
) -> None:
    pretraining = make_pretraining(hidden=512)
    app = open_page("launch", pretraining=pretraining.name)
    assert app.selectbox(key="pretraining").value == pretraining.name
    store.move_to_trash(pretraining.path)
    app.run()
    assert any(f"The run {pretraining.name} is no longer in the store" in error.value for error in app.error)
    assert app.button(key="start-runs").disabled
    app.button(key="go-on-without-pretraining").click().run()
    assert not app.error
    assert not app.button(key="start-runs").disabled


def test_the_log_of_a_missing_run_is_one_sentence(pair: tuple[Run, Run]) -> None:
    gone, _ = pair

    def page(folder: str) -> None:
        import shutil
        from pathlib import Path

        from app.components import frame
        from app.views import run_detail
        from glt.store import Run

        run = Run.open(Path(folder))
        shutil.rmtree(folder)
        frame.or_why()(run_detail.seed_logs)(run, 10)

    app = AppTest.from_function(page, kwargs={"folder": str(gone.path)}).run()
    assert not app.exception
    assert len(app.error) == 1
    assert gone.name in app.error[0].value


def test_a_bundle_holds_only_the_requested_runs(pair: tuple[Run, Run], store: Store, open_page: OpenPage) -> None:
    gone, other = pair
    app = open_page("export", what="bundle", runs=[gone.name, other.name])
    store.move_to_trash(gone.path)
    app.button(key="make-bundle").click().run()
    assert reports_missing(app, gone)
    # It is still offered: the pressed button was for both runs.
    assert app.button(key="make-bundle")
    assert "export: bundle" not in app.session_state


def test_a_button_acts_on_the_run_it_was_drawn_for() -> None:
    def page(about: str) -> None:
        import streamlit as st

        from app.components import controls

        about = st.session_state.setdefault("about", about)
        if controls.pressed("Do it", "do", about):
            st.write(f"done: {about}")

    app = AppTest.from_function(page, kwargs={"about": "one"}).run()
    app.button(key="do").click().run()
    assert [each.value for each in app.markdown] == ["done: one"]
    app.run()
    app.session_state["about"] = "other"
    app.button(key="do").click().run()
    assert not app.markdown
