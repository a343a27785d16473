"""Workers that would not fit into memory are refused in a sentence, and what they need is about what they take."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.errors import JobError
from glt.jobs import memory, resume, start
from glt.jobs.estimate import forecast
from glt.jobs.memory import PROGRAM, check_memory, check_worker, needed_bytes, working_bytes
from glt.jobs.queue import join_line, wait_for_slot, working
from glt.jobs.sweep import start_all
from glt.presets import resolve
from glt.store import Store

Wait = Callable[..., None]
MB = 2**20

# Peak resident memory (MB) of a fresh process that runs the search of UGS, one thread.
MEASURED = {
    ("cora", "gcn", 16, "node", 2): 345,
    ("cora", "gcn", 512, "node", 2): 409,
    ("cora", "gcn", 512, "node", 4): 496,
    ("cora", "gcn", 512, "link", 2): 463,
    ("cora", "gin", 512, "node", 2): 442,
    ("cora", "gat", 64, "node", 2): 415,
    ("cora", "gat", 512, "node", 2): 833,
    ("pubmed", "gcn", 64, "node", 2): 403,
    ("pubmed", "gcn", 512, "node", 2): 493,
    ("pubmed", "gcn", 512, "link", 2): 738,
    ("pubmed", "gin", 512, "node", 2): 514,
    ("pubmed", "gat", 64, "node", 2): 476,
    ("pubmed", "gat", 512, "node", 2): 1032,
}

SEARCH = """
import sys
from glt.jobs.worker import keep_freed_memory
import torch
keep_freed_memory()
torch.set_num_threads(1)
from glt.datasets import load_graph
from glt.presets import resolve
from glt.seeds import stream
from glt.training.trainer import Schedule, Stage
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
problem = Problem(resolve({"model": sys.argv[1], "hidden": int(sys.argv[2])}), load_graph("cora"))
masks = problem.full_masks()
soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu")
network = Network(problem, masks, problem.initial_weights(0), soft)
Stage(network, Schedule(3, 0.01, 5e-4, 0.01, 5e-4, 0.01, 0.01), stream(0, 1, "search")).run(lambda result: None)
# Linux counts in ru_maxrss what the process held before it became this program: a large parent's memory.
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")))
"""


@pytest.fixture
def available(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Say how many MB are available."""

    def available(megabytes: float) -> None:
        monkeypatch.setattr(memory, "available_bytes", lambda: int(megabytes * MB))

    return available


@pytest.mark.parametrize("run", MEASURED, ids=lambda run: "-".join(map(str, run)))
def test_the_estimate_is_near_what_was_measured(run: tuple[str, str, int, str, int]) -> None:
    names = ("dataset", "model", "hidden", "task", "layers")
    needed = needed_bytes(resolve(dict(zip(names, run, strict=True)))) / MB
    assert MEASURED[run] / 1.5 < needed < MEASURED[run] * 1.5


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
@pytest.mark.parametrize(("model", "hidden"), [("gcn", 512), ("gat", 128)])
def test_the_estimate_is_near_what_a_search_takes_here(model: str, hidden: int) -> None:
    command = [sys.executable, "-c", SEARCH, model, str(hidden)]
    taken = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    needed = needed_bytes(resolve({"model": model, "hidden": hidden}))
    assert taken / 1.5 < needed < taken * 1.5


def test_a_large_graph_needs_more_with_every_layer_and_unit() -> None:
    small = working_bytes(resolve({"hidden": 64}))
    assert working_bytes(resolve({"hidden": 128})) > small
    assert working_bytes(resolve({"hidden": 64, "layers": 3})) > small
    assert working_bytes(resolve({"hidden": 64, "dataset": "pubmed"})) > small


@pytest.mark.usefixtures("fake_engine")
def test_a_worker_that_does_not_fit_is_refused_before_anything_is_made(
    store: Store, config: RunConfig, available: Callable[[float], None]
) -> None:
    available(300)
    for begin in (lambda: start(store, config, [0]), lambda: start_all(store, [config], [0])):
        with pytest.raises(JobError, match=r"need about 4\d\d MB of memory, but only 315 MB are available: choose"):
            begin()
    assert not store.root.exists()


@pytest.mark.usefixtures("fake_engine")
def test_fewer_side_by_side_is_what_helps_where_one_alone_fits(
    store: Store, config: RunConfig, available: Callable[[float], None], wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "4")
    available(2.5 * needed_bytes(config) / MB)
    other = config.model_copy(update={"p_graph": 0.2})
    with pytest.raises(JobError, match=r"4 workers side by side would need .* set GLT_SLOTS=2 to compute fewer"):
        start_all(store, [config, other], [0, 1])
    assert store.runs() == []
    monkeypatch.setenv("GLT_SLOTS", "2")
    for each in start_all(store, [config, other], [0, 1]):
        wait(each.run, "done")


@pytest.mark.usefixtures("fake_engine")
def test_what_is_done_or_must_wait_needs_nothing_now(
    store: Store, config: RunConfig, available: Callable[[float], None], wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, config, [0]).run
    wait(run, "done")
    available(0)
    assert start(store, config, [0]).run.seed(0).status().state == "done"
    longer = store.create(config.model_copy(update={"rounds": 3}))
    while working(store.queue_path):
        time.sleep(0.05)  # a worker that is done needs a moment to go
    with pytest.raises(JobError, match="only 0 B are available"):
        resume(store, longer)
    queue = store.queue_folder()
    assert wait_for_slot(queue, join_line(queue, 1.0)[0], 1, lambda: False) is not None
    check_memory(store, [longer.config], [0])


def test_a_worker_looks_again(config: RunConfig, available: Callable[[float], None]) -> None:
    available(10_000)
    check_worker(config, "cpu")
    available(100)
    with pytest.raises(JobError, match="but only 105 MB are available"):
        check_worker(config, "cpu")


def test_a_worker_on_cuda_looks_at_its_device(
    store: Store, config: RunConfig, available: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    available(0)
    asked: list[int] = []
    monkeypatch.setattr(memory, "free_on_cuda", lambda index: asked.append(index) or 10 * MB)
    with pytest.raises(JobError, match=r"of memory on cuda:1, but only 10.5 MB are available"):
        check_worker(config, "cuda:1")
    assert asked == [1]
    check_memory(store, [config], [0], "cuda")


def test_the_forecast_tells_what_runs_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "2")
    configs = [resolve({"hidden": hidden}) for hidden in (16, 512)]
    cost = forecast(Store(tmp_path), configs, [0, 1], [])
    assert cost.memory_bytes == 2 * needed_bytes(configs[1]) > 2 * PROGRAM
    assert forecast(Store(tmp_path), configs, [0], []).memory_bytes == sum(map(needed_bytes, configs))


def group(folder: Path, names: tuple[str, str, str], limit: str) -> Path:
    folder.mkdir(parents=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text("700\n")
    (folder / "memory.stat").write_text(f"anon 500\n{names[2]} 200\nother 9\n")
    return folder


@pytest.mark.parametrize("names", memory.FILES, ids=["version 2", "version 1"])
def test_a_control_group_leaves_its_limit_without_what_cannot_be_given_back(
    tmp_path: Path, names: tuple[str, str, str]
) -> None:
    assert memory.left_in_group(group(tmp_path / "one", names, "1000")) == 500
    assert memory.left_in_group(group(tmp_path / "full", names, "400")) == 0
    assert memory.left_in_group(group(tmp_path / "free", names, "max")) is None
    assert memory.left_in_group(tmp_path / "none") is None


def test_the_tightest_group_around_this_process_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text("0::/outer/inner\n")
    group(tmp_path / "groups" / "outer", memory.FILES[0], "1000")
    group(tmp_path / "groups" / "outer" / "inner", memory.FILES[0], "max")
    assert memory.available_bytes() == 500
    (tmp_path / "cgroup").write_text("2:cpu:/outer\n")
    assert memory.available_bytes() > 500
