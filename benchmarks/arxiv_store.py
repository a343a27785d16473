"""A store of finished runs of ogbn-arxiv's size in the real format, their rounds drawn at random instead of trained."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS
from glt.presets import resolve
from glt.store import MAC_CONVENTIONS, Event, RoundRecord, Run, Status, Store
from glt.training.problem import network_shape, tensor_specs
from glt.user_path import user_path

DATASET = "ogbn-arxiv"
METHODS = ("ugs", "random")
SEEDS = (0, 1)
EPOCHS = 100
# Of 28 layers of 128 where the network is there.
DEEP = {"model": "resgcn", "layers": 28, "hidden": 128}
DENSE, LOST_A_ROUND, SPREAD = 0.72, {"ugs": 0.0005, "random": 0.004}, 0.002

Weights = dict[str, NDArray[np.float32]]


def fill_arxiv(words: Sequence[str]) -> dict[str, Any]:
    """Write a store as the command line says, and return what was written and how long it took."""
    parser = ArgumentParser(prog="python -m benchmarks arxiv-store", description=__doc__)
    parser.add_argument("--out", type=user_path, required=True, help="the folder of the store")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of every run (default: 20)")
    arguments = parser.parse_args(words)
    return fill(arguments.out, arguments.rounds)


def fill(folder: Path, rounds: int) -> dict[str, Any]:
    """Write a run a method, of two seeds and so many rounds, into a store."""
    if DATASET not in DATASETS.names():
        raise ConfigError(f"This version does not know {DATASET}.")
    store, begun, made = Store(folder), time.perf_counter(), []
    for config in configs(rounds):
        made.append(store.create(config))
        for seed in SEEDS:
            _write(made[-1], seed)
    seconds = round(time.perf_counter() - begun, 1)
    return {"store": str(folder), "runs": [run.name for run in made], "seeds": len(SEEDS), "seconds": seconds}


def configs(rounds: int) -> Iterator[RunConfig]:
    """Yield a configuration a method, of the deep network or, without it, of a GCN."""
    network = DEEP if DEEP["model"] in MODELS.names() else {"model": "gcn", "hidden": 512}
    for method in METHODS:
        yield resolve({"dataset": DATASET, "method": method, "rounds": rounds, "retrain_epochs": EPOCHS, **network})


def _write(run: Run, seed: int) -> None:
    folder, config, sizes = run.seed(seed), run.config, DATASETS.get(DATASET).sizes
    generator = np.random.default_rng([seed, *config.method.encode()])
    specs = tensor_specs(config, network_shape(config, sizes))
    weights = {spec.name: generator.normal(0, 0.1, spec.shape).astype(np.float32) for spec in specs}
    shapes = {spec.name: spec.shape for spec in specs if spec.prunable}
    masks = Masks(EdgeMask.full(config.edge_mask, sizes.edges), WeightMask.full(shapes))
    # An entry that scores low in one round tends to in the next.
    usual = generator.normal(0, 0.02, masks.edges.keep.size)
    folder.make()
    for number in range(config.rounds + 1):
        scores = usual[masks.edges.keep] + generator.normal(1, 0.01, masks.edges.kept) if number else None
        if scores is not None:
            edges = masks.edges.prune(scores, config.p_graph)
            masks = Masks(edges, masks.weights.prune(_magnitudes(weights, masks.weights), config.p_weight))
        _write_events(run, seed, number, generator)
        shown = scores if config.method == "ugs" else None
        folder.write_round(_record(config, number, masks, generator), masks, weights, shown)
    folder.write_status(Status(state="done", seed=seed))


def _magnitudes(weights: Weights, mask: WeightMask) -> Mapping[str, NDArray[np.floating[Any]]]:
    return {name: np.abs(weights[name]) for name in mask.keep}


def _write_events(run: Run, seed: int, number: int, generator: np.random.Generator) -> None:
    for epoch in range(EPOCHS):
        score = DENSE * (1 - np.exp(-(epoch + 1) / 15)) + SPREAD * generator.normal()
        loss = 3.7 * np.exp(-(epoch + 1) / 25) + 0.9
        event = Event(round=number, stage="retrain", epoch=epoch, loss=loss, val=score + 0.01, test=score)
        run.seed(seed).append_event(event)


def _record(config: RunConfig, number: int, masks: Masks, generator: np.random.Generator) -> RoundRecord:
    score = DENSE - LOST_A_ROUND[config.method] * number + SPREAD * generator.normal()
    macs = dict.fromkeys(MAC_CONVENTIONS, int(8e10 * (1 - masks.weights.sparsity)))
    measured = {"val": score + 0.01, "test": score, "test_last": score - 0.005, "best_epoch": EPOCHS - 5}
    return RoundRecord.of(number, masks, **measured, seconds=3600.0, macs=macs)
