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

DENSE_REPETITIONS = 2


def measure(epochs: int) -> dict[str, Any]:
    """Return CPU seconds an epoch of each formulation, one thread, and how many times ours is faster."""
    torch.set_num_threads(1)
    keep_freed_memory()
    config, graph = resolve({"dataset": "cora"}, "official"), load_graph("cora")
    problem = Problem(config, graph)
    seconds = {
        "search": epoch_seconds(problem, epochs, soft=True),
        "retrain": epoch_seconds(problem, epochs, soft=False),
        "pyg": median_cpu_seconds(pyg_search(graph, config).epoch, max(epochs // 4, 3)),
        "dense": median_cpu_seconds(dense_search(graph, config).epoch, DENSE_REPETITIONS),
    }
    ratios = {name: seconds[name] / seconds["search"] for name in ("pyg", "dense")}
    return {"cpu_seconds_an_epoch": seconds, "times_faster_than": ratios, "machine": machine()}


def epoch_seconds(problem: Problem, epochs: int, soft: bool) -> float:
    """Return the median CPU seconds of an epoch of the product's own training loop."""
    masks = problem.full_masks()
    start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), problem.device) if soft else None
    network = Network(problem, masks, problem.initial_weights(0), start)
    marks: list[float] = []
    plan = schedule(problem.config, epochs + 1)
    train(network, plan, stream(0, 1, "search"), lambda _: marks.append(time.process_time()))
    return statistics.median(after - before for before, after in pairwise(marks))


def schedule(config: RunConfig, epochs: int) -> Schedule:
    """Return a search schedule of so many epochs."""
    rate, decay = config.learning_rate, config.weight_decay
    return Schedule(epochs, rate, decay, rate, decay, config.gamma_graph, config.gamma_weight)


def machine() -> dict[str, str | int]:
    """Say on what this was measured."""
    return {"processor": platform.processor() or platform.machine(), "torch": torch.__version__, "threads": 1}
