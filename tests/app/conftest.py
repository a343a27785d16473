"""Pages run by AppTest over a small store whose masks are drawn, not trained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app.widgets import opened
from glt.data import load_graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.presets import resolve
from glt.store import Event, RoundRecord, Run, SeedRun, State, Status, Store

MAIN = Path(__file__).parents[2] / "app" / "main.py"
SHAPES = {"layers.0.weight": (8, 4), "layers.1.weight": (4, 2)}
SECONDS = 180

OpenPage = Callable[..., AppTest]
MakeRun = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store that the app opens, and no examples beside it."""
    monkeypatch.setenv(opened.STORE_VARIABLE, str(tmp_path / "store"))
    monkeypatch.setattr(opened, "EXAMPLES", tmp_path / "no examples")
    st.cache_data.clear()
    st.cache_resource.clear()
    return Store(tmp_path / "store")


@pytest.fixture
def make_run(store: Store) -> MakeRun:
    """Write a run; `states` gives the state of each seed, and every seed has `rounds` rounds after round 0."""

    def make(method: str = "ugs", states: tuple[State, ...] = ("done", "done"), rounds: int = 3) -> Run:
        run = store.create(resolve({"method": method, "rounds": 3, "epochs": 5, "retrain_epochs": 5}, "official"))
        for seed, state in enumerate(states):
            write_seed(run.seed(seed), rounds, state)
        return run

    return make


@pytest.fixture
def open_page() -> OpenPage:
    """Open a page by its address, with query parameters."""

    def open_page(name: str, **view: str | list[str]) -> AppTest:
        app = AppTest.from_file(MAIN, default_timeout=SECONDS)
        app._page_hash = calc_hash(name)
        for key, value in view.items():
            app.query_params[key] = value
        return app.run()

    return open_page


def write_seed(seed_run: SeedRun, rounds: int, state: State) -> None:
    seed_run.make()
    generator = np.random.default_rng([seed_run.seed, *seed_run.config.method.encode()])
    edges = EdgeMask.full("directed", load_graph("cora").num_edges)
    weights = WeightMask.full(SHAPES)
    seed_run.write_init({name: np.ones(shape, dtype=np.float32) for name, shape in SHAPES.items()})
    for number in range(rounds + 1):
        if number:
            edges = edges.prune(generator.random(edges.kept), 0.05)
            weights = weights.prune({name: generator.random(shape) for name, shape in SHAPES.items()}, 0.2)
        for epoch in range(5):
            seed_run.append_event(Event(round=number, stage="retrain", epoch=epoch, loss=1.0, val=0.6, test=0.5))
        tensors = {name: np.ones(shape, dtype=np.float32) for name, shape in SHAPES.items()}
        seed_run.write_round(record(number, edges, weights, seed_run), Masks(edges, weights), tensors)
    error = "The loss became infinite in round 2: lower learning_rate." if state == "failed" else None
    seed_run.write_status(Status(state=state, seed=seed_run.seed, error=error))


def record(number: int, edges: EdgeMask, weights: WeightMask, seed_run: SeedRun) -> RoundRecord:
    accuracy = 0.80 - 0.01 * number * (1 if seed_run.config.method == "ugs" else 2) + 0.002 * seed_run.seed
    return RoundRecord(
        round=number,
        graph_sparsity=edges.sparsity,
        weight_sparsity=weights.sparsity,
        edges_kept_either_way=float(edges.either_way().mean()),
        edges_kept_both_ways=float(edges.both_ways().mean()),
        val=0.78,
        test=accuracy,
        test_last=accuracy - 0.02,
        best_epoch=3,
        seconds=2.0,
        macs={
            "dense_features": 2_000_000_000 // (number + 1),
            "sparse_features": 35_000_000,
            "published": 2_007_000_000,
        },
    )
