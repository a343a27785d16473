"""Actions on runs: annotations, and the check and repair of damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.components import run_select
from app.data import runs
from glt.doctor import examine, repair
from glt.formats import as_typed
from glt.store import Run, Store, bundled_examples, paths
from glt.store.examples import pack_run

NASTY = "<script>alert(1)</script> [x](http://y) $a$"
MakeRun = Callable[..., Run]
OpenPage = Callable[..., AppTest]


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.subheader, app.error, app.warning)
    return " ".join(str(element.value) for kind in kinds for element in kind)


def test_a_run_is_named_noted_and_coloured(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.text_input(key=f"annotation-title-{run.name}").set_value("Mine")
    app.text_area(key=f"annotation-note-{run.name}").set_value("one\ntwo")
    app.button_group(key=f"annotation-color-{run.name}").set_value("blue")
    app.button(key=f"save-annotation-{run.name}").click().run()
    assert not app.exception
    assert store.annotations().of(run.name).as_json() == {"title": "Mine", "note": "one\ntwo", "color": "blue"}
    assert app.button(key=f"open-{run.name}").label == "**Mine**"
    assert "one  \ntwo" in words(app)
    assert "UGS · Cora GCN" in words(app)


def test_the_editor_shows_what_another_tab_said(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    store.annotate(run.name, {"title": "theirs"})
    app.run()
    assert app.text_input(key=f"annotation-title-{run.name}").value == "theirs"
    app.text_area(key=f"annotation-note-{run.name}").set_value("mine")
    app.button(key=f"save-annotation-{run.name}").click().run()
    assert store.annotations().of(run.name).as_json() == {"title": "theirs", "note": "mine"}


def test_a_title_reaches_pickers_captions_and_tables(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    make_run("random")
    open_page("curves")
    store.annotate(run.name, {"title": "Mine"})
    app = open_page("curves")
    assert app.multiselect(key="runs").options == ["Mine", "Random pruning · Cora GCN"]
    assert "Mine and Random pruning" in words(app)
    assert "Mine" in app.dataframe[0].value["Method"].tolist()


def test_markup_in_a_title_is_shown_as_it_is(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    store.annotate(run.name, {"title": NASTY, "note": f"# {NASTY}"})
    for page in ("runs", "curves", "tickets", "compare", "subgraphs", "measurements"):
        app = open_page(page)
        assert not app.exception, page
        shown = words(app)
        assert "<script>" not in shown.replace("\\<script>", ""), page
        assert "[x](http" not in shown.replace("\\[x\\](http", ""), page


@pytest.mark.parametrize("title", ["Original", "Measure", "Round", "Difference"])
def test_a_title_that_is_a_heading_too_breaks_no_table(
    make_run: MakeRun, store: Store, open_page: OpenPage, title: str
) -> None:
    store.annotate(make_run("ugs").name, {"title": title})
    make_run("random")
    page = "measurements" if title in ("Original", "Measure") else "compare"
    app = open_page(page)
    assert not app.exception
    headings = [str(column) for table in (*app.table, *app.dataframe) for column in table.value.columns]
    assert f"{title} (run)" in headings


def test_a_hidden_run_is_offered_nowhere_but_where_the_address_names_it(
    make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    hidden, seen = make_run("ugs"), make_run("random")
    store.annotate(hidden.name, {"hidden": True})
    assert len(open_page("curves").multiselect(key="runs").options) == 1
    assert open_page("curves").query_params["runs"] == seen.name
    named = open_page("curves", runs=hidden.name)
    assert named.multiselect(key="runs").value == [hidden.name]
    assert named.query_params["runs"] == hidden.name
    assert open_page("subgraphs", run=hidden.name).selectbox(key="run").value == hidden.name
    assert open_page("subgraphs").selectbox(key="run").value == seen.name


def test_where_all_runs_are_hidden_they_are_offered(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    store.annotate(run.name, {"hidden": True})
    app = open_page("curves")
    assert not app.exception
    assert app.query_params["runs"] == run.name
    assert run_select.together([run]) == [run]


def test_hidden_runs_stand_at_the_end_when_asked_for(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    hidden, seen = make_run("ugs"), make_run("random")
    app = open_page("runs", run=seen.name)
    app.button(key=f"open-{hidden.name}").click().run()
    app.button(key=f"hide-{hidden.name}").click().run()
    assert store.annotations().of(hidden.name).hidden
    assert [button.key for button in app.button if button.key.startswith("open-")] == [f"open-{seen.name}"]
    app.toggle(key="hidden").set_value(True).run()
    assert app.toggle(key="hidden").label == "Show 1 hidden"
    assert [button.key for button in app.button if button.key.startswith("open-")][-1] == f"open-{hidden.name}"
    assert app.query_params["hidden"] == "1"
    app.button(key=f"hide-{hidden.name}").click().run()
    assert not store.annotations().of(hidden.name).hidden


def test_a_note_is_found_by_the_filter(
    make_run: MakeRun, store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.components import run_select

    monkeypatch.setattr(run_select, "SHOWN_FROM", 1)
    noted, other = make_run("ugs"), make_run("random")
    store.annotate(noted.name, {"note": "Tried on the LAPTOP"})
    app = open_page("runs", filter="laptop")
    keys = {button.key for button in app.button if button.key.startswith("open-")}
    assert f"open-{noted.name}" in keys
    assert f"open-{other.name}" not in keys


def test_an_example_is_annotated_in_the_users_store(
    make_run: MakeRun, store: Store, open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run("ugs")
    packed = pack_run(run, tmp_path / "examples")
    store.move_to_trash(run.path)
    monkeypatch.setattr(runs, "EXAMPLES", tmp_path / "examples")
    app = open_page("runs")
    app.text_input(key=f"annotation-title-examples/{packed.name}").set_value("of the paper")
    app.button(key=f"save-annotation-examples/{packed.name}").click().run()
    assert not app.exception
    assert (store.root / paths.ANNOTATIONS).exists()
    assert not (packed.path.parent / paths.ANNOTATIONS).exists()
    assert open_page("curves").multiselect(key="runs").options == ["of the paper · example"]
    assert all(not each.annotation.as_json() for each in bundled_examples(tmp_path / "examples"))


def test_a_damaged_file_is_one_sentence(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    make_run("ugs")
    (store.root / paths.ANNOTATIONS).write_text("{")
    app = open_page("runs")
    assert not app.exception
    assert ["annotations.json is damaged" in warning.value for warning in app.warning] == [True]
    assert not open_page("curves").exception


def test_a_spreadsheet_computes_no_title_that_a_table_shows(
    make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    """The browser saves the tables of a page as they are."""
    store.annotate(make_run("ugs").name, {"title": "=1+1"})
    store.annotate(make_run("random").name, {"title": "@SUM(A1)"})
    for page in ("curves", "compare"):
        tables = [each.value for each in open_page(page).dataframe]
        shown = ",".join(str(text) for table in tables for text in [*table, *table.to_numpy().ravel()])
        assert shown.count("'=1+1") >= 1
        assert shown.count("=1+1") == shown.count("'=1+1")


def test_a_title_that_is_too_long_is_said_and_nothing_is_saved(
    make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.text_input(key=f"annotation-title-{run.name}").set_value("long " * 30)
    app.text_area(key=f"annotation-note-{run.name}").set_value("a note")
    app.button(key=f"save-annotation-{run.name}").click().run()
    assert "60" in app.error[0].value
    assert store.annotations().of(run.name).as_json() == {}
    assert app.text_area(key=f"annotation-note-{run.name}").value == "a note"


def flip_score(run: Run) -> None:
    path = run.path / "seed-0" / "rounds.jsonl"
    content = path.read_bytes()
    assert b'"test":0.79' in content
    path.write_bytes(content.replace(b'"test":0.79', b'"test":0.89'))


def test_a_changed_digit_is_said_and_offered_to_be_mended(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    flip_score(run)
    app = open_page("runs")
    assert not app.exception
    assert ["rounds.jsonl is damaged in line 2" in error.value for error in app.error] == [True]
    assert f"{as_typed('doctor')} {run.name} --repair --store" in words(app)
    app.button(key=f"doctor-{run.name}").click().run()
    assert "rounds 1 to 3 are set aside" in words(app)
    assert app.button(key="confirm-mend").label == "Repair 1 file"
    # AppTest closes a dialog with every click, so what its button does is done here.
    repair(examine(run.path))
    app = open_page("runs")
    assert not app.exception
    assert not [error.value for error in app.error]
    assert run.seed(0).status().state == "stopped"
    assert len(run.seed(0).rounds()) == 1
    assert len(list((run.path / "set-aside").rglob("round-0*.safetensors"))) == 3
    assert f"resume-{run.name}" in [button.key for button in app.button]


def test_check_finds_what_no_page_has_read(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    path = run.path / "seed-1" / "weights-03.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    app = open_page("runs")
    assert not app.error
    app.button(key=f"mend-{run.name}").click().run()
    assert "weights-03.safetensors is damaged" in words(app)
    assert app.button(key="confirm-mend").label == "Repair 1 file"


def test_a_sound_run_is_said_to_be_sound(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.button(key=f"mend-{run.name}").click().run()
    assert ["are intact" in toast.value for toast in app.toast] == [True]


def test_a_folder_that_cannot_be_opened_has_its_command(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random")
    run = make_run("ugs")
    (run.path / "config.json").write_bytes(b"\x00" * 300)
    app = open_page("runs")
    assert not app.exception
    assert f"{as_typed('doctor')} {run.name} --repair --store" in words(app)
    app.button(key=f"doctor-{run.name}").click().run()
    assert "start a run with the same settings" in words(app)


@pytest.mark.parametrize("page", ["curves", "subgraphs", "measurements", "tickets", "compare", "export"])
def test_pages_of_another_run_work(make_run: MakeRun, open_page: OpenPage, page: str) -> None:
    run, damaged = make_run("random"), make_run("ugs")
    flip_score(damaged)
    view = {"run": run.name} if page == "subgraphs" else {"runs": [run.name]}
    app = open_page(page, **view)
    assert not app.exception
    assert not [error.value for error in app.error]


@pytest.mark.parametrize("page", ["curves", "tickets", "compare", "export"])
def test_a_picture_of_several_runs_leaves_the_damaged_one_out(
    make_run: MakeRun, open_page: OpenPage, page: str
) -> None:
    make_run("random")
    damaged = make_run("ugs")
    flip_score(damaged)
    app = open_page(page)
    assert not app.exception
    assert not [error.value for error in app.error]
    told = [warning.value for warning in app.warning]
    assert [f"{damaged.name}/seed-0/rounds.jsonl is damaged in line 2" in sentence for sentence in told] == [True]
