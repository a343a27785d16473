"""That the deep network learns from the graph: `python -m benchmarks learning FOLDER`.

The network and the same network without any edge, which is a residual MLP on the same features, are trained alike on
ogbn_arxiv in the data root FOLDER; both accuracies at the best validation epoch are reported.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from glt.datasets import load_graph
from glt.lottery.lottery import retrain_schedule
from glt.masks import EdgeMask, Masks
from glt.presets import resolve
from glt.seeds import stream
from glt.training.network import Network
from glt.training.problem import Problem
from glt.training.trainer import train
from glt.user_path import user_path


def measure_learning(arguments: Sequence[str]) -> dict[str, Any]:
    """Return both accuracies, as fractions, and what they are of."""
    options = _parser().parse_args(arguments)
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
    result = train(network, retrain_schedule(problem.config), stream(0, 0, "retrain"), lambda _: None)
    return {"val": round(result.best.val, 4), "test": round(result.best.test, 4), "best_epoch": result.best_epoch}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks learning", description=__doc__)
    parser.add_argument("folder", type=user_path, help="data root with ogbn_arxiv")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=60)
    return parser
