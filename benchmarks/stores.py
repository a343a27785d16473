"""Stores: random runs in the real format, seconds to read a thousand, and to write a round.

Times are wall seconds: most of them are spent on the file system.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.tables.rounds import rounds_table
from benchmarks.arxiv import drawn
from benchmarks.results import ROOT, Measured, command_parser, document, repeated, single, spread
from benchmarks.subjects import network_of
from glt.cli.documents import list_entry
from glt.config import RunConfig
from glt.datasets import load_graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import MAC_CONVENTIONS, RoundRecord, Run, SeedFolder, Status, Store

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
    """Write `count` runs (at most 1,008) on Cora, two seeds and twenty rounds each."""
    store, generator = Store(folder), np.random.default_rng(0)
    for config in itertools.islice(configs(), count):
        write_run(store.create(config), SEEDS, generator)
    return store


def write_run(run: Run, seeds: Iterable[int], generator: np.random.Generator) -> None:
    """Write random rounds of a run on Cora, without events."""
    edges = load_graph("cora").num_edges
    for seed in seeds:
        _write(run, seed, edges, generator)


def configs() -> Iterator[RunConfig]:
    """Yield configurations that differ in method, both shares, width and learning rate."""
    grid = itertools.product(METHODS, *SHARES, HIDDEN, RATES)
    for method, p_graph, p_weight, hidden, rate in grid:
        yield RunConfig(
            method=method,
            p_graph=p_graph,
            p_weight=p_weight,
            hidden=hidden,
            learning_rate=rate,
            rounds=ROUNDS,
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


# Reading and writing.

RUNS = 1000
WRITTEN_ROUNDS = (0, 10, 20)
REPEATS = 5


def measure_stores(words: Sequence[str]) -> dict[str, Any]:
    """Return seconds to list a store and tabulate its rounds, and a round's cost on disk."""
    parser = command_parser("stores", "Seconds to read a large store and to write rounds.")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs in the store (default: 1000)")
    parser.add_argument("--seconds", type=float, default=4, help="seconds of repetitions per measurement (default: 4)")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        return document([*_reading(Path(folder) / "many", options.runs, options.seconds), *_writing(Path(folder))])


def _reading(folder: Path, count: int, seconds: float) -> Iterator[Measured]:
    many_runs(folder, count)
    name = f"stores/{count} runs"
    yield single(f"{name}/size", sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), "B")

    def by_command() -> None:
        command = [sys.executable, "-m", "glt", "list", "--json", "--store", str(folder)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)

    # A new Store has read nothing of the folder yet.
    steps = {
        "listed": lambda: [list_entry(run) for run in Store(folder, writable=False).contents().every],
        "table of all rounds": lambda: rounds_table(Store(folder, writable=False).runs()),
        "glt list, whole command": by_command,
    }
    for which, step in steps.items():
        yield repeated(f"{name}/{which}", step, REPEATS, seconds, time.perf_counter, untimed=0)


def many_runs(folder: Path, count: int) -> None:
    """Make a store of `count` runs whose seed folders are links to those of one run."""
    written = fill(folder.with_name("one"), 1).runs()[0]
    store = Store(folder)
    for config in itertools.islice(configs(), count):
        run = store.create(config)
        for seed in written.seeds():
            shutil.copytree(written.seed(seed).path, run.seed(seed).path, copy_function=os.link)


def _writing(folder: Path) -> Iterator[Measured]:
    config, graph = network_of("cora", "gcn"), load_graph("cora")
    for rounds in WRITTEN_ROUNDS:
        masks, weights = drawn(config, graph, rounds)
        scores = np.random.default_rng(0).normal(size=masks.edges.keep.size)[masks.edges.keep]
        name, taken, sizes = f"stores/round {rounds} of cora gcn", list[float](), dict[str, int]()
        for number in range(REPEATS):
            seed = _fresh_seed(folder / f"{rounds}-{number}", config)
            before = time.perf_counter()
            seed.write_round(record(masks), masks, weights, scores)
            taken.append(time.perf_counter() - before)
            sizes = {path.name: path.stat().st_size for path in seed.path.glob("*.safetensors")}
        yield spread(f"{name}/written in", taken, "s")
        yield single(f"{name}/masks and scores", sizes["round-00.safetensors"], "B")
        yield single(f"{name}/weights", sizes["weights-00.safetensors"], "B")


def _fresh_seed(folder: Path, config: RunConfig) -> Any:
    seed: SeedFolder = Store(folder).create(config).seed(0)
    seed.make()
    return seed


def record(masks: Masks) -> RoundRecord:
    """Return the record of a first round with these masks."""
    macs = dict.fromkeys(MAC_CONVENTIONS, 1)
    return RoundRecord.of(0, masks, val=0.8, test=0.8, test_last=0.8, best_epoch=1, seconds=1.0, macs=macs)
