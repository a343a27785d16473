"""Small runs on the bundled Cora whose masks are drawn, not trained."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.reproduction import Setting
from glt.reproduction.attribution import attribution
from glt.reproduction.plan import arm_config
from glt.store import MAC_CONVENTIONS, RoundRecord, Run, SeedRun, Status, Store, bundled_examples, paths
from glt.store.tensors import Predictions, write_predictions

SHAPES = {"layer1.weight": (4, 2)}
MakeRun = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def make_run(store: Store) -> MakeRun:
    """Write a run with `rounds` finished rounds after round 0, for every seed."""

    def make(method: str = "ugs", seeds: tuple[int, ...] = (0,), rounds: int = 2, edge_mask: str = "directed") -> Run:
        config = RunConfig(method=method, rounds=rounds, edge_mask=edge_mask)
        run = store.create(config)
        for seed in seeds:
            write_seed(run.seed(seed), rounds)
        return run

    return make


def write_seed(seed_run: SeedRun, rounds: int) -> None:
    seed_run.make()
    seed_run.write_status(Status(state="done", seed=seed_run.seed))
    generator = np.random.default_rng([seed_run.seed, *seed_run.config.method.encode()])
    weights = WeightMask.full(SHAPES)
    edges = EdgeMask.full(seed_run.config.edge_mask, load_graph(seed_run.config.dataset).num_edges)
    for number in range(rounds + 1):
        if number:
            edges = edges.prune(generator.random(edges.kept), 0.2)
        tensors = {name: np.ones(shape, dtype=np.float32) for name, shape in SHAPES.items()}
        masks = Masks(edges, weights)
        seed_run.write_round(record(number, masks), masks, tensors)


def record(number: int, masks: Masks) -> RoundRecord:
    return RoundRecord.of(
        number,
        masks,
        val=0.8,
        test=0.8,
        test_last=0.8,
        best_epoch=1,
        seconds=1.0,
        macs=dict.fromkeys(MAC_CONVENTIONS, 1),
    )


@pytest.fixture
def make_scored(store: Store) -> MakeRun:
    """Write a run whose test scores are given, one list a seed; sparsities, MACs and the rest follow the round."""

    def make(method: str, scores: Sequence[Sequence[float]], **settings: Any) -> Run:
        run = store.create(RunConfig(method=method, **settings))
        for seed, of_seed in enumerate(scores):
            write_scores(run.seed(seed), of_seed)
        return run

    return make


@pytest.fixture
def make_swept(store: Store) -> MakeRun:
    """Write three seeds of a run whose score falls by `slope` points with the square of its graph sparsity."""

    def make(slope: float = 10.0, rounds: int = 12, **settings: Any) -> Run:
        run = store.create(RunConfig(rounds=max(rounds, 1), **settings))
        for seed in range(3) if rounds >= 0 else ():
            kept = (1 - run.config.p_graph) ** np.arange(rounds + 1)
            write_scores(run.seed(seed), list(0.81 + 0.002 * seed - slope / 100 * (1 - kept) ** 2))
        return run

    return make


def write_scores(seed_run: SeedRun, scores: Sequence[float]) -> None:
    seed_run.make()
    seed_run.write_status(Status(state="done", seed=seed_run.seed))
    masks = Masks(EdgeMask.full("directed", 2), WeightMask.full(SHAPES))
    tensors = {name: np.ones(shape, dtype=np.float32) for name, shape in SHAPES.items()}
    for number, score in enumerate(scores):
        seed_run.write_round(scored(number, score, seed_run.config), masks, tensors)


def scored(number: int, score: float, config: RunConfig) -> RoundRecord:
    edges, weights = (1 - config.p_graph) ** number, (1 - config.p_weight) ** number
    macs = {"dense_features": 1_996_600_000, "sparse_features": 35_000_000, "published": 2_007_000_000}
    return RoundRecord(
        round=number,
        graph_sparsity=1 - edges,
        weight_sparsity=1 - weights,
        edges_kept_either_way=1 - (1 - edges) ** 2,
        edges_kept_both_ways=edges**2,
        val=score,
        test=score,
        test_last=score - 0.05,
        best_epoch=20,
        seconds=9.0,
        macs={convention: int(count * weights) for convention, count in macs.items()},
    )


def write_attribution(store: Store) -> list[Run]:
    """Write two seeds of every cell of an attribution on Cora at two rounds."""
    experiment = attribution((4, 9))
    found = []
    for place, arm in enumerate(experiment.arms(Setting("cora", "gcn"))[1:]):
        run = store.create(arm_config(experiment, Setting("cora", "gcn"), arm))
        for seed in (0, 1):
            write_scores(run.seed(seed), [0.81, 0.8 - place / 500, 0.75 - place / 300 - seed / 100])
        found.append(run)
    return found


COMPARED = ("cora-node-gcn-ugs-5840f40e", "cora-node-gin-ugs-bd58203c")
SWEEP = ("cora-node-gcn-ugs-5840f40e", "cora-node-gcn-ugs-df8e8f72")


@pytest.fixture(scope="session")
def runs_for(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sequence[Run]]:
    """Return two runs of one seed on one graph, two that differ in a setting, or the cells of an attribution.

    For figures of predictions they are copies with drawn logits, for transfers runs that retrain each other's masks.
    """
    retrained = transfers(Store(tmp_path_factory.mktemp("transfers") / "runs"))
    examples, copies = {run.name: run for run in bundled_examples()}, {}
    for name in COMPARED:
        copied = shutil.copytree(examples[name].path, tmp_path_factory.mktemp("predicted") / name)
        copies[name] = with_predictions(Run.open(copied), examples[name].seed(0).whole_rounds())
    cells = write_attribution(Store(tmp_path_factory.mktemp("attribution") / "runs"))

    def runs_for(name: str) -> Sequence[Run]:
        if name == "attribution":
            return cells
        if name == "transfer":
            return retrained
        chosen = [examples[each] for each in (SWEEP if name == "ablation" else COMPARED)]
        return [copies[run.name] for run in chosen] if name in ("calibration", "who_pays") else chosen

    return runs_for


def transfers(store: Store, seeds: int = 3, rounds: int = 9) -> list[Run]:
    """Write a run of UGS, random pruning, and a run for every seed whose masks all seeds retrain.

    Own masks score a point less than the dense model each round, those of other seeds a tenth less than that, and
    random ones two points.
    """
    source = store.create(RunConfig(rounds=rounds))
    made = [(source, None, 0.01), (store.create(RunConfig(method="random", rounds=rounds)), None, 0.02)]
    for other in range(seeds):
        halves = dict.fromkeys(("edges_from", "weights_from"), f"run:{source.name}")
        config = RunConfig(method="combine", rounds=rounds, options={**halves, "source_seed": other})
        made.append((store.create(config), other, 0.01))
    for run, other, loss in made:
        for seed in range(seeds):
            lost = loss if other is None or other == seed else loss + 0.001 * (1 + seed)
            write_scores(run.seed(seed), [0.8 + 0.01 * seed - lost * number for number in range(rounds + 1)])
    return [run for run, _, _ in made]


def with_predictions(run: Run, rounds: int) -> Run:
    """Store drawn logits of some rounds of every seed; later rounds know less of the truth."""
    graph = load_graph("cora")
    for seed, number in product(run.seeds(), range(rounds)):
        generator = np.random.default_rng([seed, number])
        parts = []
        for nodes in (graph.split.val, graph.split.test):
            logits = generator.normal(size=(nodes.size, 7)).astype("f4")
            logits[np.arange(nodes.size), graph.labels[nodes]] += 2.0 / (1 + number)
            parts.append(logits)
        write_predictions(paths.predictions_file(run.seed(seed).path, number), Predictions(*parts), number)
    return run
