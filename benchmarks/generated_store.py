"""A store of a thousand finished runs in the real format, their rounds drawn at random instead of trained."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import MAC_CONVENTIONS, RoundRecord, Run, Status, Store

METHODS = ("ugs", "random", "admm")
SHARES = ((0.02, 0.05, 0.1, 0.2), (0.1, 0.2, 0.3, 0.4))
HIDDEN = (16, 32, 64, 128, 256, 512, 1024)
RATES = (0.005, 0.01, 0.02)
SEEDS = (0, 1)
ROUNDS = 20
DENSE = 0.82
LOST_A_ROUND = 0.005
SPREAD = 0.004


def fill(folder: Path, count: int = 1000) -> Store:
    """Write `count` runs (at most 1,008) of two seeds and twenty rounds on Cora into a store."""
    store, generator = Store(folder), np.random.default_rng(0)
    for config in itertools.islice(configs(), count):
        write_run(store.create(config), SEEDS, generator)
    return store


def write_run(run: Run, seeds: Iterable[int], generator: np.random.Generator) -> None:
    """Write the rounds of a run on Cora, without events."""
    edges = load_graph("cora").num_edges
    for seed in seeds:
        _write(run, seed, edges, generator)


def configs() -> Iterator[RunConfig]:
    """Yield configurations that differ in method, both shares, width and learning rate."""
    grid = itertools.product(METHODS, *SHARES, HIDDEN, RATES)
    for method, p_graph, p_weight, hidden, rate in grid:
        yield RunConfig(
            method=method, p_graph=p_graph, p_weight=p_weight, hidden=hidden, learning_rate=rate, rounds=ROUNDS
        )


def _write(run: Run, seed: int, edges: int, generator: np.random.Generator) -> None:
    folder = run.seed(seed)
    folder.make()
    weights = {"w": np.ones((4, 2), np.float32)}
    masks = Masks(EdgeMask.full("directed", edges), WeightMask.full({"w": (4, 2)}))
    for number in range(ROUNDS + 1):
        if number:
            kept = masks.edges.prune(generator.random(masks.edges.kept), run.config.p_graph)
            masks = Masks(kept, masks.weights)
        folder.write_round(_record(number, masks, generator), masks, weights)
    folder.write_status(Status(state="done", seed=seed))


def _record(number: int, masks: Masks, generator: np.random.Generator) -> RoundRecord:
    score = DENSE - LOST_A_ROUND * number + SPREAD * generator.normal()
    macs = dict.fromkeys(MAC_CONVENTIONS, int(1e9 * 0.9**number))
    return RoundRecord.of(number, masks, val=score, test=score, test_last=score, best_epoch=1, seconds=1.0, macs=macs)
