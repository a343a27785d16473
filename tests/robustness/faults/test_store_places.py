"""Stores that are read-only, without locks, or in unusual places are read as usual or refused in one sentence."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.cli.main import main as analysis
from app.main import PAGES
from glt.cli.main import main as glt
from glt.datasets.cache import file_lock
from glt.store import Run, Store
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as store  # noqa: PLC0414
from tests.robustness.faults.conftest import THOROUGH
from tests.robustness.faults.every_write import Disk

Capture = pytest.CaptureFixture[str]
OpenPage = Callable[..., AppTest]
NoLocks = Callable[[int], None]

SITE = Path(__file__).parents[2] / "odd_machine"
# Errors of flock: NFS without its lock service, FUSE, file systems without locks.
ERRORS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
SHORT = ("--set", "rounds=1", "retrain_epochs=2", "epochs=1", "hidden=16")
LAUNCH = {"methods": "random", "seeds": "0", "rounds": "1", "epochs": "1", "retrain_epochs": "1", "hidden": "16"}
WRITING = (
    ["run", *SHORT],
    ["resume", "RUN"],
    ["delete", "RUN"],
    ["annotate", "RUN", "--title", "words"],
    ["sweep", "--dataset", "cora", "--grid", "hidden=8,16", *SHORT[:-1]],
    ["pretrain", "--dataset", "cora", "--augmentation", "edges", "--set", "epochs=1"],
    ["reproduce", "node-classification", "--seeds", "7"],
)


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    """A run with a finished and a stopped seed, whose locks workers have left behind."""
    run = make_run("ugs", states=("done", "stopped"), rounds=2)
    for seed in (0, 1):
        run.seed(seed).lock_path.touch()
    return run


@pytest.fixture
def no_locks(run: Run, monkeypatch: pytest.MonkeyPatch) -> NoLocks:
    """Let every attempt to lock fail with an error from now on."""

    def begin(error: int) -> None:
        def refuse(descriptor: int, how: int) -> None:
            raise OSError(error, os.strerror(error))

        monkeypatch.setattr(fcntl, "flock", refuse)

    return begin


def sentence(store: Store, error: int) -> str:
    return (
        f"The store {store.root} is on a file system without locks ({os.strerror(error)}), so nothing can be "
        "run or changed in it: choose a store on a local disk with --store or GLT_STORE, or enable locks on this one."
    )


def on_store(command: list[str], run: Run) -> list[str]:
    """Return the arguments of a command on the run's store, with the run's name for RUN."""
    verb, *rest = [run.name if part == "RUN" else part for part in command]
    return [verb, "--store", str(run.path.parent), *rest]


@pytest.mark.parametrize("command", WRITING, ids=lambda command: command[0])
def test_writing_without_locks_names_the_remedy(
    run: Run, store: Store, no_locks: NoLocks, capsys: Capture, command: list[str]
) -> None:
    for error in ERRORS:
        no_locks(error)
        assert glt(on_store(command, run)) == 1
        assert capsys.readouterr().err == f"{sentence(store, error)}\n"
        assert [each.name for each in store.runs()] == [run.name]


def test_the_doctor_without_locks_checks_the_runs(run: Run, store: Store, no_locks: NoLocks, capsys: Capture) -> None:
    (store.queue_folder() / "1-2-3.ticket").touch()
    for error in ERRORS:
        no_locks(error)
        assert glt(["doctor", "--store", str(store.root)]) == 1
        printed = capsys.readouterr()
        assert sentence(store, error) in printed.out.splitlines()
        assert "can be written" not in printed.out
        assert "1 run checked" in printed.out
        assert "ticket" not in printed.out
        assert printed.err == ""


def test_reading_needs_no_locks(run: Run, store: Store, tmp_path: Path, no_locks: NoLocks, capsys: Capture) -> None:
    commands = [on_store(command, run) for command in (["list"], ["show", "RUN"])]
    before = [glt(command) for command in commands], capsys.readouterr()
    no_locks(errno.ENOLCK)
    assert ([glt(command) for command in commands], capsys.readouterr()) == before
    with file_lock(tmp_path / "lock", "reading"):
        pass
    assert capsys.readouterr().err == ""


def test_pages_without_locks_show_the_runs(run: Run, store: Store, no_locks: NoLocks, open_page: OpenPage) -> None:
    no_locks(errno.ENOLCK)
    for page, key in (
        (open_page("runs", run=run.name), f"resume-{run.name}"),
        (open_page("launch", **LAUNCH), "start-runs"),
    ):
        assert not page.exception
        assert not page.error
        page.button(key=key).click().run()
        assert not page.exception
        errors = [error.value.replace("\\", "").replace("\u2060", "") for error in page.error]
        assert errors == [sentence(store, errno.ENOLCK)]


def test_a_process_without_locks_names_the_remedy(run: Run, store: Store) -> None:
    command = [sys.executable, "-m", "glt", "resume", run.name, "--store", str(store.root)]
    environment = {**os.environ, "PYTHONPATH": str(SITE), "NO_LOCKS_ERROR": str(errno.ENOLCK)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"{sentence(store, errno.ENOLCK)}\n")


NAMES = [title.lower() for title in PAGES] if THOROUGH else ["runs"]


@pytest.fixture
def disk(run: Run, store: Store, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The store's disk, read-only from now on."""
    disk = Disk(store.root, at=1, fault="EROFS", lasts=True)
    disk.install(monkeypatch.setattr)
    return disk


def test_reading_a_read_only_store(run: Run, store: Store, disk: Disk, tmp_path: Path, capsys: Capture) -> None:
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


@pytest.mark.parametrize("command", WRITING[:4], ids=lambda command: command[0])
def test_writing_to_a_read_only_store_is_refused(run: Run, disk: Disk, capsys: Capture, command: list[str]) -> None:
    err = one_line(capsys, *on_store(command, run))
    assert "cannot be written (Read-only file system): choose another store with --store or GLT_STORE" in err
    assert run.seed(0).whole_rounds() == 3


@pytest.mark.parametrize("name", NAMES)
def test_pages_of_a_read_only_store_write_nothing(name: str, disk: Disk, open_page: OpenPage) -> None:
    app = open_page(name)
    assert not app.exception
    assert not app.error
    assert disk.done == []


def test_starting_in_a_read_only_store_is_refused(disk: Disk, open_page: OpenPage) -> None:
    app = open_page("launch", **LAUNCH)
    app.button(key="start-runs").click().run()
    assert not app.exception
    assert ["cannot be written (Read-only file system)" in error.value for error in app.error] == [True]


# Relative, through a link, and with unusual names.
NAMED = "../here/link/Läufe 2026, 图 🎟 'quoted' $HOME; *"
# As deep as the names of a run's files allow: a path holds 4,096 bytes.
DEEP = "/".join(["d" * 200] * 18)


def glt_in(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}{os.pathsep}{Path.cwd()}"}
    command = [sys.executable, "-m", "glt", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize("place", [NAMED, *([DEEP] if THOROUGH else [])])
def test_a_run_is_computed_and_listed(tmp_path: Path, place: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "real").mkdir()
    (here / "link").symlink_to(tmp_path / "real")
    done = glt_in("run", "--store", place, *SHORT, folder=here)
    assert done.returncode == 0, done.stderr
    listed = json.loads(glt_in("list", "--store", place, "--json", folder=here).stdout)
    assert [each["seeds"] for each in listed] == [{"0": "done"}]
    assert Store(here / place).runs()[0].seed(0).whole_rounds() == 2


def one_line(capsys: Capture, *arguments: str) -> str:
    """Run a verb that must fail with one line, and return that."""
    assert glt(arguments) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    return err


@pytest.mark.parametrize("verb", ["list", "run"])
def test_impossible_places_are_refused(tmp_path: Path, capsys: Capture, verb: str) -> None:
    settings = SHORT if verb == "run" else ()
    (tmp_path / "file").write_text("no folder")
    assert str(tmp_path / "file") in one_line(capsys, verb, "--store", str(tmp_path / "file"), *settings)
    assert (tmp_path / "file").read_text() == "no folder"
    for place in ("n" * 300, "/".join(["n" * 200] * 30)):
        one_line(capsys, verb, "--store", str(tmp_path / place), *settings)
