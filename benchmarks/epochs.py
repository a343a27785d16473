"""Epochs of every network on every graph: `python -m benchmarks epochs`, CPU seconds of one thread.

A search epoch trains weights and masks, a retraining epoch the weights alone; both end with an evaluation, which is
also timed by itself. Each stage runs in a process of its own, whose peak memory is reported.
"""

from __future__ import annotations

import contextlib
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from benchmarks.own_process import in_own_process, peak_bytes
from benchmarks.results import Measured, document, repeated, single, spread
from benchmarks.subjects import ARXIV, MODELS, SMALL, graph_of, network_of

STAGES = ("search", "retrain")
SUBJECTS = (*SMALL, ARXIV)
WARM_UP, FEWEST, MOST = 2, 2, 200


class _Enough(Exception):
    pass


def measure_epochs(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds of an epoch and peak memory, for each graph, network and stage."""
    options = _options(words)
    if options.here:
        return document(_stage(options.subjects[0], options.models[0], options.stages[0], options.seconds))
    results: list[Measured] = []
    for subject in options.subjects:
        for model in options.models:
            for stage in options.stages:
                results += _in_own_process(subject, model, stage, options.seconds)
    return document(results)


def _options(words: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks epochs", description=__doc__)
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS, choices=SUBJECTS)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--stages", nargs="+", default=STAGES, choices=STAGES)
    parser.add_argument("--seconds", type=float, default=5, help="for how long to repeat a stage's epochs (default: 5)")
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    return parser.parse_args(words)


def _in_own_process(subject: str, model: str, stage: str, seconds: float) -> list[Measured]:
    words = ["--subjects", subject, "--models", model, "--stages", stage, "--seconds", str(seconds)]
    return [Measured.model_validate(each) for each in in_own_process("epochs", words)["results"]]


def _stage(subject: str, model: str, stage: str, seconds: float) -> list[Measured]:
    import torch

    from glt.jobs.worker import keep_freed_memory
    from glt.training.problem import Problem

    torch.set_num_threads(1)
    config = network_of(subject, model)
    problem = Problem(config, graph_of(subject))
    if not problem.model.gives_memory_back:
        keep_freed_memory()
    name = f"epochs/{subject}/{model}"
    network = network_in(problem, stage)
    found = [spread(f"{name}/{stage}", epoch_seconds(network, stage, seconds))]
    found.append(single(f"{name}/{stage} memory", peak_bytes(), "B"))
    return found if stage == "search" else [*found, _evaluation(f"{name}/evaluation", network, seconds)]


def network_in(problem: Any, stage: str) -> Any:
    """Return the network of round 0's masks that a stage trains, soft masks around one for a search."""
    from glt.seeds import stream
    from glt.training.network import Network, SoftMasks

    masks = problem.full_masks()
    draws = stream(0, 1, "mask start")
    soft = SoftMasks.around_one(masks, 1e-5, draws, problem.device) if stage == "search" else None
    return Network(problem, masks, problem.initial_weights(0), soft)


def epoch_seconds(network: Any, stage: str, seconds: float) -> list[float]:
    """Return the CPU seconds of epochs of the product's own loop, of as many as fit into `seconds`."""
    from benchmarks.floors import schedule
    from glt.seeds import stream
    from glt.training.trainer import EpochResult, train

    marks: list[float] = []
    begun = time.process_time()

    def on_epoch(result: EpochResult) -> None:
        marks.append(time.process_time())
        if result.epoch >= WARM_UP + FEWEST - 1 and time.process_time() - begun > seconds:
            raise _Enough

    with contextlib.suppress(_Enough):
        train(network, schedule(network.problem, WARM_UP + MOST), stream(0, 1, stage), on_epoch)
    return [after - before for before, after in pairwise(marks[WARM_UP - 1 :])]


def _evaluation(name: str, network: Any, seconds: float) -> Measured:
    """Time a whole evaluation, first layer included."""
    import torch

    from glt.training.batching import passes_of

    passes = passes_of(network)

    def evaluate() -> None:
        with torch.no_grad():
            passes.refresh()
            passes.evaluate()

    return repeated(name, evaluate, MOST, seconds / 2)
