"""Latency and memory of a pruned network, measured on this machine; start at `measure`.

Four executions alternate: masks multiplied in, edges removed, sparse features, and sparse weights too.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from glt.config import RunConfig
from glt.datasets import Graph
from glt.errors import ConfigError
from glt.formats import fixed
from glt.masks import EdgeMask, Masks
from glt.models import MODELS
from glt.sparse import DenseFeatures, Features, GraphOperator, features_of
from glt.training.batching import compute_threads, forward
from glt.training.problem import Arrays

ExecutionName = Literal["masked", "edges_removed", "sparse_features", "sparse"]

LABELS: dict[ExecutionName, str] = {
    "masked": "masks multiplied in",
    "edges_removed": "edges removed",
    "sparse_features": "edges removed, sparse features",
    "sparse": "edges removed, sparse features and weights",
}
MOST_DENSE_BYTES = 2 << 30
MEMORY_EVENT = "[memory]"
COMPARED: tuple[tuple[ExecutionName, ExecutionName], ...] = (
    ("edges_removed", "masked"),
    ("sparse", "masked"),
    ("sparse", "sparse_features"),
)
REPEATS, WARM_UP = 50, 5
# With fewer passes, a single disturbance changes p10 or p90.
FEWEST = 5
TOO_FEW = "too few passes for a verdict"


@dataclass(frozen=True, eq=False)
class Execution:
    """A network ready to run; `edge_values` (0 and 1) if pruned edges are still in the operator."""

    name: ExecutionName
    config: RunConfig
    operator: GraphOperator
    features: Features
    weights: Mapping[str, Tensor]
    edge_values: Tensor | None = None

    def run(self) -> Tensor:
        """Return the outputs [N, C] of one forward pass, adjacency normalisation included."""
        return forward(self.config, self.operator, self.features, self.weights, self.edge_values)

    def held_bytes(self) -> dict[str, int]:
        """Return the bytes of weights, features and edges kept between passes."""
        structure = self.operator.structure
        edges = [structure.crow, structure.col, *([] if self.edge_values is None else [self.edge_values])]
        return {
            "weights": sum(map(tensor_bytes, self.weights.values())),
            "features": tensor_bytes(self.features.matrix),
            "edges": sum(map(tensor_bytes, edges)),
        }


def executions(config: RunConfig, graph: Graph, masks: Masks, weights: Arrays) -> list[Execution]:
    """Return the executions in the order of LABELS; `weights` are zero where pruned.

    "sparse_features" separates the gain of sparse features, which needs no pruning, from that of pruned weights.
    Features too large for a dense tensor stay sparse. Raises ConfigError for a network that keeps pruned edges.
    """
    why = MODELS.get(config.model).keeps_pruned_edges(config)
    if why is not None:
        raise ConfigError(f"This network keeps pruned edges, so there is nothing to measure: {why}.")
    sparse = features_of(graph)
    # Dense features, as in a program without sparse matrices.
    dense = DenseFeatures(sparse.matrix.to_dense()) if writes_out_features(graph) else sparse
    whole = GraphOperator(graph, EdgeMask.full(masks.edges.kind, graph.num_edges))
    left = GraphOperator(graph, masks.edges)
    factors = torch.from_numpy(masks.edges.keep.astype(np.float32))
    tensors = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in weights.items()}
    compact = {name: value.to_sparse_csr() if name in masks.weights.keep else value for name, value in tensors.items()}
    return [
        Execution("masked", config, whole, dense, tensors, factors),
        Execution("edges_removed", config, left, dense, tensors),
        Execution("sparse_features", config, left, sparse, tensors),
        Execution("sparse", config, left, sparse, compact),
    ]


def writes_out_features(graph: Graph) -> bool:
    """Return whether the features fit into memory as a dense tensor."""
    return 4 * graph.num_nodes * graph.num_features <= MOST_DENSE_BYTES


def tensor_bytes(tensor: Tensor) -> int:
    """Return the bytes of a tensor's values, and of its pattern if sparse CSR."""
    if tensor.layout is torch.sparse_csr:
        return sum(tensor_bytes(part) for part in (tensor.crow_indices(), tensor.col_indices(), tensor.values()))
    return tensor.numel() * tensor.element_size()


def peak_bytes(step: Callable[[], object]) -> int:
    """Return the peak bytes that a CPU computation allocates, results included.

    Counts every allocation of PyTorch.
    """
    with _quiet(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    results = profiler.profiler.kineto_results if profiler.profiler else None
    events = [event for event in results.events() if event.name() == MEMORY_EVENT] if results else []
    held = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard standard error, also of compiled code: the profiler writes there."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@dataclass(frozen=True)
class Measured:
    """One execution: seconds of a pass, bytes, and largest difference of outputs.

    `held_bytes` stay in memory between passes, `peak_bytes` are the most on top of them during one.
    """

    name: ExecutionName
    median: float
    p10: float
    p90: float
    held_bytes: dict[str, int]
    peak_bytes: int
    max_output_difference: float

    @property
    def memory(self) -> int:
        """Bytes in use at the peak of a pass."""
        return sum(self.held_bytes.values()) + self.peak_bytes


@dataclass(frozen=True)
class Compared:
    """Comparison of two executions; they differ if their p10 to p90 ranges do not overlap."""

    name: ExecutionName
    against: ExecutionName
    verdict: str
    times_faster: float

    @classmethod
    def of(cls, one: Measured, other: Measured, passes: int) -> Compared:
        """Compare two executions that took turns for `passes`."""
        if passes < FEWEST:
            return cls(one.name, other.name, TOO_FEW, other.median / one.median)
        verdict = "faster" if one.p90 < other.p10 else "slower" if one.p10 > other.p90 else "no measured speed-up"
        return cls(one.name, other.name, verdict, other.median / one.median)

    def words(self) -> str:
        """Return the comparison as a sentence.

        >>> Compared("sparse", "masked", "no measured speed-up", 1.1).words()
        'edges removed, sparse features and weights against masks multiplied in: no measured speed-up.'
        """
        pair = f"{LABELS[self.name]} against {LABELS[self.against]}"
        if self.verdict == "faster":
            return f"{pair}: {fixed(self.times_faster, 1)} times faster."
        return f"{pair}: {self.verdict}" + (
            f", {fixed(1 / self.times_faster, 1)} times." if self.verdict == "slower" else "."
        )


@dataclass(frozen=True)
class LatencyReport:
    """All executions of one network, how they were measured, and notes on exceptions."""

    executions: tuple[Measured, ...]
    compared: tuple[Compared, ...]
    repeats: int
    warm_up: int
    threads: int
    machine: str
    torch: str
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the measured part of `glt latency --json`."""
        found = asdict(self)
        for row, measured in zip(found["executions"], self.executions, strict=True):
            row |= {"label": LABELS[measured.name], "memory": measured.memory}
        for row, compared in zip(found["compared"], self.compared, strict=True):
            row["words"] = compared.words()
        return found


def measure(
    config: RunConfig,
    graph: Graph,
    masks: Masks,
    weights: Arrays,
    repeats: int = REPEATS,
    warm_up: int = WARM_UP,
    threads: int = 1,
    on_progress: Callable[[float], None] | None = None,
) -> LatencyReport:
    """Measure a network on the message `graph`, on the CPU; `weights` are zero where pruned.

    Executions alternate pass by pass, so that a change in the machine's speed affects all. `on_progress` is called
    between turns with the share done.
    """
    ready, turns = executions(config, graph, masks, weights), list[list[float]]()
    with compute_threads(threads):
        for turn in range(warm_up + repeats):
            marks = [time.perf_counter()]
            for execution in ready:
                execution.run()
                marks.append(time.perf_counter())
            turns.append([after - before for before, after in pairwise(marks)])
            if on_progress is not None:
                on_progress((turn + 1) / (warm_up + repeats))
        reference = ready[0].run()
        seconds = zip(*turns[warm_up:], strict=True)
        rows = [_measured(execution, times, reference) for execution, times in zip(ready, seconds, strict=True)]
    by_name = {row.name: row for row in rows}
    return LatencyReport(
        tuple(rows),
        tuple(Compared.of(by_name[name], by_name[against], repeats) for name, against in COMPARED),
        repeats,
        warm_up,
        threads,
        platform.processor() or platform.machine(),
        torch.__version__,
        _notes(config, graph),
    )


def _measured(execution: Execution, seconds: Sequence[float], reference: torch.Tensor) -> Measured:
    p10, median, p90 = (float(value) for value in np.quantile(seconds, [0.1, 0.5, 0.9]))
    difference = float((execution.run() - reference).abs().max())
    return Measured(execution.name, median, p10, p90, execution.held_bytes(), peak_bytes(execution.run), difference)


def _notes(config: RunConfig, graph: Graph) -> tuple[str, ...]:
    notes = []
    why = MODELS.get(config.model).writes_out_weights(config)
    if why is not None:
        notes.append(f"Some sparse weights are used in dense form: {why}.")
    if not writes_out_features(graph):
        notes.append("Features are sparse in all executions: dense features would not fit into memory.")
    return tuple(notes)
