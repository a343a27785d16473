"""Estimates of time, disk and memory compared with what runs take; workers that do not fit are refused."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.datasets.graph import Sizes
from glt.errors import JobError
from glt.jobs import memory, resume, start
from glt.jobs.estimate import WORKER_START, Growth, epochs_of, forecast, pace, side_by_side
from glt.jobs.memory import PROGRAM, check_memory, check_worker, needed_bytes, working_bytes
from glt.jobs.queue import join_line, wait_for_slot, working
from glt.jobs.sweep import start_all
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS, NetworkShape
from glt.presets import resolve
from glt.store import Event, RoundRecord, Run, Store
from glt.store.paths import EXAMPLE_MARK

Patch = pytest.MonkeyPatch
Available = Callable[[float], None]

SMALL = RunConfig(hidden=8, rounds=3, epochs=20, retrain_epochs=10)


def write_run(store: Store, config: RunConfig, seconds: float = 3.0, rounds: int = 3) -> Run:
    """Write one seed of a run with the real sizes of Cora and its network."""
    run = store.create(config)
    seed_run = run.seed(0)
    seed_run.make()
    spec = DATASETS.get(config.dataset)
    shape = NetworkShape(spec.features, config.hidden, spec.classes, config.layers)
    shapes = MODELS.get(config.model).prunable_shapes(shape)
    generator = np.random.default_rng(0)
    edges, weights = EdgeMask.full(config.edge_mask, spec.edges), WeightMask.full(shapes)
    tensors = {name: np.ones(size, dtype=np.float32) for name, size in shapes.items()}
    macs = {"dense_features": 1, "sparse_features": 1, "published": 1}
    measured = {"val": 0.7, "test": 0.8, "test_last": 0.8, "best_epoch": 3, "seconds": seconds, "macs": macs}
    seed_run.write_init(tensors)
    for number in range(rounds + 1):
        scores = generator.random(edges.kept).astype(np.float32) if number else None
        if scores is not None:
            edges = edges.prune(scores, config.p_graph)
            weights = weights.prune({name: generator.random(size) for name, size in shapes.items()}, config.p_weight)
        for epoch in range(epochs_of(config, number)):
            event = Event(round=number, stage="retrain", epoch=epoch, loss=1.23456789, val=0.78, test=0.8)
            seed_run.append_event(event)
        masks = Masks(edges, weights)
        seed_run.write_round(RoundRecord.of(number, masks, **measured), masks, tensors, scores)
    return run


def test_estimated_disk_space_equals_actual_size(tmp_path: Path) -> None:
    run = write_run(Store(tmp_path), SMALL)
    expected = Growth(SMALL).of_rounds(range(4))
    assert run.size_bytes() == pytest.approx(expected, rel=0.05)


def test_only_missing_rounds_are_estimated(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "2")
    store = Store(tmp_path)
    run = write_run(store, SMALL, rounds=1)
    cost = forecast(store, [SMALL], [0, 5], store.runs())
    # Round 0 has 10 epochs, every other 30: two rounds are missing of seed 0, all four of seed 5.
    assert cost.epochs == 60 + 100
    assert cost.workers == cost.cores == 2
    # Round 1 took 3 s for 30 epochs (round 0 pays for the start); the two seeds run side by side in new processes.
    assert cost.seconds == pytest.approx(WORKER_START + 100 * 3 / 30)
    assert "UGS on Cora with GCN-8, as timed in this store" in cost.basis
    assert run.seed(0).whole_rounds() == 2


def test_pace_comes_from_the_most_similar_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    nothing = forecast(store, [SMALL], [0], [])
    assert (nothing.seconds, nothing.basis) == (None, "no run was timed yet")
    other_method = write_run(store, SMALL.model_copy(update={"method": "random"}), seconds=1.0)
    larger = write_run(store, SMALL.model_copy(update={"hidden": 16}), seconds=4.0)
    same = pace(SMALL, [larger, other_method])
    scaled = pace(SMALL, [larger])
    assert same is not None
    assert same.run == "Random pruning on Cora with GCN-8"
    assert scaled is not None
    assert scaled.seconds == pytest.approx((8 + 46) / (16 + 46) * 4.0 / 30)
    assert "only a rough guess" in scaled.timed
    (other_method.path / EXAMPLE_MARK).touch()
    example = pace(SMALL, [Run.open(other_method.path)])
    assert example is not None
    assert "perhaps on another machine" in example.timed
    assert [side_by_side(spans, 2) for spans in ([], [3, 1, 1], [1, 1, 3])] == [0, 3, 4]


def test_estimated_cost_of_a_large_graph(tmp_path: Path, monkeypatch: Patch) -> None:
    store, config = Store(tmp_path), RunConfig(hidden=8, epochs=1, retrain_epochs=1)
    before = Growth(config).of_rounds([1]), needed_bytes(config)
    large = replace(DATASETS.get("cora"), counted=lambda: Sizes(169_343, 1_157_799, 128, 40))
    monkeypatch.setattr(DATASETS, "get", lambda name: large)
    # A bit of every entry of the mask, and a byte of each of all its scores.
    assert Growth(config).of_rounds([1]) == pytest.approx(2 * 1_157_799 * (1 + 1 / 8), rel=0.02)
    assert Growth(config).of_rounds([1]) < 3_000_000 < 100 * before[0]
    undirected = config.model_copy(update={"edge_mask": "undirected"})
    assert Growth(undirected).of_rounds([1]) < Growth(config).of_rounds([1]) / 1.9
    assert needed_bytes(config) > before[1] + 200 * 2**20
    assert forecast(store, [config], [0], []).memory_bytes == needed_bytes(config)


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
def available(monkeypatch: Patch) -> Available:
    """Say how many MB are available."""

    def available(megabytes: float) -> None:
        monkeypatch.setattr(memory, "available_bytes", lambda: int(megabytes * MB))

    return available


def test_memory_estimate_is_near_recorded_peaks() -> None:
    names = ("dataset", "model", "hidden", "task", "layers")
    for run, measured in MEASURED.items():
        needed = needed_bytes(resolve(dict(zip(names, run, strict=True)))) / MB
        assert measured / 1.5 < needed < measured * 1.5, run
    small = working_bytes(resolve({"hidden": 64}))
    # A loss with the outputs of all nodes has no small receptive field.
    for more in ({"hidden": 128}, {"layers": 3}, {"dataset": "pubmed"}, {"method": "teddy"}, {"method": "wd_glt"}):
        assert working_bytes(resolve({"hidden": 64, **more})) > small
    assert working_bytes(resolve({"hidden": 64, "method": "teddy", "distillation": 0})) == small


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
@pytest.mark.parametrize(("model", "hidden"), [("gcn", 512), ("gat", 128)])
def test_memory_estimate_is_near_the_peak_of_a_real_search(model: str, hidden: int) -> None:
    command = [sys.executable, "-c", SEARCH, model, str(hidden)]
    taken = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    needed = needed_bytes(resolve({"model": model, "hidden": hidden}))
    assert taken / 1.5 < needed < taken * 1.5


@pytest.mark.usefixtures("fake_engine")
def test_a_worker_that_does_not_fit_is_refused(store: Store, config: RunConfig, available: Available) -> None:
    available(300)
    for begin in (lambda: start(store, config, [0]), lambda: start_all(store, [config], [0])):
        with pytest.raises(JobError, match=r"need about 4\d\d MB of memory, but only 315 MB are available: choose"):
            begin()
    assert not store.root.exists()


@pytest.mark.usefixtures("fake_engine")
def test_fewer_workers_can_fit_into_memory(
    store: Store, config: RunConfig, available: Available, wait: Wait, monkeypatch: Patch
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
def test_done_and_waiting_seeds_count_no_memory(
    store: Store, config: RunConfig, available: Available, wait: Wait, monkeypatch: Patch
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


def test_a_worker_checks_its_device(store: Store, config: RunConfig, available: Available, monkeypatch: Patch) -> None:
    available(10_000)
    check_worker(config, "cpu")
    available(100)
    with pytest.raises(JobError, match="but only 105 MB are available"):
        check_worker(config, "cpu")
    calls: list[int] = []
    monkeypatch.setattr(memory, "free_on_cuda", lambda index: calls.append(index) or 10 * MB)
    with pytest.raises(JobError, match=r"of memory on cuda:1, but only 10.5 MB are available"):
        check_worker(config, "cuda:1")
    assert calls == [1]
    check_memory(store, [config], [0], "cuda")


def test_forecast_states_how_many_workers_run_in_parallel(tmp_path: Path, monkeypatch: Patch) -> None:
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
def test_free_memory_of_a_control_group(tmp_path: Path, names: tuple[str, str, str]) -> None:
    assert memory.left_in_group(group(tmp_path / "one", names, "1000")) == 500
    assert memory.left_in_group(group(tmp_path / "full", names, "400")) == 0
    assert memory.left_in_group(group(tmp_path / "free", names, "max")) is None
    assert memory.left_in_group(tmp_path / "none") is None


def test_the_tightest_control_group_limits_memory(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text("0::/outer/inner\n")
    group(tmp_path / "groups" / "outer", memory.FILES[0], "1000")
    group(tmp_path / "groups" / "outer" / "inner", memory.FILES[0], "max")
    assert memory.available_bytes() == 500
    (tmp_path / "cgroup").write_text("2:cpu:/outer\n")
    assert memory.available_bytes() > 500
