"""What an experiment has found in one setting."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from analysis import published
from analysis.measures import descriptions
from analysis.statistics import Agreement, Gap, agreements, deviation_of, half_width
from analysis.style import palette
from glt import formats
from glt.reproduction import Setting
from glt.store import Run


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known in one setting: the runs, their `rounds_table`, and a way to their `measurement_table`.

    `scored` is the `rounds_table` of every run whose scores the paper prints in this setting, in whatever exhibit, so
    that a number has one family of tests and one verdict. It defaults to `rounds`.
    """

    setting: Setting
    runs: Sequence[Run]
    rounds: pd.DataFrame
    measured: Callable[[], pd.DataFrame]
    scored: pd.DataFrame | None = None


# One printed number beside ours, and whether the two are shown to agree: by round, or by measured graph.


Quantity = Literal["score", "macs", "measure"]

# One margin for every number of a kind. Scores: the bound that this project set for UGS on Cora before its first run
# (a fraction), kept for every method. The others are relative to the printed value: printed MACs have three or four
# figures, and one graph's measurements vary by several percent with the seed.
MARGINS: dict[Quantity, float] = {"score": 0.015, "macs": 0.002, "measure": 0.10}
# One unit of the last printed digit: no margin is finer than half of it.
LAST_DIGIT: dict[Quantity, float] = {"score": 0.001, "macs": 1e6, "measure": 1e-5}
NOT_JUDGED = Agreement("no verdict")
# What the paper draws anew in its random tickets, in two readings (see the exhibit of random tickets), and our methods.
FIRST, SECOND = "Reading 1: found masks", "Reading 2: random masks"
METHOD_GROUPS = tuple(map(palette.label, ("dense", "ugs", "random", "admm")))
READINGS = {FIRST: published.REINITIALISED, SECOND: "random"}


@dataclass(frozen=True)
class Comparison:
    """One row: whose and where (`k = 4`), our mean over seeds with their standard deviation, and the printed value.

    `ours` is NaN while no round is there; `rerun` holds what the authors' own code gave when it was run again.
    `is_exact` marks a number that no seed changes. `agreement` is known once the rows are `judged`.
    """

    group: str
    where: str
    quantity: Quantity
    ours: float
    deviation: float
    seeds: int
    paper: float
    source: str
    rerun: tuple[float, ...] = ()
    measure: str = ""
    is_exact: bool = False
    agreement: Agreement = NOT_JUDGED

    @property
    def half(self) -> float:
        """Half-width of the 95% interval of our mean; NaN below three seeds."""
        return float(half_width(self.deviation, self.seeds))

    @property
    def exhibit(self) -> str:
        """The figure or table that prints the number: "Table 2"."""
        found = re.search(r"(Figure|Table) \w+", self.source)
        return found[0] if found else self.source

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
    def margin(self) -> float:
        """The margin of its kind in the unit of `difference`, at least half a unit of the last printed digit."""
        scale = 1.0 if self.quantity == "score" else self.paper
        return max(MARGINS[self.quantity], LAST_DIGIT[self.quantity] / 2 / scale)

    def gap(self) -> Gap:
        """Return our values minus the printed one, in the unit of `difference`, for the test."""
        scale = 1.0 if self.quantity == "score" else self.paper
        return Gap(self.seeds, self.difference, self.deviation / scale, self.margin, self.is_exact)

    def agreement_words(self) -> str:
        """Write what is shown about the two numbers; nothing while there is no value of ours."""
        if not self.is_known:
            return formats.MISSING
        if self.agreement.word == "no verdict":
            return "no verdict: one seed" if self.seeds == 1 else "no verdict: all seeds equal"
        if self.agreement.word != "open":
            return self.agreement.word
        needed = self.agreement.needed
        return f"open (about {needed} seeds)" if needed else "open"

    def ours_words(self) -> str:
        """Write our value; a dash while there is none."""
        if not self.is_known:
            return formats.MISSING
        if self.quantity == "measure":
            return descriptions.interval(self.measure, self.ours, self.half)
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


def judged(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return the rows with what is shown about each.

    A family of tests is what one figure or table of the paper prints, as far as there are values of ours.
    """
    found = list(rows)
    for exhibit in {row.exhibit for row in rows}:
        places = [place for place, row in enumerate(rows) if row.is_known and row.exhibit == exhibit]
        for place, agreement in zip(places, agreements([rows[place].gap() for place in places]), strict=True):
            found[place] = replace(rows[place], agreement=agreement)
    return found


def family_words(rows: Sequence[Comparison]) -> str:
    """Write over how many numbers these rows are corrected, by figure or table of the paper; "" without a test."""
    families = sorted({row.agreement.family for row in rows} - {0})
    if not families:
        return ""
    return f"Holm over {' and '.join(map(str, families))} value{'' if families == [1] else 's'}"


def margin_words(quantity: Quantity) -> str:
    """Write the margin of a kind of number.

    >>> margin_words("score"), margin_words("macs")
    ('1.5 points', '0.2 %')
    """
    return f"{100 * MARGINS[quantity]:g} {'points' if quantity == 'score' else '%'}"


def margins_words(quantities: Collection[Quantity]) -> str:
    """Say which margins count for these kinds of numbers.

    >>> margins_words({"score", "macs"})
    '1.5 points for every score, 0.2 % for MACs'
    """
    kinds: dict[Quantity, str] = {"score": "every score", "macs": "MACs", "measure": "every measure"}
    return ", ".join(f"{margin_words(kind)} for {words}" for kind, words in kinds.items() if kind in quantities)


def compare_scores(evidence: Evidence, groups: Sequence[str]) -> list[Comparison]:
    """Return a row for every printed score of these groups: methods, or readings of the random tickets.

    All printed scores of the setting are judged, whichever of them an exhibit shows, so that a number has one verdict.
    """
    dataset, model, task = evidence.setting
    rounds = evidence.rounds if evidence.scored is None else evidence.scored
    rows = []
    for point in published.points(dataset, model, task):
        readings = READINGS if point.method == published.REINITIALISED else {palette.label(point.method): point.method}
        rows += [_score(rounds, point, group, method) for group, method in readings.items()]
    order = {group: place for place, group in enumerate(groups)}
    return sorted((row for row in judged(rows) if row.group in order), key=lambda row: order[row.group])


def compare_macs(evidence: Evidence) -> list[Comparison]:
    """Return a row for every printed number of MACs, ours counted by the recipe that reproduces them."""
    dataset, model, task = evidence.setting
    if (model, task) != ("gcn", "node"):
        return []
    rounds = evidence.rounds[evidence.rounds["method"] == "ugs"]
    return judged([_macs(rounds, number, count) for number, count in published.MACS.get(dataset, {}).items()])


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
            spread = float(row.get(f"{measure}_spread", math.nan)) if count else math.nan
            is_original = column == "original"
            group = "Original" if is_original else palette.label(column)
            ours = float(row.get(measure, math.nan))
            source, words = published.MEASUREMENT_TABLE, formats.inside(descriptions.label(measure))
            compared = Comparison(group, words, "measure", ours, spread, count, value, source, (), measure)
            rows.append(replace(compared, is_exact=is_original))
    return judged(rows)


def per_seed(rounds: pd.DataFrame, method: str, number: int) -> pd.Series:
    """Return one test score a seed for a method and a round; several runs of it (draws) are averaged seed by seed.

    Round 0 is the dense network, which all methods share.
    """
    rows = rounds[rounds["round"] == number]
    if method != published.DENSE:
        rows = rows[rows["method"] == method]
    return rows.groupby("seed")["test"].mean()


def _score(rounds: pd.DataFrame, point: published.PublishedPoint, group: str, method: str) -> Comparison:
    """Compare a printed score with the scores of `method`; the dense network is not taken from random tickets."""
    of_method = rounds if method == published.REINITIALISED else rounds[rounds["method"] != published.REINITIALISED]
    ours = per_seed(of_method, method, point.round)
    again = "ugs" if point.method == published.DENSE else point.method
    rerun = published.rerun_scores(point.dataset, again, point.round, point.model, point.task)
    mean, deviation = mean_and_deviation(ours)
    where = f"k = {point.round}"
    return Comparison(group, where, "score", mean, deviation, len(ours), point.score, point.source, tuple(rerun))


def _macs(rounds: pd.DataFrame, number: int, printed: int) -> Comparison:
    counts = rounds.loc[rounds["round"] == number, "macs_published"]
    mean = float(counts.mean()) if len(counts) else math.nan
    source = "Figures 1 and 3"
    return Comparison("MACs", f"k = {number}", "macs", mean, math.nan, len(counts), printed, source, is_exact=True)


def mean_and_deviation(values: pd.Series) -> tuple[float, float]:
    """Return the mean and the sample standard deviation, NaN for a single value; both NaN for none."""
    return (float(values.mean()), deviation_of(values)) if len(values) else (math.nan, math.nan)
