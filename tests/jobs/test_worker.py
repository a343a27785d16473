"""The worker process: exit codes, status, a folder renamed meanwhile, its environment, and the real engine."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import MethodType

import psutil
import pytest

from glt.config import RunConfig
from glt.errors import JobError
from glt.jobs import environment, resume, start, stop, worker
from glt.jobs.devices import Settings
from glt.jobs.environment import git_state, record_environment, sources_digest
from glt.jobs.worker import NICENESS, main
from glt.presets import resolve
from glt.results_version import RESULTS_VERSION, seed_versions
from glt.store import Run, SeedRun, Store
from tests.conftest import imported_by

Patch = pytest.MonkeyPatch
Wait = Callable[..., None]

STARTER = """
import sys
from glt.config import RunConfig
from glt.jobs import start
from glt.store import Store
config = RunConfig.model_validate_json(sys.argv[2])
start(Store(sys.argv[1]), config, [0], tied=sys.argv[3] == "tied")
print("started", flush=True)
sys.stdin.read()
"""


@pytest.mark.usefixtures("slow_engine")
@pytest.mark.parametrize("tie", ["tied", "free"])
def test_workers_stop_when_the_launcher_is_killed(store: Store, long_config: RunConfig, wait: Wait, tie: str) -> None:
    command = [sys.executable, "-c", STARTER, str(store.root), long_config.model_dump_json(), tie]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"started\n"
        run = store.create(long_config)
        wait(run, "running", rounds=1)
        starter.send_signal(signal.SIGKILL)
        starter.wait()
    if tie == "tied":
        wait(run, "lost")
    else:
        killed = time.time()
        while run.seed(0).status().heartbeat <= killed:
            assert run.seed(0).status().state == "running"
            time.sleep(0.05)


@pytest.mark.usefixtures("slow_engine")
def test_a_signal_stops_a_worker(store: Store, long_config: RunConfig, wait: Wait) -> None:
    run = store.create(long_config)
    command = [sys.executable, "-m", "glt.jobs.worker", str(store.root), run.name, "4"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as worker:
        wait(run, "running", "lost", seeds=[4], rounds=1)  # lost: before its first status
        # The largest nice value is 19.
        assert psutil.Process(worker.pid).nice() == min(psutil.Process().nice() + NICENESS, 19)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=1800) == 130
    assert run.seed(4).status().state == "stopped"


def test_waiting_workers_and_the_command_line_do_not_import_torch(monkeypatch: Patch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    code = "import glt.jobs, glt.jobs.worker, glt.cli.main; glt.cli.main.main(['--help'])"
    assert imported_by(code, "torch torch_geometric pandas matplotlib streamlit scipy.optimize") == set()


def test_a_worker_whose_folder_moves_while_it_waits_ends(
    tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "nothing", "0"]) == worker.FAILED
    assert capsys.readouterr().err.startswith("No run 'nothing' in the store")
    run = Store(tmp_path).create(resolve({"hidden": 4, "rounds": 1, "epochs": 1, "retrain_epochs": 1}, "official"))

    def renamed(queue: Path, ticket: Path, slots: int, should_stop: MethodType) -> None:
        run.path.rename(tmp_path / "my best run")
        reporter = should_stop.__self__
        reporter._written = None
        reporter._write_if_due()
        assert reporter.should_stop()

    monkeypatch.setattr(worker, "wait_for_slot", renamed)
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    assert main([str(tmp_path), run.name, "0"]) == worker.FAILED
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "moved or deleted while it was being computed" in printed


@pytest.fixture
def seed_run(store: Store, config: RunConfig) -> SeedRun:
    seed_run = store.create(config).seed(0)
    seed_run.make()
    record_environment(seed_run, Settings(), "a" * 64)
    return seed_run


def test_changed_versions_and_threads_are_recorded_once(seed_run: SeedRun, monkeypatch: Patch) -> None:
    before = seed_run.environment()
    assert before["results_version"] == RESULTS_VERSION
    assert before["sources"] == sources_digest(environment.SOURCES)
    assert before["revision"] == git_state(environment.SOURCES)["revision"]
    record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == before
    with pytest.raises(JobError, match=r"data set cora has changed .*content hash bbbbbbbb, then aaaaaaaa"):
        record_environment(seed_run, Settings(), "b" * 64)
    seed_run.write_environment({**before, "threads": 64})
    fewer = {**before["versions"], "threads": 2}
    for _ in range(2):
        record_environment(seed_run, Settings(threads=2), "a" * 64)
    assert seed_run.environment() == {**before, "threads": 64, "resumed_with": [fewer]}
    monkeypatch.setattr(environment, "current_versions", lambda: {"torch": "99"})
    for _ in range(2):
        record_environment(seed_run, Settings(threads=64), "a" * 64)
    assert seed_run.environment()["resumed_with"] == [fewer, {"torch": "99"}]


def test_a_resume_by_changed_code_is_recorded_once(seed_run: SeedRun, monkeypatch: Patch) -> None:
    before = seed_run.environment()
    other = {"results_version": 99, "sources": "b" * 64, "revision": "c" * 40, "modified": True}
    monkeypatch.setattr(environment, "computing_code", lambda: other)
    for _ in range(2):
        record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == {**before, "resumed_with": [{**before["versions"], **other}]}
    assert seed_versions(seed_run) == {RESULTS_VERSION, 99}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit, of a package with a module, a subpackage and data; returns the package."""
    package = tmp_path / "checkout" / "glt"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("ONE = 1\n")
    (package / "deep" / "module.py").write_text("TWO = 2\n")
    (package / "notes.md").write_text("text\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(package.parent), *who, *arguments], check=True)
    return package


def test_uncommitted_sources_are_recorded(checkout: Path, tmp_path: Path) -> None:
    clean, digest = git_state(checkout), sources_digest(checkout)
    assert clean["modified"] is False
    assert len(clean["revision"]) == 40
    copy = shutil.copytree(checkout, tmp_path / "site-packages" / "glt")
    assert (git_state(copy), sources_digest(copy)) == ({"revision": None}, digest)
    (checkout / "notes.md").write_text("other\n")
    assert (git_state(checkout), sources_digest(checkout)) == (clean, digest), "text is no source"
    (checkout / "deep" / "module.py").write_text("TWO = 3\n")
    assert git_state(checkout) == {**clean, "modified": True}
    assert sources_digest(checkout) != digest
    (checkout / "deep" / "module.py").write_text("TWO = 2\n")
    assert (git_state(checkout), sources_digest(checkout)) == (clean, digest)
    (checkout / "deep" / "new.py").write_text("")
    assert git_state(checkout)["modified"] is True
    assert sources_digest(checkout) != digest


EXEMPT = {"status.json", "environment.json", "log.txt", "lock"}


def comparable(folder: Path) -> dict[str, object]:
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in EXEMPT}
    lines = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    files["rounds.jsonl"] = [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
    return files


def stopped_in_round_1(store: Store, wait: Wait) -> Run:
    """Stop a run in the middle of round 1; retry with more epochs if it ended before."""
    for epochs in (40, 160, 640, 2560):
        config = resolve({"hidden": 16, "rounds": 1, "epochs": epochs, "retrain_epochs": epochs}, "official")
        run = start(store, config, [0]).run
        wait(run, "running", "done", rounds=1)
        if stop(run):
            return run
    pytest.fail("round 1 was always over before the run was stopped")


def test_a_worker_stopped_in_mid_round_resumes_to_the_same_bytes(store: Store, tmp_path: Path, wait: Wait) -> None:
    run = stopped_in_round_1(store, wait)
    reference = start(Store(tmp_path / "reference"), run.config, [0]).run
    epochs = [event for event in run.seed(0).events()[0] if event.round == 1]
    assert run.seed(0).drop_unfinished() == 1
    assert [event for event in run.seed(0).events()[0] if event.round == 1] == epochs
    checkpoint = run.seed(0).checkpoint()
    assert checkpoint is not None
    assert checkpoint.epochs == len(epochs) > 0
    assert resume(store, run).seeds == (0,)
    for each in (run, reference):
        wait(each, "done")
    after, expected = comparable(run.seed(0).path), comparable(reference.seed(0).path)
    assert after == expected
