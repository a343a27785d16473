"""Printed numbers of the paper beside ours, and whether the two are shown to agree.

`compare_scores`, `compare_macs` and `compare_measurements` turn the `Evidence` of a setting into judged rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from analysis import palette, published
from analysis.measures import descriptions
from analysis.statistics import Agreement, Gap, agreements, deviation_of
from glt import formats
from glt.reproduction import Setting
from glt.store import Run
from glt.verdicts import half_width


@dataclass(frozen=True, eq=False)
class Evidence:
    """Runs of one setting, their `rounds_table`, and a function that computes their `measurement_table`.

    `scored` is the `rounds_table` of every run whose scores the paper prints in this setting, in any exhibit, so that a
    number has the same family of tests and the same verdict everywhere. It defaults to `rounds`.
    """

    setting: Setting
    runs: Sequence[Run]
    rounds: pd.DataFrame
    measured: Callable[[], pd.DataFrame]
    scored: pd.DataFrame | None = None


Quantity = Literal["score", "macs", "measure"]

# Scores: a fraction, set for UGS on Cora before the first run and kept for every method. MACs and measures: relative to
# the printed value. Printed MACs have three or four digits; measurements of one graph vary by several percent with the
# seed.
MARGINS: dict[Quantity, float] = {"score": 0.015, "macs": 0.002, "measure": 0.10}
# One unit of the last printed digit. No margin is finer than half of it.
LAST_DIGIT: dict[Quantity, float] = {"score": 0.001, "macs": 1e6, "measure": 1e-5}
NOT_JUDGED = Agreement("no verdict")
# The two readings of the paper's random tickets (see the exhibit of Table 2) and our methods for them.
FIRST, SECOND = "Reading 1: found masks", "Reading 2: random masks"
METHOD_GROUPS = tuple(map(palette.label, ("dense", "ugs", "random", "admm")))
READINGS = {FIRST: published.REINITIALISED, SECOND: "random"}


@dataclass(frozen=True)
class Comparison:
    """One printed number and ours: `group` (a method), `where` ("k = 4"), mean and standard deviation over seeds.

    `ours` is NaN without a round. `rerun` holds the scores of the authors' code, run again. `is_exact` marks a number
    that does not depend on the seed. `judged` fills in `agreement`.
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
        """Ours minus the paper's: a fraction for scores, otherwise relative to the paper's value."""
        gap = self.ours - self.paper
        return gap if self.quantity == "score" else gap / self.paper

    @property
    def margin(self) -> float:
        """The margin in the unit of `difference`, at least half a unit of the last printed digit."""
        scale = 1.0 if self.quantity == "score" else self.paper
        return max(MARGINS[self.quantity], LAST_DIGIT[self.quantity] / 2 / scale)

    def gap(self) -> Gap:
        """Return the difference in the unit of `difference`, as `agreements` tests it."""
        scale = 1.0 if self.quantity == "score" else self.paper
        return Gap(self.seeds, self.difference, self.deviation / scale, self.margin, self.is_exact)

    def agreement_words(self) -> str:
        """Write whether the two numbers are shown to agree; a dash without a value of ours."""
        if not self.is_known:
            return formats.MISSING
        if self.agreement.word == "no verdict":
            return "no verdict: one seed" if self.seeds == 1 else "no verdict: all seeds equal"
        if self.agreement.word != "open":
            return self.agreement.word
        needed = self.agreement.needed
        return f"open (about {needed} seeds)" if needed else "open"

    def ours_words(self) -> str:
        """Write our value; a dash without one."""
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
        """Write the scores of the authors' code, run again: one value, a range, or nothing."""
        if not self.rerun:
            return ""
        low, high = formats.percent(min(self.rerun)), formats.percent(max(self.rerun))
        return low if low == high else f"{low.removesuffix(' %')} to {high}"


def judged(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return the rows with their agreement.

    One family of tests covers the numbers that one figure or table of the paper prints and that have a value of ours.
    """
    found = list(rows)
    for exhibit in {row.exhibit for row in rows}:
        places = [place for place, row in enumerate(rows) if row.is_known and row.exhibit == exhibit]
        for place, agreement in zip(places, agreements([rows[place].gap() for place in places]), strict=True):
            found[place] = replace(rows[place], agreement=agreement)
    return found


def family_words(rows: Sequence[Comparison]) -> str:
    """Write the sizes of the families of these rows, one a figure or table; "" without a test."""
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
    """List the margins of these kinds of numbers.

    >>> margins_words({"score", "macs"})
    '1.5 points for every score, 0.2 % for MACs'
    """
    kinds: dict[Quantity, str] = {"score": "every score", "macs": "MACs", "measure": "every measure"}
    return ", ".join(f"{margin_words(kind)} for {words}" for kind, words in kinds.items() if kind in quantities)


def compare_scores(evidence: Evidence, groups: Sequence[str]) -> list[Comparison]:
    """Return a row for every printed score of these groups: methods, or readings of the random tickets.

    All printed scores of the setting are judged together, so a number has the same verdict in every exhibit.
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
    """Return a row for every printed MACs value, ours counted by the recipe that reproduces them."""
    dataset, model, task = evidence.setting
    if (model, task) != ("gcn", "node"):
        return []
    rounds = evidence.rounds[evidence.rounds["method"] == "ugs"]
    rows = []
    for number, printed in published.MACS.get(dataset, {}).items():
        counts = rounds.loc[rounds["round"] == number, "macs_published"]
        mean = float(counts.mean()) if len(counts) else math.nan
        where, source = f"k = {number}", "Figures 1 and 3"
        rows.append(Comparison("MACs", where, "macs", mean, math.nan, len(counts), printed, source, is_exact=True))
    return judged(rows)


def compare_measurements(evidence: Evidence) -> list[Comparison]:
    """Return a row for every printed measurement of the original and the pruned graphs."""
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
    """Return the test score of each seed for a method and a round; several runs of a method are averaged by seed.

    All methods share the dense network of round 0.
    """
    rows = rounds[rounds["round"] == number]
    if method != published.DENSE:
        rows = rows[rows["method"] == method]
    return rows.groupby("seed")["test"].mean()


def _score(rounds: pd.DataFrame, point: published.PublishedPoint, group: str, method: str) -> Comparison:
    """Compare a printed score with ours; scores of the dense network never come from random tickets."""
    of_method = rounds if method == published.REINITIALISED else rounds[rounds["method"] != published.REINITIALISED]
    ours = per_seed(of_method, method, point.round)
    again = "ugs" if point.method == published.DENSE else point.method
    rerun = published.rerun_scores(point.dataset, again, point.round, point.model, point.task)
    mean, deviation = (float(ours.mean()), deviation_of(ours)) if len(ours) else (math.nan, math.nan)
    where = f"k = {point.round}"
    return Comparison(group, where, "score", mean, deviation, len(ours), point.score, point.source, tuple(rerun))
