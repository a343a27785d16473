"""A grid of settings as a list of runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glt.config import RunConfig
from glt.errors import ConfigError, JobError, StoreError
from glt.jobs import launcher, start, stop
from glt.jobs.launcher import Started, Worker, stop_workers
from glt.jobs.sweep import grid_points, read_grid, start_all
from glt.presets import resolve
from glt.store import Run, SeedFolder, Status, Store, run_name
from glt.store.locks import ACTIVE

Patch = pytest.MonkeyPatch

RATES = st.floats(0.01, 0.9).map(lambda rate: round(rate, 4))
FIELDS = {
    "p_graph": RATES,
    "p_weight": RATES,
    "gamma_graph": RATES,
    "hidden": st.integers(1, 64),
    "epochs": st.integers(1, 9),
    "mask_noise": RATES,
}
GRIDS = st.sets(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=3).flatmap(
    lambda names: st.fixed_dictionaries({n: st.lists(FIELDS[n], min_size=1, max_size=4, unique=True) for n in names})
)


@given(GRIDS)
def test_a_grid_holds_every_combination_once(grid: dict[str, list[float]]) -> None:
    texts = {name: [repr(value) for value in values] for name, values in grid.items()}
    points = grid_points({"dataset": "citeseer"}, texts, "official")
    assert len(points) == math.prod(map(len, grid.values()))
    assert len({run_name(point.config) for point in points}) == len(points)
    assert len({tuple(point.values.items()) for point in points}) == len(points)
    for point in points:
        assert all(point.values[name] in values for name, values in grid.items())
        assert point.config == resolve({"dataset": "citeseer", **point.values}, "official")


def test_the_last_setting_changes_fastest() -> None:
    points = grid_points({}, read_grid([("p_graph", " .05 , .1"), ("p_weight", ".1,.2")]))
    assert [tuple(point.values.values()) for point in points] == [(0.05, 0.1), (0.05, 0.2), (0.1, 0.1), (0.1, 0.2)]
    points = grid_points({}, {"method": ["ugs", "random"], "edge_mask": ["directed", "undirected"]})
    assert points[3].words == "method = random, edge_mask = undirected"
    for grid in ({}, {"p_graph": []}):
        with pytest.raises(ConfigError, match="The grid is empty"):
            grid_points({}, grid)


@pytest.mark.parametrize(
    ("settings", "fields", "sentence"),
    [
        ({}, [], "The grid is empty"),
        ({}, [("p_graph", ".1"), ("p_graph", ".2")], "names p_graph twice"),
        ({}, [("p_graph", " ")], "p_graph has no values in the grid"),
        ({}, [("p_graph", ".1,,.2")], "p_graph lacks a value"),
        ({}, [("p_graph", ".1,.10")], "holds the same run twice (p_graph = 0.1)"),
        ({}, [("p_grap", ".1")], "Unknown setting 'p_grap': did you mean 'p_graph'?"),
        ({}, [("p_graph", ".1,2")], "p_graph must be less than 1, not 2"),
        ({}, [("hidden", "16,many")], "hidden cannot be 'many'"),
        ({}, [("model", "gcn,gnc")], "Unknown model 'gnc'"),
        ({}, [("rounds", "2,4")], "rounds cannot be varied"),
        ({"method": "random"}, [("gamma_graph", ".1,.2")], "The method random ignores gamma_graph"),
        ({}, [("method", "ugs,random"), ("epochs", "5,9")], "The method random ignores epochs"),
        ({"p_graph": ".1"}, [("p_graph", ".1,.2")], "p_graph is set to .1 and varied in the grid too"),
        ({}, [("hidden", ",".join(map(str, range(1, 102))))], "The grid has 101 points, more than 100"),
    ],
)
def test_bad_grids_are_refused(settings: dict[str, str], fields: list[tuple[str, str]], sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        grid_points(settings, read_grid(fields))
    assert sentence in str(raised.value)


def configs(rounds: int = 2) -> list[RunConfig]:
    return [RunConfig(rounds=rounds, epochs=1, retrain_epochs=3, hidden=hidden) for hidden in (8, 9)]


def test_finished_runs_of_a_sweep_are_not_computed_again(
    store: Store, tmp_path: Path, fake_engine: Patch, wait: Callable[..., None]
) -> None:
    first, second = configs()
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        start_all(Store(tmp_path / "file" / "store"), [first, second], [0])
    run = start(store, first, [0]).run
    wait(run, "done")
    before = {path: path.stat().st_mtime_ns for path in run.seed(0).path.glob("*.safetensors")}
    started = start_all(store, [first, second], [0])
    for each in started:
        wait(each.run, "done")
    assert [each.run.config for each in started] == [first, second]
    assert {path: path.stat().st_mtime_ns for path in run.seed(0).path.glob("*.safetensors")} == before
    # Finished runs are not stopped.
    stop_workers(workers_of(started))
    assert [stop(each.run) for each in started] == [[], []]
    assert [each.run.seed(0).status().state for each in started] == ["done", "done"]


def workers_of(started: list[Started[Run]]) -> list[Worker]:
    return [worker for each in started for worker in each.workers]


def test_stopping_a_sweep_leaves_other_workers_running(
    store: Store, slow_engine: Patch, wait: Callable[..., None]
) -> None:
    first, second = configs(rounds=400)
    run = start(store, first, [0]).run
    wait(run, "running", rounds=1)
    started = start_all(store, [first, second], [0])
    assert [(each.seeds, each.elsewhere) for each in started] == [((), (0,)), ((0,), ())]
    stop_workers(workers_of(started))
    assert run.seed(0).status().state == "running"
    assert started[1].run.seed(0).status().state == "stopped"


def test_a_sweep_starts_all_workers_or_none(store: Store, slow_engine: Patch, monkeypatch: Patch) -> None:
    first, second = configs(rounds=400)
    other_run, spawn = start(store, first, [1]).run, launcher.spawn

    def only_three(at: Store, seed_run: SeedFolder, *how: Any) -> Status:
        if seed_run.config == second and seed_run.seed == 2:
            raise JobError("No worker could be started: close other programs.")
        return spawn(at, seed_run, *how)

    monkeypatch.setattr(launcher, "spawn", only_three)
    with pytest.raises(JobError, match="No worker could be started"):
        start_all(store, [first, second], [0, 1, 2])
    assert [other_run.seed(seed).status().state for seed in (0, 2)] == ["stopped", "stopped"]
    assert other_run.seed(1).status().state in ACTIVE
    assert [store.create(second).seed(seed).status().state for seed in (0, 1)] == ["stopped", "stopped"]


def test_concurrent_starts_of_one_sweep_share_the_points(store: Store, slow_engine: Patch, monkeypatch: Patch) -> None:
    first, second = configs(rounds=400)
    take, other_run = launcher.take_lock, store.create(second)

    def late(path: Path, **more: Any) -> int:
        if path == other_run.seed(0).lock_path and not other_run.seed(0).is_at_work():
            monkeypatch.setattr(launcher, "take_lock", take)
            start(store, second, [0])
        return take(path, **more)

    monkeypatch.setattr(launcher, "take_lock", late)
    started = start_all(store, [first, second], [0])
    assert [(each.seeds, each.elsewhere) for each in started] == [((0,), ()), ((), (0,))]
    stop_workers(workers_of(started))
    assert started[0].run.seed(0).status().state == "stopped"
    assert other_run.seed(0).status().state in ACTIVE
