"""A damaged run on the pages: its sentence, the command and the button that mend it, and other runs beside it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from glt.commands import command
from glt.doctor import examine, repair
from glt.store import Run

OpenPage = Callable[..., AppTest]
MakeRun = Callable[..., Run]


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.error, app.warning)
    return " ".join(str(element.value) for kind in kinds for element in kind)


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
    assert f"{command('doctor')} {run.name} --repair --store" in words(app)
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
    assert ["as it was written" in toast.value for toast in app.toast] == [True]


def test_a_folder_that_cannot_be_opened_has_its_command(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random")
    run = make_run("ugs")
    (run.path / "config.json").write_bytes(b"\x00" * 300)
    app = open_page("runs")
    assert not app.exception
    assert f"{command('doctor')} {run.name} --repair --store" in words(app)
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
