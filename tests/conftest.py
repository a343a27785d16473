"""What all tests share: reference data, a small graph, runs, settings of hypothesis, and which skips count."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt.datasets import load_graph
from glt.datasets.cache import only_cached
from glt.datasets.graph import Graph, Provenance, Split
from glt.masks import EdgeMask, Masks, WeightMask
from glt.pretraining.config import resolve_pretraining
from glt.store import Epoch, Event, Pretraining, Progress, RoundRecord, SeedRun, State, Status, Store
from glt.training.tasks import TASKS

# No deadline, since machines may be slow; CI draws the same examples every time.
settings.register_profile("studio", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "studio")

# These change the process that imports them: they are for processes that tests start, not for doctests' collection.
collect_ignore_glob = ["*/sitecustomize.py"]

Compute = Callable[..., SeedRun]
SHAPES = {"layers.0.weight": (8, 4), "layers.1.weight": (4, 2)}
_BROWSER_TESTS = Path(__file__).parent / "browser"


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with Planetoid's raw files and others: `GLT_TEST_DATA`, by default beside the repository."""
    default = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("GLT_TEST_DATA") or default)
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder} (GLT_TEST_DATA)")
    return folder


def run_python(code: str, *arguments: str) -> str:
    """Run code in a fresh process at the root of the checkout and return what it prints; an error fails the test."""
    command = [sys.executable, "-c", code, *arguments]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported_by(code: str, modules: str, *arguments: str) -> set[str]:
    """Return which of the modules are imported after running code in a fresh process."""
    ending = f"\nimport sys; print('Imported:', *set({modules.split()!r}) & sys.modules.keys())"
    return set(run_python(code + ending, *arguments).rpartition("Imported:")[2].split())


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have workers compute with the fake engine; `setenv` on the result slows it down or breaks it."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "fake_engine"))
    monkeypatch.setenv("FAKE_EPOCH", "0.01")
    return monkeypatch


@pytest.fixture(autouse=True)
def _reads_for_itself() -> Generator[None]:
    """Undo that a page makes its process read data sets in a subprocess."""
    yield
    only_cached.clear()


@pytest.fixture
def small_graph() -> Graph:
    """Six nodes: a triangle with a tail, one edge apart, and every node with a few features."""
    edges = np.array([[0, 0, 1, 2, 4], [1, 2, 2, 3, 5]])
    features = np.array([[1, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 3, 0, 1], [2, 0, 0, 0]])
    nodes = np.arange(6)
    return Graph(
        name="small",
        edges=edges,
        features=csr_array(features.astype(np.float32)),
        labels=np.array([0, 1, 0, 1, 2, 2]),
        split=Split(nodes[:3], nodes[3:5], nodes[5:]),
        provenance=Provenance("by hand", 5, 0, 0),
    )


@pytest.fixture(scope="session")
def draw_seed() -> Callable[..., None]:
    """Write a seed of a run on Cora whose masks are drawn, not trained: rounds after round 0, and its last state."""

    def draw_seed(seed_run: SeedRun, rounds: int = 3, state: State = "done") -> None:
        seed_run.make()
        seed_run.write_init(ones())
        generator = np.random.default_rng([seed_run.seed, *seed_run.config.method.encode()])
        graph = TASKS.get(seed_run.config.task).message_graph(load_graph("cora"), seed_run.config)
        masks = Masks(EdgeMask.full("directed", graph.num_edges), WeightMask.full(SHAPES))
        for number in range(rounds + 1):
            masks = drawn(masks, generator) if number else masks
            for epoch in range(seed_run.config.retrain_epochs):
                seed_run.append_event(Event(round=number, stage="retrain", epoch=epoch, loss=1.0, val=0.6, test=0.5))
            seed_run.write_round(made_up(number, masks, seed_run), masks, ones())
        error = "The loss became infinite in round 2: lower learning_rate." if state == "failed" else None
        seed_run.write_status(Status(state=state, seed=seed_run.seed, error=error))

    return draw_seed


def ones() -> dict[str, NDArray[np.float32]]:
    return {name: np.ones(shape, dtype=np.float32) for name, shape in SHAPES.items()}


def drawn(masks: Masks, generator: np.random.Generator) -> Masks:
    edges = masks.edges.prune(generator.random(masks.edges.kept), 0.05)
    return Masks(edges, masks.weights.prune({name: generator.random(shape) for name, shape in SHAPES.items()}, 0.2))


def made_up(number: int, masks: Masks, seed_run: SeedRun) -> RoundRecord:
    accuracy = 0.80 - 0.01 * number * (1 if seed_run.config.method == "ugs" else 2) + 0.002 * seed_run.seed
    macs = {"dense_features": 2_000_000_000 // (number + 1), "sparse_features": 35_000_000, "published": 2_007_000_000}
    return RoundRecord.of(
        number, masks, val=0.78, test=accuracy, test_last=accuracy - 0.02, best_epoch=3, seconds=2.0, macs=macs
    )


def true_record(
    number: int, masks: Masks, seed_run: SeedRun, weights: Mapping[str, NDArray[np.float32]]
) -> RoundRecord:
    """A correct record of a node classifier on Cora with drawn masks and weights."""
    from glt.cost import macs
    from glt.ticket_file.ticket import outputs

    graph = load_graph("cora")
    right = outputs(seed_run.config, graph, masks, weights).argmax(axis=1) == graph.labels
    scores = {"val": float(right[graph.split.val].mean()), "test": float(right[graph.split.test].mean())}
    counted = macs(seed_run.config, graph, masks).totals
    return made_up(number, masks, seed_run).model_copy(update={**scores, "macs": counted})


def write_true_rounds(seed_run: SeedRun) -> None:
    """Write rounds 0 and 1 of random weights, half of edges and weights pruned, with correct records."""
    from glt.training.problem import full_masks

    generator, masks = np.random.default_rng(0), full_masks(seed_run.config, load_graph("cora"))
    shapes = {name: keep.shape for name, keep in masks.weights.keep.items()}
    weights = {name: generator.normal(size=shape).astype("f4") for name, shape in shapes.items()}
    seed_run.write_init(weights)
    for number in range(2):
        kept = {name: values * masks.weights.keep[name] for name, values in weights.items()}
        seed_run.write_round(true_record(number, masks, seed_run, kept), masks, kept)
        edges = masks.edges.prune(generator.random(masks.edges.kept), 0.5)
        masks = Masks(edges, masks.weights.prune(kept, 0.5))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark everything in tests/browser as a browser test; leave long tests to `make fuzz`."""
    for item in items:
        if _BROWSER_TESTS in item.path.parents:
            item.add_marker(pytest.mark.browser)
    if not os.environ.get("GLT_FUZZ"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI set, count a skipped browser test as failed: CI must have Chromium."""
    report = yield
    if report.skipped and os.environ.get("CI") and item.get_closest_marker("browser"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept of a browser test: {report.longrepr}"
    return report


@pytest.fixture
def make_pretraining(store: Store) -> Callable[..., Pretraining]:
    """Write a pre-training of the test's store whose first layers are zeros; `states` has the state of each seed."""

    def make(states: Sequence[State] = ("done",), **settings: object) -> Pretraining:
        run = store.create_pretraining(resolve_pretraining({"hidden": 16, **settings}))
        for number, state in enumerate(states):
            seed = run.seed(number)
            seed.make()
            seed.append_epoch(Epoch(epoch=0, loss=0.7))
            if state == "done":
                about = {"best_epoch": 12, "epochs": 33, "loss": 0.4321, "graph": "a" * 64}
                seed.write_first_layer(np.zeros((1433, run.config.hidden), dtype=np.float32), about)
            error = "The loss became nan: lower learning_rate." if state == "failed" else None
            seed.write_status(Status(state=state, seed=number, error=error))
        return run

    return make


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    """Compute a small run on real Cora in a store of the test's own; settings by keyword."""
    from glt.lottery.lottery import compute_rounds
    from glt.presets import resolve

    def compute(
        seed: int = 0,
        store: str = "store",
        observer: Watcher | None = None,
        preset: str | None = None,
        **settings: object,
    ) -> SeedRun:
        small = {"hidden": 16, "epochs": 6, "retrain_epochs": 6, "rounds": 2}
        seed_run = Store(tmp_path / store).create(resolve({**small, **settings}, preset)).seed(seed)
        with seed_run.lock():
            compute_rounds(seed_run, observer or Watcher())
        return seed_run

    return compute


class Watcher:
    """An observer of a run that remembers progress and stops after a number of reports, by default never."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.seen: list[Progress] = []
        self._stop_after = stop_after

    def on_progress(self, progress: Progress) -> None:
        self.seen.append(progress)

    def should_stop(self) -> bool:
        return self._stop_after is not None and len(self.seen) >= self._stop_after
