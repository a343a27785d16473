"""An epoch and its floor: `python -m benchmarks floors`, CPU seconds of one thread.

The floor is the time of the kernels that an epoch of a GCN needs, each by its fastest implementation on the same data
and widths. Epochs and bare epochs alternate in one process.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, eye_array

from benchmarks.bare_epoch import BareEpoch, Kernel, SeenEpoch
from benchmarks.results import Measured, command_parser, document, spread
from benchmarks.subjects import FLOORS
from glt.datasets import load_graph
from glt.datasets.graph import Graph, IntArray
from glt.jobs.worker import keep_freed_memory
from glt.presets import resolve
from glt.seeds import stream
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import EpochResult, Schedule, Stage

DATASETS = ("cora", "citeseer", "pubmed")
STAGES = ("search", "retrain")
AIM = 1.3
# Epochs per turn; the first does not count, because the other side changed the cache.
TURN = 4


def measure_floors(words: Sequence[str]) -> dict[str, Any]:
    """Return epochs, floors, ratios and kernels by data set and stage, and the sizes of receptive fields."""
    options = _options(words)
    torch.set_num_threads(1)
    keep_freed_memory()
    sizes, results = {}, list[Measured]()
    for dataset in options.datasets:
        problem = Problem(resolve({"dataset": dataset, "hidden": options.hidden}, "official"), load_graph(dataset))
        turns = options.turns or (4 if problem.graph.num_nodes > 10_000 else 12)
        for stage in options.stages:
            results += Turns(problem, stage == "search", turns).measured(f"floors/{dataset}/{stage}")
        sizes[dataset] = seen(problem.graph)
    return {"aim": AIM, "hidden": options.hidden, "threads": 1, "seen": sizes, **document(results)}


def _options(words: Sequence[str]) -> Namespace:
    parser = command_parser("floors", "CPU seconds of an epoch and of its necessary kernels alone; one thread.")
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--stages", nargs="+", default=STAGES, choices=STAGES)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument(
        "--turns", type=int, default=0, help="turns of 4 epochs and 4 bare epochs (default: by graph size)"
    )
    return parser.parse_args(words)


def seen(graph: Graph) -> dict[str, dict[str, int]]:
    """Return the size of the two-layer receptive field of training and of scored nodes.

    The floor of seen rows works on these only.
    """
    ones = np.ones(2 * graph.num_edges, dtype=np.int64)
    source, target = graph.entries()
    adjacency = csr_array((ones, (target, source)), shape=(graph.num_nodes,) * 2) + eye_array(graph.num_nodes)
    scored = np.concatenate([graph.split.val, graph.split.test])
    parts = {"training": graph.split.train, "scored": scored, "all": np.arange(graph.num_nodes)}
    return {name: _seen_of(nodes, adjacency.tocsr(), graph) for name, nodes in parts.items()}


def _seen_of(nodes: IntArray, adjacency: csr_array, graph: Graph) -> dict[str, int]:
    hidden = np.unique(adjacency[nodes].indices)
    inputs = np.unique(adjacency[hidden].indices)
    return {
        "logits": nodes.size,
        "hidden rows": hidden.size,
        "entries to them": int(adjacency[hidden].nnz),
        "input rows": inputs.size,
        "numbers in those": int(csr_array(graph.features)[inputs].nnz),
    }


class Turns:
    """Epochs of the product's training loop, alternating with bare epochs."""

    def __init__(self, problem: Problem, soft: bool, turns: int) -> None:
        self._problem, self._turns = problem, turns
        theta, masks = problem.initial_weights(0), problem.full_masks()
        start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu") if soft else None
        self._network = Network(problem, masks, theta, start)
        bare = BareEpoch(problem, theta, arrays_of(start), stream(0, 1, "bare"))
        seen_rows = SeenEpoch(problem, theta, arrays_of(start), stream(0, 1, "bare"), bare.chosen)
        self._kernels, self._seen_kernels = bare.kernels(), seen_rows.kernels()
        self._epochs: list[float] = []
        self._floors: list[list[float]] = []
        self._seen_floors: list[float] = []
        self._mark = 0.0

    def measured(self, name: str) -> Iterator[Measured]:
        """Run all turns; yield the times of epochs, floors and kernels, and ratios."""
        epochs = TURN * (self._turns + 1)
        Stage(self._network, schedule(self._problem, epochs), stream(0, 1, "search")).run(self._on_epoch)
        floors = dict(zip(FLOORS, ([sum(each) for each in self._floors], self._seen_floors), strict=True))
        yield spread(f"{name}/epoch", self._epochs)
        for floor, taken in floors.items():
            yield spread(f"{name}/{floor}", taken)
        for floor, taken in floors.items():
            yield spread(f"{name}/epoch over {floor}", self._ratios(taken), "ratio")
        for kernel in dict.fromkeys(kernel.name for kernel in self._kernels):
            places = [place for place, each in enumerate(self._kernels) if each.name == kernel]
            total = [sum(each[place] for place in places) for each in self._floors]
            note = f"{len(places)} x, {self._kernels[places[0]].by}"
            yield spread(f"{name}/kernels/{kernel}", total, note=note)

    def _ratios(self, floors: Sequence[float]) -> list[float]:
        return [_median(self._epochs, turn) / _median(floors, turn) for turn in range(self._turns)]

    def _on_epoch(self, result: EpochResult) -> None:
        now = time.process_time()
        place = result.epoch % TURN
        # The first turn and the first epoch of every turn are warm-up.
        if result.epoch >= TURN and place:
            self._epochs.append(now - self._mark)
        if place == TURN - 1:
            taken = [_bare_epoch(self._kernels) for _ in range(TURN)]
            seen_rows = [sum(_bare_epoch(self._seen_kernels)) for _ in range(TURN)]
            if result.epoch >= TURN:
                self._floors += taken[1:]
                self._seen_floors += seen_rows[1:]
        self._mark = time.process_time()


def _bare_epoch(kernels: Sequence[Kernel]) -> list[float]:
    """Return the CPU seconds of each kernel of one epoch."""
    marks = [time.process_time()]
    for kernel in kernels:
        kernel.run()
        marks.append(time.process_time())
    return np.diff(marks).tolist()


def arrays_of(soft: SoftMasks | None) -> tuple[np.ndarray, Mapping[str, np.ndarray]] | None:
    """Return soft masks as arrays, edges first."""
    if soft is None:
        return None
    return soft.edges.detach().numpy(), {name: mask.detach().numpy() for name, mask in soft.weights.items()}


def schedule(problem: Problem, epochs: int) -> Schedule:
    """Return a search schedule with weight decay on masks too."""
    config = problem.config
    rate, decay = config.learning_rate, config.weight_decay
    return Schedule(epochs, rate, decay, rate, decay, config.gamma_graph, config.gamma_weight)


def _median(values: Sequence[float], turn: int) -> float:
    share = TURN - 1
    return statistics.median(values[turn * share : (turn + 1) * share])
