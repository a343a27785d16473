"""Estimates before runs start: epochs, time, disk and memory; begin at `forecast`."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.formats import file_size
from glt.jobs import memory
from glt.jobs.devices import Wanted, places
from glt.jobs.memory import needed_bytes, side_by_side_bytes
from glt.methods import METHODS
from glt.methods.base import SEARCH_EPOCHS
from glt.models import MODELS
from glt.store import RoundRecord, Run, Store, finished_rounds, run_name
from glt.store.tensors import MOST_SCORES
from glt.training.problem import network_shape
from glt.training.tasks import TASKS
from glt.user_path import free_bytes

# Bytes of one line of events, of one line of rounds, and of a tensor file's header.
EVENT_LINE = 100
ROUND_LINE = 420
HEADER = 700
# Seconds until a worker's first epoch: Python starts, torch is imported, data are loaded.
WORKER_START = 4.0
# Fixed cost of an epoch in hidden units, from a line through epochs of 16 to 512 units on Cora.
WIDTH_OF_THE_REST = 46
# Factor (log) by which epochs of two methods may differ; a pace of another size is preferred to one further off.
OTHER_METHOD = math.log(2)


@dataclass(frozen=True)
class Pace:
    """Seconds per epoch, the run it is from, and where and how that was timed."""

    seconds: float
    run: str
    timed: str


@dataclass(frozen=True)
class Forecast:
    """The cost of some seeds of some runs; `seconds` is None if no run was ever timed.

    `epochs` and `size_bytes` are totals, without rounds already on disk. `seconds` is the time until the last of
    `workers` processes ends with `cores` at a time; `memory_bytes` is what the largest of those need.
    """

    workers: int
    cores: int
    epochs: int
    size_bytes: int
    seconds: float | None
    basis: str
    memory_bytes: int = 0


def forecast(
    store: Store, configs: Sequence[RunConfig], seeds: Sequence[int], timed: Sequence[Run], device: Wanted = None
) -> Forecast:
    """Forecast the cost of `seeds` of `configs`, at the pace of `timed` runs (most trusted first)."""
    known = {run.name: run for run in store.runs()}
    cores = places(device)
    paces = [pace(config, timed) for config in configs]
    epochs: list[int] = []
    spans: list[float] = []
    needs: list[int] = []
    size = 0
    for config, found in zip(configs, paces, strict=True):
        run, growth, need = known.get(run_name(config)), Growth(config), needed_bytes(config)
        for seed in seeds:
            rounds = range(run.seed(seed).whole_rounds() if run else 0, config.rounds + 1)
            epochs.append(sum(epochs_of(config, number) for number in rounds))
            spans.append(WORKER_START + epochs[-1] * found.seconds if found and epochs[-1] else 0.0)
            needs += [need] if rounds else []
            size += growth.of_rounds(rounds)
    memory = side_by_side_bytes(needs, cores)
    seconds = side_by_side(spans, cores) if all(paces) else None
    runs: dict[str, dict[str, None]] = {}
    for found in filter(None, paces):
        runs.setdefault(found.timed, {})[found.run] = None
    basis = "; ".join(f"{', '.join(of)}, {how}" for how, of in runs.items()) or "no run was timed yet"
    return Forecast(len(epochs), cores, sum(epochs), size, seconds, basis, memory)


def shortages(cost: Forecast, root: Path) -> list[str]:
    """Return a sentence for the disk of the store `root` and for memory, where less is free than the runs need."""
    free, available = free_bytes(root), memory.available_bytes()
    sentences = []
    if cost.size_bytes > free:
        sentences.append(
            f"The disk of {root} has {file_size(free)} free, less than these runs need: empty the trash, or choose "
            "fewer seeds or another store."
        )
    if cost.memory_bytes > available:
        sentences.append(
            f"{file_size(available)} of memory is available, less than the workers need together: choose fewer hidden "
            "units, layers or seeds."
        )
    return sentences


def epochs_of(config: RunConfig, round: int) -> int:
    """Return the epochs of `round`: its search (not in round 0), if it does not end early, and its retraining."""
    search = METHODS.get(config.method).search_epochs(config) if round else 0
    return search + config.retrain_epochs


class Growth:
    """The bytes that rounds of one seed add to a store."""

    def __init__(self, config: RunConfig) -> None:
        spec = DATASETS.get(config.dataset)
        edges = TASKS.get(config.task).message_edges(spec.sizes.edges, spec)
        self._config = config
        self._entries = edges * (2 if config.edge_mask == "directed" else 1)
        self._weights = weight_count(config)

    def of_rounds(self, rounds: Iterable[int]) -> int:
        """Return the bytes of these rounds together."""
        return sum(self._of(number) for number in rounds)

    def _of(self, round: int) -> int:
        config, entries, weights = self._config, self._entries, self._weights
        masks = (entries + weights) // 8
        score = 1 if entries > MOST_SCORES else 2
        method = METHODS.get(config.method)
        scores = score * method.remaining(config, round - 1, entries, weights)[0] if round else 0
        survivors = 4 * method.remaining(config, round, entries, weights)[1]
        initial = 4 * weights if round == 0 else 0
        lines = EVENT_LINE * epochs_of(config, round) + ROUND_LINE
        return masks + scores + survivors + initial + lines + 2 * HEADER


def weight_count(config: RunConfig) -> int:
    """Return the number of prunable weights of a config's network."""
    spec = DATASETS.get(config.dataset)
    shape = network_shape(config, spec.sizes)
    return sum(math.prod(size) for size in MODELS.get(config.model).prunable_shapes(shape).values())


def pace(config: RunConfig, timed: Iterable[Run]) -> Pace | None:
    """Return the pace of `config` from the most similar timed run; None without any."""
    runs = [run for run in timed if finished_rounds(run)]
    if not runs:
        return None
    network = ("dataset", "task", "model", "hidden", "layers")
    for fields in ((*network, "method"), network):
        for run in runs:
            if all(getattr(run.config, name) == getattr(config, name) for name in fields):
                return Pace(_seconds_an_epoch(run), _words(run.config), f"as timed {_origin(run)}")
    run = min(runs, key=lambda run: _distance(run.config, config))
    scale = _work(config) / _work(run.config)
    timed_there = f"as timed {_origin(run)} and scaled by size, so only a rough guess"
    return Pace(scale * _seconds_an_epoch(run), _words(run.config), timed_there)


def side_by_side(spans: Iterable[float], cores: int) -> float:
    """Return when the last of some workers ends if `cores` of them run at a time."""
    ends = [0.0] * cores
    for span in spans:
        heapq.heapreplace(ends, ends[0] + span)
    return max(ends)


def _seconds_an_epoch(run: Run) -> float:
    records = [record for seed in run.seeds() for record in run.seed(seed).rounds()]
    # Round 0 pays for the start: what is loaded and measured the first time.
    rounds = [record for record in records if record.round] or records
    return sum(record.seconds for record in rounds) / sum(_epochs_in(run.config, record) for record in rounds)


def _epochs_in(config: RunConfig, record: RoundRecord) -> int:
    """Return the epochs that a finished round took."""
    searched = record.notes.get(SEARCH_EPOCHS)
    return searched + config.retrain_epochs if isinstance(searched, int) else epochs_of(config, record.round)


def _distance(one: RunConfig, other: RunConfig) -> tuple[bool, bool, float]:
    """Return how unlike two configs are in pace: other network or task first, then size and method."""
    apart = abs(math.log(_work(one) / _work(other))) + OTHER_METHOD * (one.method != other.method)
    return one.model != other.model, one.task != other.task, apart


def _work(config: RunConfig) -> float:
    sizes = DATASETS.get(config.dataset).sizes
    return (config.hidden + WIDTH_OF_THE_REST) * config.layers * (sizes.nodes + 2 * sizes.edges)


def _origin(run: Run) -> str:
    return "when the examples were made, perhaps on another machine" if run.is_example else "in this store"


def _words(config: RunConfig) -> str:
    labels = (METHODS.get(config.method).label, DATASETS.get(config.dataset).label, MODELS.get(config.model).label)
    return f"{labels[0]} on {labels[1]} with {labels[2]}-{config.hidden}"
