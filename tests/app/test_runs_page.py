"""The Runs page: states, errors, buttons, annotations, and the check and repair of damaged runs."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.components import run_select
from app.data.runs import open_catalog
from app.views import runs as runs_page
from app.views.run_detail import short
from glt import jobs
from glt.doctor import examine, repair
from glt.formats import as_typed
from glt.jobs.launcher import Started
from glt.jobs.queue import join_line, line_of
from glt.store import Progress, Run, SeedRun, State, Status, Store, bundled_examples, paths
from glt.store.locks import named_process
from tests.app.conftest import MakeRun, OpenPage, texts


def test_a_failed_seed_shows_its_error_and_can_be_resumed(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def resume(store: Store, run: Run, seeds: list[int]) -> Started[Run]:
        calls.append((run.name, list(seeds)))
        return Started(run, finished=tuple(seeds))

    monkeypatch.setattr(jobs, "resume", resume)
    run = make_run("ugs", states=("done", "failed"), rounds=1)
    app = open_page("runs")
    assert "lower learning_rate" in texts(app)
    app.button(key=f"resume-{run.name}-1").click().run()
    assert calls == [(run.name, [1])]
    # Another process finished it meanwhile.
    assert [each.value for each in app.toast] == ["Not started: seed 1 is already complete."]


def test_deletion_needs_confirmation(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.button(key=f"delete-{run.name}").click().run()
    assert not app.exception
    assert [one.name for one in store.runs()] == [run.name]
    assert app.button(key="confirm-delete").label == "Move to trash"


def test_dependencies_of_unfinished_runs_cannot_be_deleted(
    make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    source = make_run("ugs")
    ticket = make_run("reinit", states=("done", "stopped"), rounds=1, masks_of=source.name)
    app = open_page("runs", run=source.name)
    app.button(key=f"delete-{source.name}").click().run()
    assert f"{ticket.name} (seeds 0, 1 not complete) still needs it" in app.error[0].value.replace("\\", "")
    assert app.button(key="confirm-delete").disabled


def test_a_deleted_run_can_be_restored(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    store.move_to_trash(run.path)
    app = open_page("runs")
    app.button(key="restore").click().run()
    assert not app.exception
    assert app.selectbox(key="restored").options == [run.name]
    assert app.button(key="confirm-restore").label == "Restore"


def test_a_damaged_folder_is_named_and_the_others_are_shown(
    make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    make_run("ugs")
    damaged = make_run("random")
    (damaged.path / "config.json").write_text("{")
    app = open_page("runs")
    assert [damaged.name in warning.value for warning in app.warning] == [True]
    app.button(key=f"delete-{damaged.name}").click().run()
    assert app.button(key="confirm-delete").label == "Move to trash"


def test_runs_with_equal_titles_show_their_settings(make_run: MakeRun, open_page: OpenPage) -> None:
    wide, narrow = make_run("ugs", hidden=70, p_graph=0.2), make_run("ugs", hidden=7)
    make_run("random", hidden=7)
    app = open_page("runs")
    captions = [caption.value for caption in app.caption]
    assert captions.index("hidden = 7") < captions.index("hidden = 70")
    assert not [caption for caption in captions if "p_graph" in caption]
    keys = [button.key for button in app.button if button.key.startswith("open-")]
    assert keys.index(f"open-{narrow.name}") < keys.index(f"open-{wide.name}")


def test_runs_with_many_differences_show_their_name_suffix(make_run: MakeRun, open_page: OpenPage) -> None:
    several = {"p_graph": 0.2, "p_weight": 0.1, "hidden": 9, "dropout": 0.1, "learning_rate": 0.1, "layers": 3}
    runs = [make_run("ugs", **{name: value}) for name, value in several.items()]
    captions = {caption.value for caption in open_page("runs").caption}
    assert captions.issuperset(run.name[-8:] for run in runs)


def test_a_truncated_line_is_one_sentence_on_the_page(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    with (run.seed(0).path / "rounds.jsonl").open("a") as file:
        file.write('{"round": "three"}\n')
    app = open_page("curves")
    assert ["rounds.jsonl" in error.value for error in app.error] == [True]


def test_paths_are_shown_relative_to_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert short(tmp_path / "runs") == "~/runs"
    assert short(tmp_path.parent / "runs") == str(tmp_path.parent / "runs")


def test_runs_are_sorted_as_in_the_paper(make_run: MakeRun, store: Store) -> None:
    runs = [
        make_run("ugs"),
        make_run("random"),
        make_run("ugs", hidden=7, pretraining="first"),
        make_run("ugs", model="gin"),
        make_run("ugs", dataset="citeseer"),
        make_run("ugs", task="link"),
    ]
    assert [run.name for run in open_catalog().own] == [run.name for run in runs]


def test_figures_start_without_dependent_runs(make_run: MakeRun) -> None:
    plain, follower = make_run("ugs"), make_run("ugs", pretraining="first")
    assert run_select.together([plain, follower]) == [plain]
    assert run_select.together([follower]) == [follower]
    assert run_select.subject(follower).endswith(", pre-trained start")


def test_search_words_filter_the_run_list(
    make_run: MakeRun, store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_select, "SHOWN_FROM", 1)
    wide, narrow, other = make_run("ugs", hidden=64), make_run("ugs", hidden=6), make_run("random", hidden=64)
    app = open_page("runs", filter="UGS hidden=64.0")
    assert opened_by(app) == {wide.name}
    assert app.query_params["filter"] == "UGS hidden=64.0"
    app.text_input(key="filter").set_value("done hidden=64").run()
    assert opened_by(app) == {wide.name, other.name}
    app.text_input(key="filter").set_value("failed").run()
    assert not opened_by(app)
    app.text_input(key="filter").set_value(narrow.name).run()
    assert opened_by(app) == {narrow.name}
    store.annotate(other.name, {"note": "Tried on the LAPTOP"})
    app.text_input(key="filter").set_value("laptop").run()
    assert opened_by(app) == {other.name}
    assert not app.exception


def opened_by(app: AppTest) -> set[str]:
    """Return the names of the user's runs that have a card."""
    bundled = {run.name for run in bundled_examples()}
    return {button.key.removeprefix("open-") for button in app.button if button.key.startswith("open-")} - bundled


def test_the_number_of_cards_is_limited(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_page, "MOST_CARDS", 2)
    runs = [make_run("ugs", hidden=width) for width in range(2, 7)]
    app = open_page("runs", run=runs[-1].name)
    assert opened_by(app) == {runs[0].name, runs[1].name, runs[-1].name}
    app.button(key="more-runs").click().run()
    assert opened_by(app) == {runs[n].name for n in (0, 1, 2, 3, 4)}
    assert not app.exception


def test_default_runs_are_one_per_method(make_run: MakeRun) -> None:
    few = [make_run("ugs", hidden=width) for width in range(2, 7)]
    assert run_select.together(few) == few
    usual, random = make_run("ugs"), make_run("random", hidden=3)
    many = [*few, *(make_run("random", hidden=width, p_graph=0.2) for width in range(2, 10)), random, usual]
    assert run_select.together(many) == [random, usual]


def test_a_queued_seed_shows_its_position(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    at_work = make_run("ugs", states=("running",), rounds=1)
    waits = make_run("random", states=("queued", "queued"), rounds=0)
    line = line_of(store.queue_folder(), "cpu")
    locks = [join_line(line, 12.5 + seed)[1] for seed in (0, 1)]
    for seed in (0, 1):
        _report(waits.seed(seed), "queued", queued_at=12.5 + seed)
    now = Progress(round=1, rounds=3, stage="search", epoch=2, epochs=5, fraction=0.3, seconds_left=75.0)
    _report(at_work.seed(0), "running", progress=now)
    app = open_page("runs", run=waits.name)
    shown = [caption.value for caption in app.caption if caption.value.startswith("waits")]
    assert shown == [
        "waits for a free core, place 1 in the queue; UGS · Cora GCN, seed 0, ends in 1 min 15 s",
        "waits for a free core, place 2 in the queue",
    ]
    _report(at_work.seed(0), "running", progress=now.model_copy(update={"seconds_left": None}))
    assert "place 1 in the queue; UGS · Cora GCN, seed 0, is running" in texts(app.run())
    for lock in locks:
        os.close(lock)
    assert [each.value for each in app.run().caption if each.value.startswith("waits")] == ["waits for a free core"] * 2


def test_idle_page_reruns_when_a_run_starts(make_run: MakeRun, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run("ugs", states=("stopped",), rounds=1)
    calls: list[int] = []
    monkeypatch.setattr(st, "rerun", lambda: calls.append(1))
    monkeypatch.setenv("GLT_STORE", str(store.root))
    runs_page._wake(store.queue_path)
    assert calls == []
    _, lock = join_line(line_of(store.queue_folder(), "cpu"), 12.5)
    runs_page._wake(store.queue_path)
    assert calls == []
    _report(run.seed(0), "queued", queued_at=12.5)
    runs_page._wake(store.queue_path)
    assert calls == [1]
    os.close(lock)


def test_a_starting_seed_shows_its_elapsed_time(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run("ugs", states=("running",), rounds=0)
    _report(run.seed(0), "running", progress=None, running_since=time.time() - 200)
    app = open_page("runs", run=run.name)
    shown = re.search(r"starting: loading torch and the data, (\d+) min (\d+) s so far", texts(app))
    assert shown is not None
    assert 60 * int(shown[1]) + int(shown[2]) >= 200
    assert "Empty: the log only records problems." in texts(app)


def _report(seed_run: SeedRun, state: State, **changes: object) -> None:
    """Write a status of a live worker; this process stands in for it."""
    seed_run.write_status(Status.model_validate({"state": state, "seed": seed_run.seed, **named_process(), **changes}))


NASTY = "<script>alert(1)</script> [x](http://y) $a$"


def test_a_run_can_be_annotated(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.text_input(key=f"annotation-title-0-{run.name}").set_value("Mine")
    app.text_area(key=f"annotation-note-0-{run.name}").set_value("one\ntwo")
    app.button_group(key=f"annotation-color-0-{run.name}").set_value("blue")
    app.button(key=f"save-annotation-{run.name}").click().run()
    assert not app.exception
    assert store.annotations().of(run.name).as_json() == {"title": "Mine", "note": "one\ntwo", "color": "blue"}
    assert app.button(key=f"open-{run.name}").label == "**Mine**"
    assert "one  \ntwo" in texts(app)
    assert "UGS · Cora GCN" in texts(app)


def test_the_editor_shows_annotations_of_another_tab(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    store.annotate(run.name, {"title": "theirs"})
    app.run()
    assert app.text_input(key=f"annotation-title-1-{run.name}").value == "theirs"
    app.text_area(key=f"annotation-note-1-{run.name}").set_value("mine")
    app.button(key=f"save-annotation-{run.name}").click().run()
    assert store.annotations().of(run.name).as_json() == {"title": "theirs", "note": "mine"}


def test_a_title_reaches_pickers_captions_and_tables(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    make_run("random")
    open_page("curves")
    store.annotate(run.name, {"title": "Mine"})
    app = open_page("curves")
    assert app.multiselect(key="runs").options == ["Mine", "Random pruning · Cora GCN"]
    assert "Mine and Random pruning" in texts(app)
    assert "Mine" in app.dataframe[0].value["Method"].tolist()


def test_markup_in_a_title_is_escaped(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    store.annotate(run.name, {"title": NASTY, "note": f"# {NASTY}"})
    for page in ("runs", "curves", "tickets", "compare", "subgraphs", "measurements"):
        app = open_page(page)
        shown = texts(app)
        assert "<script>" not in shown.replace("\\<script>", ""), page
        assert "[x](http" not in shown.replace("\\[x\\](http", ""), page


@pytest.mark.parametrize("title", ["Original", "Measure", "Round", "Difference"])
def test_a_title_equal_to_a_heading_breaks_no_table(
    make_run: MakeRun, store: Store, open_page: OpenPage, title: str
) -> None:
    store.annotate(make_run("ugs").name, {"title": title})
    make_run("random")
    page = "measurements" if title in ("Original", "Measure") else "compare"
    app = open_page(page)
    headings = [str(column) for table in (*app.table, *app.dataframe) for column in table.value.columns]
    assert f"{title} (run)" in headings


def test_a_hidden_run_is_offered_only_if_the_url_names_it(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    hidden, seen = make_run("ugs"), make_run("random")
    store.annotate(hidden.name, {"hidden": True})
    assert len(open_page("curves").multiselect(key="runs").options) == 1
    assert open_page("curves").query_params["runs"] == seen.name
    named = open_page("curves", runs=hidden.name)
    assert named.multiselect(key="runs").value == [hidden.name]
    assert named.query_params["runs"] == hidden.name
    assert open_page("subgraphs", run=hidden.name).selectbox(key="run").value == hidden.name
    assert open_page("subgraphs").selectbox(key="run").value == seen.name
    # Where all runs are hidden, they are offered.
    store.annotate(seen.name, {"hidden": True})
    assert run_select.together([hidden]) == [hidden]
    assert len(open_page("curves").multiselect(key="runs").options) == 2


def test_hidden_runs_come_last_on_request(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
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


def test_an_example_is_annotated_in_the_users_store(example: Run, store: Store, open_page: OpenPage) -> None:
    app = open_page("runs")
    app.text_input(key=f"annotation-title-0-examples/{example.name}").set_value("of the paper")
    app.button(key=f"save-annotation-examples/{example.name}").click().run()
    assert not app.exception
    assert (store.root / paths.ANNOTATIONS).exists()
    assert not (example.path.parent / paths.ANNOTATIONS).exists()
    assert open_page("curves").multiselect(key="runs").options == ["of the paper · example"]
    assert all(not each.annotation.as_json() for each in bundled_examples(example.path.parent))


def test_a_damaged_file_is_one_sentence(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    make_run("ugs")
    (store.root / paths.ANNOTATIONS).write_text("{")
    app = open_page("runs")
    assert ["annotations.json is damaged" in warning.value for warning in app.warning] == [True]
    assert not open_page("curves").exception


def test_tables_escape_spreadsheet_formulas_in_titles(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    """The browser saves the tables of a page unchanged."""
    store.annotate(make_run("ugs").name, {"title": "=1+1"})
    store.annotate(make_run("random").name, {"title": "@SUM(A1)"})
    for page in ("curves", "compare"):
        tables = [each.value for each in open_page(page).dataframe]
        shown = ",".join(str(text) for table in tables for text in [*table, *table.to_numpy().ravel()])
        assert shown.count("'=1+1") >= 1
        assert shown.count("=1+1") == shown.count("'=1+1")


def test_too_long_a_title_is_refused(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.text_input(key=f"annotation-title-0-{run.name}").set_value("long " * 30)
    app.text_area(key=f"annotation-note-0-{run.name}").set_value("a note")
    app.button(key=f"save-annotation-{run.name}").click().run()
    assert "60" in app.error[0].value
    assert store.annotations().of(run.name).as_json() == {}
    assert app.text_area(key=f"annotation-note-0-{run.name}").value == "a note"


def flip_score(run: Run) -> None:
    path = run.path / "seed-0" / "rounds.jsonl"
    content = path.read_bytes()
    assert b'"test":0.79' in content
    path.write_bytes(content.replace(b'"test":0.79', b'"test":0.89'))


def test_a_damaged_record_is_reported_and_can_be_repaired(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    flip_score(run)
    app = open_page("runs")
    assert ["rounds.jsonl is damaged in line 2" in error.value for error in app.error] == [True]
    assert f"{as_typed('doctor')} {run.name} --repair --store" in texts(app)
    app.button(key=f"doctor-{run.name}").click().run()
    assert "rounds 1 to 3 are set aside" in texts(app)
    assert app.button(key="confirm-mend").label == "Repair 1 file"
    # AppTest closes a dialog with every click, so what its button does is done here.
    repair(examine(run.path))
    app = open_page("runs")
    assert not [error.value for error in app.error]
    assert run.seed(0).status().state == "stopped"
    assert len(run.seed(0).rounds()) == 1
    assert len(list((run.path / "set-aside").rglob("round-0*.safetensors"))) == 3
    assert f"resume-{run.name}" in [button.key for button in app.button]


def test_check_finds_damaged_weights(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("runs")
    app.button(key=f"mend-{run.name}").click().run()
    assert ["are intact" in toast.value for toast in app.toast] == [True]
    path = run.path / "seed-1" / "weights-03.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    app = open_page("runs")
    assert not app.error
    app.button(key=f"mend-{run.name}").click().run()
    assert "weights-03.safetensors is damaged" in texts(app)
    assert app.button(key="confirm-mend").label == "Repair 1 file"


def test_an_unreadable_run_shows_its_repair_command(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random")
    run = make_run("ugs")
    (run.path / "config.json").write_bytes(b"\x00" * 300)
    app = open_page("runs")
    assert f"{as_typed('doctor')} {run.name} --repair --store" in texts(app)
    app.button(key=f"doctor-{run.name}").click().run()
    assert "start a run with the same settings" in texts(app)


@pytest.mark.parametrize("page", ["curves", "tickets", "compare", "export", "subgraphs", "measurements"])
def test_a_damaged_run_leaves_the_others_usable(make_run: MakeRun, open_page: OpenPage, page: str) -> None:
    run, damaged = make_run("random"), make_run("ugs")
    flip_score(damaged)
    assert not open_page(page, **({"run": run.name} if page == "subgraphs" else {"runs": [run.name]})).error
    if page in ("subgraphs", "measurements"):
        return
    app = open_page(page)
    assert not app.error
    shown = [warning.value for warning in app.warning]
    assert [f"{damaged.name}/seed-0/rounds.jsonl is damaged in line 2" in sentence for sentence in shown] == [True]
