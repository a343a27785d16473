"""Runs from start to end on the command line: followed, stopped, killed, resumed."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from glt.formats import as_typed
from glt.store import Run, Store
from glt.store.locks import ACTIVE
from tests.cli.conftest import LONG, PATIENCE, SHORT, Begin, Glt, OnTerminal

pytestmark = pytest.mark.usefixtures("fake_engine")


def the_run(store: Store) -> Run:
    (run,) = store.runs()
    return run


def wait_for_rounds(store: Store, rounds: int, seed: int = 0) -> None:
    deadline = time.monotonic() + PATIENCE
    while not store.runs() or the_run(store).seed(seed).whole_rounds() < rounds:
        assert time.monotonic() < deadline
        assert all(run.seed(seed).status().state != "failed" for run in store.runs())
        time.sleep(0.05)


def test_a_run_prints_one_line_per_round(glt: Glt, store: Store) -> None:
    done = glt("run", "--preset", "official", "--seeds", "0-1", *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert "seeds 0, 1, adds about" in lines[0]
    for seed in (0, 1):
        own = [line for line in lines[1:] if line.startswith(f"seed {seed} ")]
        assert [line.split(":")[0] for line in own] == [f"seed {seed} round {k}/2" for k in range(3)]
        assert "test 80.0 %, last 75.0 %" in own[0]
    again = glt("run", "--preset", "official", "--seeds", "0-1", *SHORT)
    assert again.returncode == 0
    assert "already complete: 2 rounds of seeds 0, 1." in again.stdout


@pytest.mark.parametrize("settings", [["--method", "combine"], ["--set", "p_graph=0", "p_weight=0"]])
def test_a_run_that_prunes_nothing_says_so(glt: Glt, store: Store, settings: list[str]) -> None:
    assert "Nothing is pruned under these settings" in glt("run", *SHORT, *settings).stdout
    assert "Nothing is pruned" not in glt("run", *SHORT).stdout


def test_run_json_prints_only_the_document(glt: Glt, store: Store) -> None:
    done = glt("run", "--json", *SHORT)
    document = json.loads(done.stdout)
    assert document == json.loads(glt("show", the_run(store).name, "--json").stdout)
    assert [each["round"] for each in document["seeds"][0]["rounds"]] == [0, 1, 2]


def test_ctrl_c_stops_a_run_and_resume_continues(glt: Glt, begin: Begin, store: Store) -> None:
    process = begin("run", "--seeds", "0,1", *LONG)
    wait_for_rounds(store, 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert f"Stopped seeds 0, 1; continue with: {as_typed('resume')}" in err
    run = the_run(store)
    assert [run.seed(seed).status().state for seed in (0, 1)] == ["stopped", "stopped"]
    before = run.seed(0).whole_rounds()
    process = begin("resume", run.name)
    wait_for_rounds(store, before + 1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 130
    process.communicate()


def test_killing_the_command_kills_its_workers(begin: Begin, store: Store) -> None:
    process = begin("run", *LONG)
    wait_for_rounds(store, 1)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + PATIENCE
    while the_run(store).seed(0).status().state in ACTIVE:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert the_run(store).seed(0).status().state == "lost"


def test_a_second_command_on_a_seed_is_refused(glt: Glt, begin: Begin, store: Store) -> None:
    process = begin("run", *LONG)
    wait_for_rounds(store, 1)
    second = glt("run", *LONG)
    assert second.returncode == 1
    assert "is in use by process" in second.stderr
    assert second.stderr.count("\n") == 1
    stopped = glt("stop", the_run(store).name)
    assert stopped.stdout == f"Stopped seed 0 of {the_run(store).name}.\n"
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130


def test_ctrl_c_leaves_workers_of_other_commands(glt: Glt, begin: Begin, store: Store) -> None:
    first = begin("run", "--seeds", "0,1", *LONG)
    wait_for_rounds(store, 1)
    run = the_run(store)
    assert glt("stop", run.name, "--seeds", "1").returncode == 0
    other = begin("resume", run.name)
    assert other.stdout is not None
    assert any("seed 0: already running, started by another command." in line for line in other.stdout)
    other.send_signal(signal.SIGINT)
    _, err = other.communicate(timeout=PATIENCE)
    assert other.returncode == 130, err
    assert err.splitlines()[-1].startswith("Stopped seed 1; continue with:")
    assert [run.seed(seed).status().state for seed in (0, 1)] == ["running", "stopped"]
    first.send_signal(signal.SIGINT)
    assert first.wait(PATIENCE) == 130
    first.communicate()


def test_a_failed_seed_names_its_log_and_can_be_retried(
    glt: Glt, store: Store, fake_engine: pytest.MonkeyPatch
) -> None:
    fake_engine.setenv("FAKE_FAULT", "studio")
    failed = glt("run", "--seeds", "3", *SHORT)
    assert failed.returncode == 1
    run = the_run(store)
    assert failed.stderr == f"Seed 3 failed: The moon is missing: wait for night. Log: {run.seed(3).log_path}\n"
    fake_engine.delenv("FAKE_FAULT")
    again = glt("resume", str(run.path), "--seeds", "3")
    assert again.returncode == 0, again.stderr
    assert run.seed(3).is_complete()


@pytest.mark.parametrize(("what", "options"), [("run", []), ("run", ["--json"]), ("seed", [])])
def test_a_folder_renamed_during_a_run_is_reported(
    begin: Begin, store: Store, tmp_path: Path, what: str, options: list[str]
) -> None:
    process = begin("run", *LONG, *options)
    wait_for_rounds(store, 1)
    run = the_run(store)
    folder = run.path if what == "run" else run.seed(0).path
    folder.rename(tmp_path / "elsewhere")
    _, err = process.communicate(timeout=PATIENCE)
    of = f"the run {run.name}" if what == "run" else f"seed 0 of {run.name}"
    gone = f"The folder of {of} was moved or deleted while it was being computed: put it back, then resume the run."
    assert (process.returncode, err.splitlines()[-1]) == (1, f"Seed 0 lost: {gone}")


def test_detached_workers_outlive_the_command(glt: Glt, store: Store) -> None:
    begun = glt("run", "--detach", *LONG)
    assert begun.returncode == 0
    assert as_typed("show") in begun.stdout
    wait_for_rounds(store, 2)
    assert the_run(store).seed(0).status().state == "running"
    assert glt("stop", the_run(store).name).returncode == 0
    nothing = glt("stop", the_run(store).name)
    assert (nothing.returncode, nothing.stdout) == (0, f"No worker of {the_run(store).name} is running.\n")


def test_the_config_of_another_run_is_accepted(glt: Glt, store: Store, tmp_path: Path) -> None:
    glt("run", *SHORT)
    first = the_run(store)
    other = Store(tmp_path / "other")
    copied = glt("run", "--config", str(first.path / "config.json"), "--store", str(other.root))
    assert copied.returncode == 0, copied.stderr
    assert the_run(other).config == first.config
    random = glt("run", "--config", str(first.path), "--method", "random", "--store", str(other.root))
    assert random.returncode == 0, random.stderr


def test_progress_bars_on_a_terminal(on_terminal: OnTerminal, store: Store) -> None:
    code, drawn = on_terminal("run", *SHORT)
    assert code == 0
    assert "━" in drawn
    assert "100 %" in drawn
    assert "seed 0" in drawn


@pytest.mark.parametrize("missing", [True, False])
def test_an_unreadable_round_of_a_finished_run_is_recomputed(glt: Glt, store: Store, missing: bool) -> None:
    assert glt("run", *SHORT).returncode == 0
    run = the_run(store)
    file = run.seed(0).path / "round-01.safetensors"
    before = file.read_bytes()
    if missing:
        file.unlink()
    else:
        file.write_bytes(before[:-1])
    mended = glt("resume", run.name)
    assert mended.returncode == 0, mended.stderr
    assert mended.stderr == "seed 0: round 1 cannot be read, so rounds 1 to 2 are computed again\n"
    assert file.read_bytes() == before
    assert run.seed(0).is_sound()
    assert "already complete" in glt("resume", run.name).stdout
