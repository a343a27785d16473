"""One printed number beside ours: accuracies and MACs matched by round, measurements by graph."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from analysis import palette, published
from analysis.measures import wording
from analysis.tables.statistics import half_width
from glt import formats

if TYPE_CHECKING:
    from analysis.reproduction.exhibit import Evidence

Quantity = Literal["score", "macs", "measure"]

# The bound that this project set for UGS on Cora before its first run (fraction), kept for every method. It is a
# convention and no test: how close values are is said beside every verdict.
SCORE_TOLERANCE = 0.015
# Relative: printed MACs have three or four figures, and one graph's measurements vary by several percent with the seed.
MACS_TOLERANCE = 0.002
MEASURE_TOLERANCE = 0.10


@dataclass(frozen=True)
class Comparison:
    """One row: whose and where (`k = 4`), our mean with the half-width of its interval (NaN: none), the printed value.

    `ours` is NaN while no round is there; `rerun` holds what the authors' own code gave when it was run again.
    """

    group: str
    where: str
    quantity: Quantity
    ours: float
    half: float
    seeds: int
    paper: float
    source: str
    rerun: tuple[float, ...] = ()
    measure: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is a value of ours."""
        return not math.isnan(self.ours)

    @property
    def difference(self) -> float:
        """Ours minus the paper's: a fraction for scores, relative to the paper's value for the rest."""
        gap = self.ours - self.paper
        return gap if self.quantity == "score" else gap / self.paper

    @property
    def agrees(self) -> bool:
        """Whether the two are within this page's bound for their kind of number."""
        tolerances = {"score": SCORE_TOLERANCE, "macs": MACS_TOLERANCE, "measure": MEASURE_TOLERANCE}
        return abs(self.difference) <= tolerances[self.quantity]

    def ours_words(self) -> str:
        """Write our value; a dash while there is none."""
        if not self.is_known:
            return formats.MISSING
        if self.quantity == "measure":
            return wording.interval(self.measure, self.ours, self.half)
        return formats.macs(self.ours) if self.quantity == "macs" else formats.percent_interval(self.ours, self.half)

    def paper_words(self) -> str:
        """Write the printed value."""
        if self.quantity == "measure":
            return formats.fixed(self.paper, 5)
        return formats.macs(self.paper) if self.quantity == "macs" else formats.percent(self.paper)

    def difference_words(self) -> str:
        """Write the difference: points for scores, percent of the printed value for the rest."""
        if not self.is_known:
            return formats.MISSING
        if self.quantity == "score":
            return formats.points(self.difference)
        text = formats.percent(self.difference)
        return f"+{text}" if self.difference > 0 and not text.startswith("0.0") else text

    def rerun_words(self) -> str:
        """Write what the authors' code gave again: one value or a range; nothing where it was not run."""
        if not self.rerun:
            return ""
        low, high = formats.percent(min(self.rerun)), formats.percent(max(self.rerun))
        return low if low == high else f"{low.removesuffix(' %')} to {high}"


def bounds_words(quantities: Collection[Quantity]) -> str:
    """Say within which bounds values of these kinds count as agreeing.

    >>> bounds_words({"score"})
    '1.5 points'
    """
    words: dict[Quantity, str] = {
        "score": f"{100 * SCORE_TOLERANCE:g} points",
        "macs": f"{100 * MACS_TOLERANCE:g} % (MACs)",
        "measure": f"{100 * MEASURE_TOLERANCE:g} %",
    }
    return ", ".join(text for quantity, text in words.items() if quantity in quantities)


def compare_scores(evidence: Evidence) -> list[Comparison]:
    """Return a row for every printed score of the setting, the dense baseline's first."""
    dataset, model, task = evidence.setting
    printed = published.points(dataset, model, task)
    return [_score(evidence.rounds, point) for point in printed]


def compare_macs(evidence: Evidence) -> list[Comparison]:
    """Return a row for every printed number of MACs, ours counted by the recipe that reproduces them."""
    dataset, model, task = evidence.setting
    if (model, task) != ("gcn", "node"):
        return []
    rounds = evidence.rounds[evidence.rounds["method"] == "ugs"]
    return [_macs(rounds, number, count) for number, count in published.MACS.get(dataset, {}).items()]


def compare_measurements(evidence: Evidence) -> list[Comparison]:
    """Return a row for every printed measurement of the original graph and of those the runs left."""
    table = evidence.measured()
    printed = published.measurements(evidence.setting.dataset)
    graphs = {row["method"]: row for row in table.to_dict("records")}
    rows: list[Comparison] = []
    for measure, values in printed.items():
        for column, value in values.items():
            row = graphs.get(column, {})
            count = int(row.get("seeds", 0))
            half = float(half_width(row.get(f"{measure}_spread", math.nan), count)) if count else math.nan
            group = "Original" if column == "original" else palette.label(column)
            ours = float(row.get(measure, math.nan))
            source, words = published.MEASUREMENT_TABLE, formats.inside(wording.label(measure))
            rows.append(Comparison(group, words, "measure", ours, half, count, value, source, (), measure))
    return rows


def of_methods(rows: Iterable[Comparison], methods: Iterable[str]) -> list[Comparison]:
    """Return the rows of these methods only."""
    labels = {palette.label(method) for method in methods}
    return [row for row in rows if row.group in labels]


def per_seed(rounds: pd.DataFrame, method: str, number: int) -> pd.Series:
    """Return one test score a seed for a method and a round; several runs of it (draws) are averaged seed by seed.

    Round 0 is the dense network, which all methods share.
    """
    rows = rounds[rounds["round"] == number]
    if method != published.DENSE:
        rows = rows[rows["method"] == method]
    return rows.groupby("seed")["test"].mean()


def _score(rounds: pd.DataFrame, point: published.PublishedPoint) -> Comparison:
    ours = per_seed(rounds[rounds["method"] != published.REINITIALISED], point.method, point.round)
    if point.method == published.REINITIALISED:
        ours = per_seed(rounds, point.method, point.round)
    again = "ugs" if point.method == published.DENSE else point.method
    rerun = published.rerun_scores(point.dataset, again, point.round, point.model, point.task)
    where = "k = 0" if point.method == published.DENSE else f"k = {point.round}"
    mean, half = mean_and_half(ours)
    label = palette.label(point.method)
    return Comparison(label, where, "score", mean, half, len(ours), point.score, point.source, tuple(rerun))


def _macs(rounds: pd.DataFrame, number: int, printed: int) -> Comparison:
    counts = rounds.loc[rounds["round"] == number, "macs_published"]
    mean = float(counts.mean()) if len(counts) else math.nan
    return Comparison("MACs", f"k = {number}", "macs", mean, math.nan, len(counts), printed, "Figures 1 and 3")


def mean_and_half(values: pd.Series) -> tuple[float, float]:
    """Return the mean and the half-width of its 95% t interval, NaN for too few values; both NaN for none."""
    if values.empty:
        return math.nan, math.nan
    return float(values.mean()), float(half_width(np.float64(values.std()), len(values)))
