"""A store that cannot be written is read like any other; nothing is even tried, and what must write is one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.cli.main import main as analysis
from app.main import PAGES
from glt.cli.main import main as glt
from glt.store import Run, Store
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as store  # noqa: PLC0414
from tests.faults.breaking_disk import Disk
from tests.faults.effort import THOROUGH

NAMES = [title.lower() for title in PAGES] if THOROUGH else ["runs"]
SETTINGS = ("--set", "rounds=1", "retrain_epochs=2", "epochs=1", "hidden=16")


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    return make_run("ugs", states=("done", "stopped"), rounds=2)


@pytest.fixture
def disk(run: Run, store: Store, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The store's disk, read-only from now on."""
    disk = Disk(store.root, at=1, fault="EROFS", lasts=True)
    disk.install(monkeypatch.setattr)
    return disk


def test_everything_that_reads_works_on_the_command_line(
    run: Run, store: Store, disk: Disk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--store", str(store.root))
    assert glt(["list", *place, "--json"]) == 0
    assert [each["seeds"] for each in json.loads(capsys.readouterr().out)] == [{"0": "stopped", "1": "stopped"}]
    assert glt(["show", *place, run.name]) == 0
    if THOROUGH:
        assert analysis(["measure", *place, run.name, "--round", "1", "--json"]) == 0
        figure = tmp_path / "figure.pdf"
        assert analysis(["figure", "accuracy", *place, run.name, "--x", "graph", "--out", str(figure)]) == 0
        assert figure.exists()
    assert disk.done == []


@pytest.mark.parametrize(
    "command",
    [
        ["run", *SETTINGS],
        ["resume", "RUN", "--seeds", "1"],
        ["delete", "RUN"],
        ["annotate", "RUN", "--title", "words"],
    ],
    ids=lambda command: command[0],
)
def test_what_writes_is_refused_in_one_sentence(
    run: Run, store: Store, disk: Disk, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    verb, *rest = [run.name if part == "RUN" else part for part in command]
    assert glt([verb, "--store", str(store.root), *rest]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "cannot be written (Read-only file system): choose another store with --store or GLT_STORE" in err
    assert run.seed(0).whole_rounds() == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_it_and_writes_nothing(name: str, disk: Disk, open_page: Callable[..., AppTest]) -> None:
    app = open_page(name)
    assert not app.exception
    assert not app.error
    assert disk.done == []


def test_starting_from_the_page_is_one_sentence(disk: Disk, open_page: Callable[..., AppTest]) -> None:
    app = open_page("launch", methods="random", seeds="0", rounds="1", epochs="1", retrain_epochs="1", hidden="16")
    app.button(key="start").click().run()
    assert not app.exception
    assert ["cannot be written (Read-only file system)" in error.value for error in app.error] == [True]
