"""One UGS search epoch on Cora, evaluation included: ours against the dense and the PyG formulation."""

from __future__ import annotations

import statistics
import time
from itertools import pairwise
from typing import Any

import torch

from benchmarks.epochs import network_in
from benchmarks.floors import schedule
from benchmarks.machine import machine, versions
from benchmarks.references import dense_search, pyg_search
from benchmarks.timing import median_cpu_seconds
from glt.datasets import load_graph
from glt.jobs.worker import keep_freed_memory
from glt.presets import resolve
from glt.seeds import stream
from glt.training.problem import Problem
from glt.training.trainer import train

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
        "search": lambda: epoch_seconds(problem, "search", share),
        "retrain": lambda: epoch_seconds(problem, "retrain", share),
        "pyg": lambda: median_cpu_seconds(pyg.epoch, max(share // 4, 3)),
        "dense": lambda: median_cpu_seconds(dense.epoch, 1),
    }
    turns = [{name: seconds() for name, seconds in formulations.items()} for _ in range(TURNS)]
    return {
        "cpu_seconds_an_epoch": {name: statistics.median(turn[name] for turn in turns) for name in formulations},
        "times_faster_than": {
            name: statistics.median(turn[name] / turn["search"] for turn in turns) for name in ("pyg", "dense")
        },
        "machine": {**machine(), **versions(), "threads": 1},
    }


def epoch_seconds(problem: Problem, stage: str, epochs: int) -> float:
    """Return the median CPU seconds of an epoch of the product's own training loop, after warm-up."""
    marks: list[float] = []
    plan = schedule(problem, WARM_UP + epochs)
    train(network_in(problem, stage), plan, stream(0, 1, stage), lambda _: marks.append(time.process_time()))
    return statistics.median(after - before for before, after in pairwise(marks[WARM_UP - 1 :]))
