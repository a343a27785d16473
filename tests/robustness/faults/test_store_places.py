"""Stores that are read-only, keep no locks, or lie in odd places: read like any other, or one sentence says why not."""

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
from glt.cli.main import main
from glt.cli.main import main as glt
from glt.datasets.cache import file_lock
from glt.store import Run, Store
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as store  # noqa: PLC0414
from tests.robustness.faults.conftest import THOROUGH
from tests.robustness.faults.faulty_disk import Disk

SITE = Path(__file__).parents[2] / "no_locks"
# What flock answers: NFS without its lock service, FUSE, file systems that know no locks at all.
ERRORS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
SHORT = ("--set", "rounds=1", "retrain_epochs=2", "epochs=1", "hidden=16")
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
def no_locks(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
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


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("command", WRITING, ids=lambda command: command[0])
def test_what_needs_a_lock_names_the_store_and_the_remedy(
    run: Run,
    store: Store,
    no_locks: Callable[[int], None],
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    error: int,
) -> None:
    no_locks(error)
    verb, *rest = [run.name if part == "RUN" else part for part in command]
    assert glt([verb, "--store", str(store.root), *rest]) == 1
    assert capsys.readouterr().err == f"{sentence(store, error)}\n"
    assert [each.name for each in store.runs()] == [run.name]


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
def test_the_doctor_says_it_and_looks_at_the_runs_all_the_same(
    run: Run, store: Store, no_locks: Callable[[int], None], capsys: pytest.CaptureFixture[str], error: int
) -> None:
    store.queue_folder().mkdir(exist_ok=True)
    (store.queue_folder() / "1-2-3.ticket").touch()
    no_locks(error)
    assert glt(["doctor", "--store", str(store.root)]) == 1
    said = capsys.readouterr()
    assert sentence(store, error) in said.out.splitlines()
    assert "can be written" not in said.out
    assert "1 run checked" in said.out
    assert "ticket" not in said.out
    assert said.err == ""


def test_what_reads_is_as_ever(
    run: Run, store: Store, no_locks: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    before = [glt([verb, "--store", str(store.root), *rest]) for verb, *rest in (["list"], ["show", run.name])]
    told = capsys.readouterr()
    no_locks(errno.ENOLCK)
    assert [glt([verb, "--store", str(store.root), *rest]) for verb, *rest in (["list"], ["show", run.name])] == before
    assert capsys.readouterr() == told


def test_data_sets_are_read_without_waiting_for_others(
    tmp_path: Path, no_locks: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    no_locks(errno.ENOLCK)
    with file_lock(tmp_path / "lock", "reading"):
        pass
    assert capsys.readouterr().err == ""


def test_pages_show_the_runs_and_say_it_where_something_is_pressed(
    run: Run, store: Store, no_locks: Callable[[int], None], open_page: Callable[..., AppTest]
) -> None:
    no_locks(errno.ENOLCK)
    app = open_page("runs", run=run.name)
    assert not app.exception
    assert not app.error
    app.button(key=f"resume-{run.name}").click().run()
    assert not app.exception
    assert [shown(error.value) for error in app.error] == [sentence(store, errno.ENOLCK)]
    app = open_page("launch", methods="random", seeds="0", rounds="1", epochs="1", retrain_epochs="1", hidden="16")
    app.button(key="start").click().run()
    assert not app.exception
    assert [shown(error.value) for error in app.error] == [sentence(store, errno.ENOLCK)]


def shown(markdown: str) -> str:
    return markdown.replace("\\", "").replace("\u2060", "")


def test_a_process_of_its_own_says_it_too(run: Run, store: Store) -> None:
    command = [sys.executable, "-m", "glt", "resume", run.name, "--store", str(store.root)]
    environment = {**os.environ, "PYTHONPATH": str(SITE), "NO_LOCKS_ERROR": str(errno.ENOLCK)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"{sentence(store, errno.ENOLCK)}\n")


NAMES = [title.lower() for title in PAGES] if THOROUGH else ["runs"]
SETTINGS = ("--set", "rounds=1", "retrain_epochs=2", "epochs=1", "hidden=16")


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


# Relative, through a link, and named as people name things.
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
    done = glt_in("run", "--store", place, *SETTINGS, folder=here)
    assert done.returncode == 0, done.stderr
    listed = json.loads(glt_in("list", "--store", place, "--json", folder=here).stdout)
    assert [each["seeds"] for each in listed] == [{"0": "done"}]
    assert Store(here / place).runs()[0].seed(0).whole_rounds() == 2


def one_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a verb that must fail with one line, and return that."""
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    return err


@pytest.mark.parametrize("verb", ["list", "run"])
def test_a_store_that_is_a_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    (tmp_path / "file").write_text("no folder")
    err = one_line(capsys, verb, "--store", str(tmp_path / "file"), *(SETTINGS if verb == "run" else ()))
    assert str(tmp_path / "file") in err
    assert (tmp_path / "file").read_text() == "no folder"


@pytest.mark.parametrize("place", ["n" * 300, "/".join(["n" * 200] * 30)], ids=["a name", "a path"])
@pytest.mark.parametrize("verb", ["list", "run"])
def test_what_is_too_long_for_a_file_system_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, place: str
) -> None:
    one_line(capsys, verb, "--store", str(tmp_path / place), *(SETTINGS if verb == "run" else ()))
