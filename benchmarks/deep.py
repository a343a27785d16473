"""The deep network on ogbn-arxiv: how its cost grows (`deep`), and whether it uses the edges (`learning`).

Folders are data roots with ogbn_arxiv, as `arxiv-layout` writes them. Growth exponents are slopes of log time and log
memory against log edges, for one UGS search epoch in a separate process.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.results import command_parser, in_own_process, peak_bytes
from glt.datasets import load_graph
from glt.lottery.lottery import retrain_schedule
from glt.masks import EdgeMask, Masks
from glt.presets import resolve
from glt.seeds import stream
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import Schedule, Stage
from glt.user_path import user_path


def measure_deep(arguments: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds and peak memory of a search epoch by folder, and growth exponents."""
    parser = command_parser("deep", "Growth of time and memory of the deep network with the graph.")
    parser.add_argument("folders", type=user_path, nargs="+", help="data roots with ogbn_arxiv")
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        return _epoch(options.layers, options.hidden)
    measured = []
    for folder in options.folders:
        words = [str(folder), "--layers", str(options.layers), "--hidden", str(options.hidden)]
        found = in_own_process("deep", words, {"GLT_DATA": str(folder)})
        measured.append({"folder": str(folder), **found})
    growth = {what: _exponent(measured, what) for what in ("cpu_seconds", "peak_bytes")} if len(measured) > 1 else {}
    return {"layers": options.layers, "hidden": options.hidden, "folders": measured, "exponents": growth}


def _epoch(layers: int, hidden: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    values = {"dataset": "ogbn-arxiv", "model": "resgcn", "layers": layers, "hidden": hidden}
    config = resolve({**values, "epochs": 1, "retrain_epochs": 1})
    graph = load_graph(config.dataset)
    before = time.process_time()
    problem = Problem(config, graph)
    masks = problem.full_masks()
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu")
    network = Network(problem, masks, problem.initial_weights(0), soft)
    prepared = time.process_time()
    resting = peak_bytes()
    rate = config.learning_rate
    schedule = Schedule(1, rate, config.weight_decay, rate, 0.0, config.gamma_graph, config.gamma_weight)
    Stage(network, schedule, stream(0, 1, "search")).run(lambda _: None)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "prepare_cpu_seconds": round(prepared - before, 1),
        "cpu_seconds": round(time.process_time() - prepared, 1),
        "resting_bytes": resting,
        "peak_bytes": peak_bytes(),
    }


def _exponent(measured: Sequence[dict[str, Any]], what: str) -> float:
    """Return the slope of log `what` against log edges; memory without that at the start."""
    base = [each["resting_bytes"] if what == "peak_bytes" else 0 for each in measured]
    grown = [each[what] - start for each, start in zip(measured, base, strict=True)]
    slope = np.polyfit(np.log([each["edges"] for each in measured]), np.log(grown), 1)[0]
    return round(float(slope), 3)


# Accuracy with and without edges.


def measure_learning(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the accuracies with and without edges, as fractions.

    Without edges the network is a residual MLP on the same features.
    """
    parser = command_parser("learning", "Accuracy of the deep network with and without edges.")
    parser.add_argument("folder", type=user_path, help="data root with ogbn_arxiv")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args(arguments)
    os.environ["GLT_DATA"] = str(options.folder)
    torch.set_num_threads(1)
    values = {"dataset": "ogbn-arxiv", "model": "resgcn", "layers": options.layers, "hidden": options.hidden}
    config = resolve({**values, "retrain_epochs": options.epochs, "gen_self_loops": False})
    problem = Problem(config, load_graph(config.dataset))
    full = problem.full_masks()
    nothing = Masks(EdgeMask(full.edges.kind, np.zeros_like(full.edges.keep)), full.weights)
    return {
        "nodes": problem.graph.num_nodes,
        "edges": problem.graph.num_edges,
        "layers": config.layers,
        "hidden": config.hidden,
        "epochs": config.retrain_epochs,
        "with edges": _accuracy(problem, full),
        "without edges": _accuracy(problem, nothing),
    }


def _accuracy(problem: Problem, masks: Masks) -> dict[str, Any]:
    network = Network(problem, masks, problem.initial_weights(0))
    result = Stage(network, retrain_schedule(problem.config), stream(0, 0, "retrain")).run(lambda _: None)
    return {"val": round(result.best.val, 4), "test": round(result.best.test, 4), "best_epoch": result.best_epoch}
