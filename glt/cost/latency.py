"""Measured latency and memory of a pruned network: what its sparsity is worth on this machine, or is not."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from glt.config import RunConfig
from glt.cost.executions import LABELS, Arrays, Execution, ExecutionName, executions, writes_out_features
from glt.cost.peak import peak_bytes
from glt.data import Graph
from glt.formats import fixed
from glt.masks import Masks
from glt.models import MODELS

COMPARED: tuple[tuple[ExecutionName, ExecutionName], ...] = (
    ("edges_removed", "masked"),
    ("sparse", "masked"),
    ("sparse", "sparse_features"),
)
REPEATS, WARM_UP = 50, 5
# With fewer, p10 and p90 are about the fastest and the slowest pass, which one disturbance moves.
FEWEST = 5
TOO_FEW = "too few passes for a verdict"


@dataclass(frozen=True)
class Measured:
    """One execution: seconds of a pass (median, 10th and 90th percentile), bytes, and how far its outputs are off.

    `held_bytes` stay in memory from pass to pass, `peak_bytes` come on top at the most during one.
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
    """One execution held against another; a difference counts only where the intervals p10 to p90 do not overlap."""

    name: ExecutionName
    against: ExecutionName
    verdict: str
    times_faster: float

    @classmethod
    def of(cls, mine: Measured, other: Measured, passes: int) -> Compared:
        """Compare two executions that took turns for a number of `passes`."""
        if passes < FEWEST:
            return cls(mine.name, other.name, TOO_FEW, other.median / mine.median)
        verdict = "faster" if mine.p90 < other.p10 else "slower" if mine.p10 > other.p90 else "no measured speed-up"
        return cls(mine.name, other.name, verdict, other.median / mine.median)

    def words(self) -> str:
        """Say it in a sentence.

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
    """All executions of one network, and how it was measured; `notes` say where an execution is not what it seems."""

    executions: tuple[Measured, ...]
    compared: tuple[Compared, ...]
    repeats: int
    warm_up: int
    threads: int
    machine: str
    torch: str
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the measured part of the document `glt latency --json` prints."""
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
    """Measure a network on the message `graph`, on the CPU; `weights` hold zeros where pruned.

    The executions take turns, pass by pass, so that a change of the machine's pace falls on all of them.
    `on_progress` is called between turns with the share done.
    """
    ready = executions(config, graph, masks, weights)
    with _threads(threads):
        seconds = _taking_turns([each.run for each in ready], repeats, warm_up, on_progress)
        reference = ready[0].run()
        rows = [_measured(each, times, reference) for each, times in zip(ready, seconds, strict=True)]
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


def _taking_turns(
    steps: Sequence[Callable[[], object]],
    repeats: int,
    warm_up: int,
    on_progress: Callable[[float], None] | None = None,
) -> list[list[float]]:
    """Return the wall-clock seconds of every step in every timed turn."""
    turns = []
    for turn in range(warm_up + repeats):
        turns.append([_seconds(step) for step in steps])
        if on_progress is not None:
            on_progress((turn + 1) / (warm_up + repeats))
    return [list(times) for times in zip(*turns[warm_up:], strict=True)]


def _seconds(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _notes(config: RunConfig, graph: Graph) -> tuple[str, ...]:
    notes = []
    why = MODELS.get(config.model).writes_out_weights(config)
    if why is not None:
        notes.append(f"Sparse weights are not used throughout: {why}, for which their zeros are written out.")
    if not writes_out_features(graph):
        notes.append("Features are sparse in all executions: written out they would not fit.")
    return tuple(notes)
