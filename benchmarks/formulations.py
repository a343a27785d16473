"""A search epoch of a GCN in four formulations: `python -m benchmarks formulations`, CPU seconds of one thread.

Ours; PyTorch Geometric as its documentation has it; dense N x N as it might be written; and dense as the authors' code
has it, whose normalisation is products with diagonal N x N matrices. They take turns in one process, because a
machine's own pace drifts within a minute; peak memory is that of a process each.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.epochs import epoch_seconds, network_in
from benchmarks.own_process import in_own_process, peak_bytes
from benchmarks.results import Measured, document, single, spread
from benchmarks.subjects import SMALL, graph_of, network_of
from benchmarks.timing import cpu_seconds

# Dense N x N tensors of PubMed take a gigabyte and a half each, and Adam alone keeps two.
MOST_DENSE_NODES = 4000
NAMES = ("ours", "pyg", "dense", "authors")
EPOCHS_OF_PYG = 3

Seconds = Callable[[], list[float]]


def measure_formulations(words: Sequence[str]) -> dict[str, Any]:
    """Return for each graph the CPU seconds of an epoch of each, how many times ours is faster, and peak memory."""
    options = _options(words)
    if options.here:
        return document(_here(options.subjects[0], options.only, options.turns))
    results: list[Measured] = []
    for subject in options.subjects:
        results += _of_process(subject, options.turns)
        for name in (each for each in NAMES if options.memory and _fits(each, graph_of(subject).num_nodes)):
            results += _of_process(subject, 1, name)
    return document(results)


def _options(words: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks formulations", description=__doc__)
    parser.add_argument("--subjects", nargs="+", default=SMALL, choices=SMALL)
    parser.add_argument("--turns", type=int, default=2, help="turns of all four (default: 2)")
    parser.add_argument("--memory", action="store_true", help="peak memory of each too, in a process of its own")
    parser.add_argument("--only", choices=NAMES, help=SUPPRESS)
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    return parser.parse_args(words)


def _of_process(subject: str, turns: int, only: str = "") -> list[Measured]:
    words = ["--subjects", subject, "--turns", str(turns), *(["--only", only] if only else [])]
    return [Measured.model_validate(each) for each in in_own_process("formulations", words)["results"]]


def _here(subject: str, only: str | None, turns: int) -> list[Measured]:
    import torch

    from glt.jobs.worker import keep_freed_memory

    torch.set_num_threads(1)
    keep_freed_memory()
    name, steps = f"formulations/{subject}", _steps(subject, [only] if only else NAMES)
    taken = [{which: seconds() for which, seconds in steps.items()} for _ in range(turns)]
    if only:
        return [single(f"{name}/{only} memory", peak_bytes(), "B")]
    found = [spread(f"{name}/{which}", [each for turn in taken for each in turn[which]]) for which in steps]
    return [*found, *(_times_faster(name, which, taken) for which in steps if which != "ours")]


def _steps(subject: str, wanted: Sequence[str]) -> dict[str, Seconds]:
    from benchmarks.references import authors_search, dense_search, pyg_search
    from glt.training.problem import Problem

    config, graph = network_of(subject, "gcn"), graph_of(subject)

    def repeat(step: Callable[[], object], times: int, untimed: int = 1) -> Seconds:
        return lambda: [cpu_seconds(step) for _ in range(untimed + times)][untimed:]

    made: dict[str, Callable[[], Seconds]] = {
        "ours": lambda: lambda: epoch_seconds(network_in(Problem(config, graph), "search"), "search", 2),
        "pyg": lambda: repeat(pyg_search(graph, config).epoch, EPOCHS_OF_PYG),
        "dense": lambda: repeat(dense_search(graph, config).epoch, 1),
        "authors": lambda: repeat(authors_search(graph, config).epoch, 1, untimed=0),
    }
    return {name: made[name]() for name in wanted if _fits(name, graph.num_nodes)}


def _fits(name: str, nodes: int) -> bool:
    return name not in ("dense", "authors") or nodes <= MOST_DENSE_NODES


def _times_faster(name: str, which: str, turns: Sequence[dict[str, list[float]]]) -> Measured:
    """Return the ratio of medians in each turn."""
    import numpy as np

    ratios = [float(np.median(turn[which]) / np.median(turn["ours"])) for turn in turns]
    return spread(f"{name}/times faster than {which}", ratios, "ratio", lower_is_better=False)
