"""Reports on a terminal: what was measured, and how it compares with the baseline."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Column, Table

from benchmarks.comparing import Compared
from benchmarks.results import Measured, Report
from glt.formats import MISSING

GIGABYTE, MEGABYTE, KILOBYTE = 1e9, 1e6, 1e3
STYLES = {"better": "green", "worse": "red", "same": "dim", "new": "", "gone": "dim"}


def results_table(report: Report) -> Table:
    """Return what was measured, where nothing is there to compare it with."""
    table = Table(
        Column("measured", overflow="fold"), *(Column(name, justify="right") for name in ("value", "p10-p90"))
    )
    for result in report.results:
        table.add_row(result.name, value_words(result, result.value), range_words(result))
    return table


def ratio_table(rows: Iterable[Compared]) -> Table:
    """Return values now and in the baseline and their ratio; what moved more than the noise is marked."""
    right = [Column(name, justify="right") for name in ("now", "p10-p90", "baseline", "ratio")]
    table = Table(Column("measured", overflow="fold"), *right, "")
    for row in rows:
        told = row.now or row.before
        assert told is not None
        now, before = (MISSING if each is None else value_words(each, each.value) for each in (row.now, row.before))
        ratio = MISSING if row.ratio is None else f"{row.ratio:.2f}"
        spread = MISSING if row.now is None else range_words(row.now)
        mark = "" if row.verdict == "same" else row.verdict
        table.add_row(row.name, now, spread, before, ratio, mark, style=STYLES[row.verdict])
    return table


def value_words(result: Measured, value: float) -> str:
    """Put a value of a result into words, in the unit that is read most easily.

    >>> value_words(Measured(name="a/b", value=0.0241, unit="CPU s"), 0.0241)
    '24.1 ms'
    """
    if result.unit == "ratio":
        return f"{value:.3g}"
    if result.unit == "B":
        return _bytes(value)
    if value >= 120:
        return f"{value / 60:.1f} min"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def _bytes(value: float) -> str:
    if value >= 0.1 * GIGABYTE:
        return f"{value / GIGABYTE:.2f} GB"
    return f"{value / MEGABYTE:.3g} MB" if value >= 0.1 * MEGABYTE else f"{value / KILOBYTE:.3g} kB"


def range_words(result: Measured) -> str:
    """Return p10 and p90 in words, a dash where it was measured once.

    >>> range_words(Measured(name="a/b", value=2, unit="s", p10=1.5, p90=2.5))
    '1.5 s - 2.5 s'
    """
    if result.p10 is None or result.p90 is None:
        return MISSING
    return f"{value_words(result, result.p10)} - {value_words(result, result.p90)}"
