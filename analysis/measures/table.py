"""The table of measurements: the original graph, then what each run leaves of it, as mean and spread over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.measures.cache import MeasureCache
from analysis.measures.measuring import Engine, Numbers, Report, from_first, is_mask_measured, measure_mask
from analysis.measures.nulls import random_twins
from analysis.published import measured_alike
from analysis.shared_graph import shared_graph
from glt.data import Graph
from glt.errors import ConfigError
from glt.formats import percent
from glt.masks import EdgeMask
from glt.store import Run, SeedRun

if TYPE_CHECKING:
    import pandas as pd

Published = Mapping[str, Mapping[str, float]]
# Measures one graph, and tells how far it is.
Sample = Callable[[Report], Numbers]


@dataclass(frozen=True)
class At:
    """Which round of every seed is meant: the one with this number, or the one nearest to this graph sparsity."""

    round: int | None = None
    graph_sparsity: float | None = None

    def __post_init__(self) -> None:
        if (self.round is None) == (self.graph_sparsity is None):
            raise ConfigError("A measurement table needs either a round or a graph sparsity: give one of them.")

    @property
    def words(self) -> str:
        """What is meant, in words."""
        return f"round {self.round}" if self.round is not None else f"{percent(self.graph_sparsity or 0.0)} sparse"

    def find(self, seed_run: SeedRun) -> int | None:
        """Return the round of one seed, None while it is not finished."""
        records = seed_run.rounds()
        if self.round is not None:
            return self.round if self.round < len(records) else None
        wanted = self.graph_sparsity or 0.0
        near = min(records, key=lambda record: abs(record.graph_sparsity - wanted), default=None)
        return near.round if near else None


@dataclass(frozen=True)
class Row:
    """One line of the table before its values are known: what is averaged and what stands beside it."""

    kind: str
    label: str
    column: str
    samples: Sequence[Sample]
    run: str = ""
    model: str = ""
    rounds: tuple[int, ...] = ()


def measurement_table(
    runs: Sequence[Run],
    at: At | Sequence[At],
    *,
    null: bool = False,
    published: Published | None = None,
    cache: MeasureCache | None = None,
    slow: bool = False,
    engine: Engine = "default",
    on_progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Return the original graph's row and one a run and round, all of the same data set.

    Columns: `kind` (original, run, null), `label`, `run`, `method`, `model`, `rounds` (tuple), `seeds` (how many graphs
    are averaged, 0 while none is finished), then for every count and measure `x` its mean `x`, `x_spread` (standard
    deviation over seeds, NaN for fewer than two) and `x_published` where `published` (measure -> original or
    method -> value, as `analysis.published.measurements` gives it) knows it, NaN beside other rounds than the paper
    measured; and the half-width `x_error` of the 95% interval of what is estimated on a large graph, the mean over its
    seeds. `null` adds after each run as many randomly kept edges, five draws or one a seed; `slow` adds the measures
    of cost "background". With the engine `networkx` there is `x_difference` too, the largest difference over the row's
    graphs between NetworkX's value and our faster version's. `on_progress` is called with the fraction done.

    Raises ConfigError when the runs are of several data sets, StoreError and DataError when masks cannot be read.
    """
    import pandas as pd

    graph = shared_graph(runs, "A table of measurements")
    ats = [at] if isinstance(at, At) else list(at)
    rows = list(_rows(_Measuring(graph, cache, slow, engine), runs, ats, null))
    report = _Progress(sum(len(row.samples) for row in rows), on_progress)
    return pd.DataFrame([_values(row, published or {}, report) for row in rows])


@dataclass(frozen=True)
class _Measuring:
    """What turns a mask into a sample that is measured when its turn comes."""

    graph: Graph
    cache: MeasureCache | None
    slow: bool
    engine: Engine

    def later(self, mask: EdgeMask) -> Sample:
        return lambda report: measure_mask(
            self.graph, mask, self.cache, slow=self.slow, engine=self.engine, on_progress=report
        )


def unmeasured(
    runs: Sequence[Run],
    at: Sequence[At],
    *,
    null: bool = False,
    cache: MeasureCache | None = None,
    slow: bool = False,
    engine: Engine = "default",
) -> int:
    """Return how many graphs `measurement_table` would have to measure at most: all from the first unknown one on."""
    asking = _Asking(shared_graph(runs, "A table of measurements"), cache, slow, engine)
    samples = [sample for row in _rows(asking, runs, at, null) for sample in row.samples]
    return from_first((not sample(_unheard)["known"] for sample in samples), len(samples))


@dataclass(frozen=True)
class _Asking(_Measuring):
    """Only asks of a mask whether it was measured."""

    def later(self, mask: EdgeMask) -> Sample:
        return lambda _: Numbers(
            {"known": is_mask_measured(self.graph, mask, self.cache, slow=self.slow, engine=self.engine)}
        )


def _unheard(share: float) -> None:
    """Take no notice of how far a measurement is."""


def _rows(measuring: _Measuring, runs: Sequence[Run], ats: Sequence[At], null: bool) -> Iterator[Row]:
    from analysis.tables.labels import run_labels

    full = EdgeMask.full("undirected", measuring.graph.num_edges)
    yield Row("original", "Original", "original", [measuring.later(full)])
    labels = run_labels(runs)
    for run in runs:
        for at in ats:
            chosen = _chosen(run, at)
            masks = [(seed_run.seed, seed_run.edge_mask(number)) for seed_run, number in chosen]
            rounds = tuple(sorted({number for _, number in chosen}))
            label = labels[run.reference] + (f", {at.words}" if len(ats) > 1 else "")
            samples = [measuring.later(mask) for _, mask in masks]
            yield Row("run", label, run.config.method, samples, run.reference, run.config.model, rounds)
            if null:
                twins = [measuring.later(mask) for mask in random_twins(masks)]
                yield Row("null", f"As many edges as {label}, at random", "null", twins, run.reference, "", rounds)


def _chosen(run: Run, at: At) -> list[tuple[SeedRun, int]]:
    found = [(run.seed(seed), at.find(run.seed(seed))) for seed in run.seeds()]
    return [(seed_run, number) for seed_run, number in found if number is not None]


class _Progress:
    def __init__(self, total: int, listener: Callable[[float], None] | None) -> None:
        self._done, self._total, self._listener = 0, total, listener

    def within(self, share: float) -> None:
        """Tell how far the present graph is."""
        if self._listener is not None:
            self._listener((self._done + share) / self._total)

    def step(self) -> None:
        self._done += 1
        self.within(0.0)


def _values(row: Row, published: Published, report: _Progress) -> dict[str, Any]:
    from analysis.tables.statistics import deviation_of

    found: list[Numbers] = []
    for sample in row.samples:
        found.append(sample(report.within))
        report.step()
    values: dict[str, Any] = {
        "kind": row.kind,
        "label": row.label,
        "run": row.run,
        "method": row.column,
        "model": row.model,
        "rounds": row.rounds,
        "seeds": len(found),
    }
    for name in found[0] if found else ():
        numbers = [numbers[name] for numbers in found]
        values[name] = float(np.mean(numbers))
        values[f"{name}_spread"] = deviation_of(numbers)
        if name in found[0].errors:
            values[f"{name}_error"] = float(np.mean([each.errors[name] for each in found]))
        if name in found[0].differences:
            values[f"{name}_difference"] = max(each.differences[name] for each in found)
        if name in published:
            known = published[name].get(row.column, math.nan)
            values[f"{name}_published"] = known if is_as_published(values) else math.nan
    return values


def is_as_published(row: Mapping[Any, Any]) -> bool:
    """Say whether the paper's value of this row's method is of such a graph: the original, or a round as sparse."""
    return row["kind"] == "original" or measured_alike(row["model"], row["graph_sparsity"])
