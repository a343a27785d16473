"""Reading a store of a thousand runs, and writing rounds: `python -m benchmarks stores`.

Runs of two seeds and twenty rounds have settings of their own and share the files of one whose rounds are drawn at
random in the real format. Written rounds are those of the GCN of 512 on Cora, with the masks of rounds 0, 10 and 20.
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
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.tables import rounds_table
from benchmarks.arxiv import drawn
from benchmarks.generated_store import configs, fill
from benchmarks.own_process import ROOT
from benchmarks.results import Measured, document, repeated, single, spread
from benchmarks.subjects import network_of
from glt.cli.documents import list_entry
from glt.config import RunConfig
from glt.datasets import load_graph
from glt.masks import Masks
from glt.store import MAC_CONVENTIONS, RoundRecord, SeedFolder, Store

RUNS = 1000
ROUNDS = (0, 10, 20)
REPEATS = 5


def measure_stores(words: Sequence[str]) -> dict[str, Any]:
    """Return seconds to list a store and to tabulate its rounds, and bytes and seconds of a round's files."""
    parser = ArgumentParser(prog="python -m benchmarks stores", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs in the store (default: 1000)")
    parser.add_argument("--seconds", type=float, default=4, help="for how long to repeat each (default: 4)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
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

    # A new Store knows nothing yet of what lies in the folder.
    steps = {
        "listed": lambda: [list_entry(run) for run in Store(folder, writable=False).all_runs()],
        "table of all rounds": lambda: rounds_table(Store(folder, writable=False).runs()),
        "glt list, whole command": by_command,
    }
    for which, step in steps.items():
        yield repeated(f"{name}/{which}", step, REPEATS, seconds, time.perf_counter, untimed=0)


def many_runs(folder: Path, count: int) -> None:
    """Make a store of so many runs (at most 1,008) whose seeds are links to those of one: writing takes minutes."""
    written = fill(folder.with_name("one"), 1).runs()[0]
    store = Store(folder)
    for config in itertools.islice(configs(), count):
        run = store.create(config)
        for seed in written.seeds():
            shutil.copytree(written.seed(seed).path, run.seed(seed).path, copy_function=os.link)


def _writing(folder: Path) -> Iterator[Measured]:
    config, graph = network_of("cora", "gcn"), load_graph("cora")
    for rounds in ROUNDS:
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
    """Return the line of a first round with these masks."""
    macs = dict.fromkeys(MAC_CONVENTIONS, 1)
    return RoundRecord.of(0, masks, val=0.8, test=0.8, test_last=0.8, best_epoch=1, seconds=1.0, macs=macs)
