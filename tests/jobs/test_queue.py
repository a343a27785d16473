"""More workers than slots wait in the order in which they came, and the dead do not hold up the line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.jobs import start, stop
from glt.jobs.queue import is_busy, join_line, line_of, place_in_line, wait_for_slot
from glt.store import Store

Wait = Callable[..., None]


def never() -> bool:
    return False


def test_the_earlier_ticket_goes_first(tmp_path: Path) -> None:
    (first, lock), (second, _) = join_line(tmp_path, 1.0), join_line(tmp_path, 2.0)
    asked = iter([False, False, True])
    assert wait_for_slot(tmp_path, second, 5, lambda: next(asked)) is None
    third = join_line(tmp_path, 3.0)[0]
    os.close(lock)
    assert wait_for_slot(tmp_path, third, 1, never) is not None
    assert not first.exists()
    assert not list(tmp_path.glob("*.ticket"))


def test_a_taken_slot_is_not_given_twice(tmp_path: Path) -> None:
    slot = wait_for_slot(tmp_path, join_line(tmp_path, 1.0)[0], 1, never)
    asked = iter([False, False, True])
    assert wait_for_slot(tmp_path, join_line(tmp_path, 2.0)[0], 1, lambda: next(asked)) is None
    assert slot is not None
    os.close(slot)
    assert wait_for_slot(tmp_path, join_line(tmp_path, 3.0)[0], 1, never) is not None


def test_a_place_in_the_line_counts_only_who_still_waits(tmp_path: Path) -> None:
    locks = [join_line(tmp_path, moment)[1] for moment in (1.0, 2.5, 3.0)]
    assert [place_in_line(tmp_path, moment) for moment in (1.0, 2.5, 3.0, 4.0)] == [1, 2, 3, None]
    os.close(locks[0])
    assert [place_in_line(tmp_path, moment) for moment in (1.0, 2.5, 3.0)] == [None, 1, 2]
    assert place_in_line(tmp_path / "no such line", 1.0) is None


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_a_store_is_busy_while_anybody_waits_or_computes(tmp_path: Path, device: str) -> None:
    assert not is_busy(tmp_path / "no such queue")
    line = line_of(tmp_path, device)
    assert not is_busy(tmp_path)
    ticket, lock = join_line(line, 1.0)
    assert is_busy(tmp_path)
    slot = wait_for_slot(line, ticket, 1, never)
    os.close(lock)
    assert is_busy(tmp_path)
    assert slot is not None
    os.close(slot)
    assert not is_busy(tmp_path)


@pytest.mark.usefixtures("fake_engine")
def test_seeds_run_one_after_the_other_in_order(
    store: Store, config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, config, [2, 0, 1]).run
    wait(run, "done")
    ended = {seed: (run.seed(seed).path / "rounds.jsonl").stat().st_mtime_ns for seed in (0, 1, 2)}
    began = {seed: (run.seed(seed).path / "init.safetensors").stat().st_mtime_ns for seed in (0, 1, 2)}
    assert ended[2] < began[0]
    assert ended[0] < began[1]


@pytest.mark.usefixtures("slow_engine")
def test_a_waiting_worker_has_no_torch_and_can_be_stopped(
    store: Store, long_config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, long_config, [0, 1]).run
    wait(run, "running", seeds=[0])
    assert run.seed(1).status().state == "queued"
    assert not run.seed(1).environment()
    assert stop(run, [1]) == [1]
    assert run.seed(0).status().state == "running"


@pytest.mark.usefixtures("slow_engine")
def test_the_line_moves_on_when_who_computes_or_waits_is_killed(
    store: Store, long_config: RunConfig, config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, long_config, [0, 1]).run
    wait(run, "running", seeds=[0])
    other = start(store, config.model_copy(update={"method": "random"}), [0]).run
    for seed in (1, 0):
        os.kill(run.seed(seed).status().pid or 0, 9)
    wait(other, "done")
    wait(run, "lost")
