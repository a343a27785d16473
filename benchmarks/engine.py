"""One UGS search epoch on Cora, evaluation included: ours against the dense and the PyG formulation."""

from __future__ import annotations

import platform
import statistics
import time
from itertools import pairwise
from typing import Any

import torch

from benchmarks.references import dense_search, pyg_search
from benchmarks.timing import median_cpu_seconds
from glt.config import RunConfig
from glt.data import load_graph
from glt.presets import resolve
from glt.randomness import stream
from glt.sparse import keep_freed_memory
from glt.training.loop import Schedule, train
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem

# The machine's own pace drifts within a minute by more than what is measured, so the formulations take turns.
TURNS = 5
WARM_UP = 2


def measure(epochs: int) -> dict[str, Any]:
    """Return CPU seconds an epoch of each formulation, one thread, and how many times ours is faster.

    `epochs` are those of ours over all turns; the others, slower, get fewer. A ratio is the median over turns.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    config, graph = resolve({"dataset": "cora"}, "official"), load_graph("cora")
    problem = Problem(config, graph)
    pyg, dense, share = pyg_search(graph, config), dense_search(graph, config), max(epochs // TURNS, 3)
    formulations = {
        "search": lambda: epoch_seconds(problem, share, soft=True),
        "retrain": lambda: epoch_seconds(problem, share, soft=False),
        "pyg": lambda: median_cpu_seconds(pyg.epoch, max(share // 4, 3)),
        "dense": lambda: median_cpu_seconds(dense.epoch, 1),
    }
    turns = [{name: seconds() for name, seconds in formulations.items()} for _ in range(TURNS)]
    return {
        "cpu_seconds_an_epoch": {name: statistics.median(turn[name] for turn in turns) for name in formulations},
        "times_faster_than": {
            name: statistics.median(turn[name] / turn["search"] for turn in turns) for name in ("pyg", "dense")
        },
        "machine": machine(),
    }


def epoch_seconds(problem: Problem, epochs: int, soft: bool) -> float:
    """Return the median CPU seconds of an epoch of the product's own training loop, after warm-up."""
    masks = problem.full_masks()
    start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), problem.device) if soft else None
    network = Network(problem, masks, problem.initial_weights(0), start)
    marks: list[float] = []
    plan = schedule(problem.config, WARM_UP + epochs)
    train(network, plan, stream(0, 1, "search"), lambda _: marks.append(time.process_time()))
    return statistics.median(after - before for before, after in pairwise(marks[WARM_UP - 1 :]))


def schedule(config: RunConfig, epochs: int) -> Schedule:
    """Return a search schedule of so many epochs."""
    rate, decay = config.learning_rate, config.weight_decay
    return Schedule(epochs, rate, decay, rate, decay, config.gamma_graph, config.gamma_weight)


def machine() -> dict[str, str | int]:
    """Say on what this was measured."""
    return {"processor": platform.processor() or platform.machine(), "torch": torch.__version__, "threads": 1}
