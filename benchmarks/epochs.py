"""Epochs of training: every network on every graph, and a GCN in four formulations.

A search epoch trains weights and masks, a retraining epoch only weights; both end with an evaluation. The formulations
are this product's, PyTorch Geometric's, a dense N x N one, and the authors' dense one.
"""

from __future__ import annotations

import contextlib
import time
from argparse import SUPPRESS, Namespace
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.floors import schedule
from benchmarks.results import (
    Measured,
    command_parser,
    cpu_seconds,
    document,
    in_own_process,
    peak_bytes,
    repeated,
    single,
    spread,
)
from benchmarks.subjects import ARXIV, MODELS, SMALL, graph_of, network_of
from glt.config import RunConfig
from glt.datasets.graph import Graph
from glt.jobs.worker import keep_freed_memory
from glt.seeds import stream
from glt.sparse import row_normalised
from glt.training.batching import passes_of
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import EpochResult, Stage

STAGES = ("search", "retrain")
SUBJECTS = (*SMALL, ARXIV)
WARM_UP, FEWEST, MOST_EPOCHS = 2, 2, 200


class _Enough(Exception):
    pass


def measure_epochs(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds of an epoch and peak memory by graph, network and stage."""
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
    parser = command_parser("epochs", "CPU seconds and peak memory of an epoch, by graph, network and stage.")
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS, choices=SUBJECTS)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--stages", nargs="+", default=STAGES, choices=STAGES)
    parser.add_argument("--seconds", type=float, default=5, help="seconds of repetitions per stage (default: 5)")
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    return parser.parse_args(words)


def _in_own_process(subject: str, model: str, stage: str, seconds: float) -> list[Measured]:
    words = ["--subjects", subject, "--models", model, "--stages", stage, "--seconds", str(seconds)]
    return [Measured.model_validate(each) for each in in_own_process("epochs", words)["results"]]


def _stage(subject: str, model: str, stage: str, seconds: float) -> list[Measured]:
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


def network_in(problem: Problem, stage: str) -> Network:
    """Return the unpruned network as a stage trains it, with soft masks in a search."""
    masks = problem.full_masks()
    draws = stream(0, 1, "mask start")
    soft = SoftMasks.around_one(masks, 1e-5, draws, problem.device) if stage == "search" else None
    return Network(problem, masks, problem.initial_weights(0), soft)


def epoch_seconds(network: Network, stage: str, seconds: float, most: int = MOST_EPOCHS) -> list[float]:
    """Return CPU seconds of epochs of the product's training loop, as many as fit into `seconds`."""
    marks: list[float] = []
    begun = time.process_time()

    def on_epoch(result: EpochResult) -> None:
        marks.append(time.process_time())
        if result.epoch >= WARM_UP + FEWEST - 1 and time.process_time() - begun > seconds:
            raise _Enough

    with contextlib.suppress(_Enough):
        Stage(network, schedule(network.problem, WARM_UP + most), stream(0, 1, stage)).run(on_epoch)
    return [after - before for before, after in pairwise(marks[WARM_UP - 1 :])]


def _evaluation(name: str, network: Network, seconds: float) -> Measured:
    """Time an evaluation, first layer included."""
    passes = passes_of(network)

    def evaluate() -> None:
        with torch.no_grad():
            passes.refresh()
            passes.evaluate()

    return repeated(name, evaluate, MOST_EPOCHS, seconds / 2)


# Four formulations of a search epoch.

# One dense N x N tensor of PubMed takes 1.5 GB, and Adam keeps two.
MOST_DENSE_NODES = 4000
NAMES = ("ours", "pyg", "dense", "authors")
EPOCHS_OF_PYG = 3

Seconds = Callable[[], list[float]]


def measure_formulations(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds of an epoch, ratios to the product and peak memory, by graph.

    Formulations alternate in one process, because the speed of a machine drifts within a minute.
    """
    options = _formulations_options(words)
    if options.here:
        return document(_here(options.subjects[0], options.only, options.turns))
    results: list[Measured] = []
    for subject in options.subjects:
        results += _of_process(subject, options.turns)
        for name in (each for each in NAMES if options.memory and _fits(each, graph_of(subject).num_nodes)):
            results += _of_process(subject, 1, name)
    return document(results)


def _formulations_options(words: Sequence[str]) -> Namespace:
    parser = command_parser("formulations", "CPU seconds of a GCN search epoch in four formulations; one thread.")
    parser.add_argument("--subjects", nargs="+", default=SMALL, choices=SMALL)
    parser.add_argument("--turns", type=int, default=2, help="repetitions of all four (default: 2)")
    parser.add_argument("--memory", action="store_true", help="also measure peak memory, each in a separate process")
    parser.add_argument("--only", choices=NAMES, help=SUPPRESS)
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    return parser.parse_args(words)


def _of_process(subject: str, turns: int, only: str = "") -> list[Measured]:
    words = ["--subjects", subject, "--turns", str(turns), *(["--only", only] if only else [])]
    return [Measured.model_validate(each) for each in in_own_process("formulations", words)["results"]]


def _here(subject: str, only: str | None, turns: int) -> list[Measured]:
    torch.set_num_threads(1)
    keep_freed_memory()
    name, steps = f"formulations/{subject}", _steps(subject, [only] if only else NAMES)
    taken = [{which: seconds() for which, seconds in steps.items()} for _ in range(turns)]
    if only:
        return [single(f"{name}/{only} memory", peak_bytes(), "B")]
    found = [spread(f"{name}/{which}", [each for turn in taken for each in turn[which]]) for which in steps]
    return [*found, *(_times_faster(name, which, taken) for which in steps if which != "ours")]


def _steps(subject: str, wanted: Sequence[str]) -> dict[str, Seconds]:
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
    """Return the ratio of medians by turn."""
    ratios = [float(np.median(turn[which]) / np.median(turn["ours"])) for turn in turns]
    return spread(f"{name}/times faster than {which}", ratios, "ratio", lower_is_better=False)


# The other formulations; they train and evaluate as the product does.

Forward = Callable[[Tensor, list[Tensor], bool], Tensor]


class MaskedSearch:
    """Parameters and an epoch of UGS search around a given forward pass."""

    def __init__(self, graph: Graph, config: RunConfig, edge_mask: Tensor, forward: Forward) -> None:
        shapes = [(graph.num_features, config.hidden), (config.hidden, graph.num_classes)]
        self._weights = [nn.Parameter(torch.randn(shape) / np.sqrt(shape[0])) for shape in shapes]
        self._masks = [nn.Parameter(torch.ones(shape)) for shape in shapes]
        self._edge_mask = nn.Parameter(edge_mask)
        self._forward, self._config = forward, config
        self._labels = torch.from_numpy(graph.labels)
        self._train, self._val = (torch.from_numpy(nodes) for nodes in (graph.split.train, graph.split.val))
        parameters = [*self._weights, *self._masks, self._edge_mask]
        self._optimiser = torch.optim.Adam(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)

    def epoch(self) -> float:
        """Train one step with both penalties; return the validation accuracy."""
        output = self._forward(self._edge_mask, self._effective(), True)
        loss = functional.cross_entropy(output[self._train], self._labels[self._train])
        loss = loss + self._config.gamma_graph * self._edge_mask.abs().sum()
        loss = loss + self._config.gamma_weight * torch.stack([mask.abs().sum() for mask in self._masks]).sum()
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        with torch.no_grad():
            output = self._forward(self._edge_mask, self._effective(), False)
        return float((output[self._val].argmax(1) == self._labels[self._val]).float().mean())

    def _effective(self) -> list[Tensor]:
        return [weight * mask for weight, mask in zip(self._weights, self._masks, strict=True)]


def dense_features(graph: Graph) -> Tensor:
    """Return the row-normalised features as a dense [N, F] tensor."""
    return torch.from_numpy(row_normalised(graph.features).toarray())


def dense_search(graph: Graph, config: RunConfig) -> MaskedSearch:
    """Return the dense N x N formulation, scaled by broadcasting."""
    return _dense(graph, config, lambda masked, root: root[:, None] * masked * root[None, :])


def authors_search(graph: Graph, config: RunConfig) -> MaskedSearch:
    """Return the dense formulation of the authors' code.

    The normalisation is two products with diagonal N x N matrices.
    """

    def normalise(masked: Tensor, root: Tensor) -> Tensor:
        scale = torch.diag(root)
        return ((masked @ scale).t() @ scale).t()

    return _dense(graph, config, normalise)


def _dense(graph: Graph, config: RunConfig, normalise: Callable[[Tensor, Tensor], Tensor]) -> MaskedSearch:
    features = dense_features(graph)
    adjacency = torch.zeros(graph.num_nodes, graph.num_nodes)
    source, target = torch.from_numpy(graph.entries())
    adjacency[target, source] = 1
    identity = torch.eye(graph.num_nodes)

    def forward(mask: Tensor, weights: list[Tensor], training: bool) -> Tensor:
        masked = adjacency * mask + identity
        root = masked.sum(dim=0).clamp(min=1e-6).rsqrt()
        normalised = normalise(masked, root)
        hidden = torch.relu((normalised @ features) @ weights[0])
        return (normalised @ functional.dropout(hidden, config.dropout, training)) @ weights[1]

    return MaskedSearch(graph, config, torch.ones_like(adjacency), forward)


def pyg_search(graph: Graph, config: RunConfig) -> MaskedSearch:
    """Return PyTorch Geometric's GCNConv with a trainable edge weight and dense features."""
    from torch_geometric.nn import GCNConv

    features = dense_features(graph)
    edge_index = torch.from_numpy(graph.entries())
    convolution = GCNConv(1, 1, bias=False)
    convolution.lin = nn.Identity()

    def forward(mask: Tensor, weights: list[Tensor], training: bool) -> Tensor:
        hidden = torch.relu(convolution(features @ weights[0], edge_index, mask))
        hidden = functional.dropout(hidden, config.dropout, training)
        result: Tensor = convolution(hidden @ weights[1], edge_index, mask)
        return result

    return MaskedSearch(graph, config, torch.ones(edge_index.shape[1]), forward)
