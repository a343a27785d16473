"""A report against the baseline: ratios, and what counts as more than noise."""

from __future__ import annotations

import pytest

from benchmarks.comparing import Verdict, compare, differences
from benchmarks.ratio_table import ratio_table, value_words
from benchmarks.results import Measured, Report


def report(*results: Measured, **about: str) -> Report:
    return Report(machine={"processor": "P", **about}, versions={}, revision=None, time="", results=results)


def ranged(value: float, low: float, high: float, lower_is_better: bool = True) -> Measured:
    return Measured(name="a/b", value=value, unit="s", p10=low, p90=high, lower_is_better=lower_is_better)


@pytest.mark.parametrize(
    ("now", "before", "ratio", "verdict"),
    [
        (ranged(2, 1.8, 2.2), ranged(4, 3.5, 4.5), 0.5, "better"),
        (ranged(4, 3.5, 4.5), ranged(2, 1.8, 2.2), 2.0, "worse"),
        (ranged(3, 2.0, 4.0), ranged(2, 1.8, 2.2), 1.5, "same"),
        (ranged(10, 9, 11, lower_is_better=False), ranged(5, 4, 6, lower_is_better=False), 2.0, "better"),
        (Measured(name="a/b", value=1.15, unit="s"), Measured(name="a/b", value=1.0, unit="s"), 1.15, "same"),
        (Measured(name="a/b", value=1.3, unit="s"), Measured(name="a/b", value=1.0, unit="s"), 1.3, "worse"),
    ],
)
def test_ratios_and_verdicts(now: Measured, before: Measured, ratio: float, verdict: Verdict) -> None:
    (found,) = compare(report(now), report(before))
    assert (found.ratio, found.verdict) == (pytest.approx(ratio), verdict)


def test_what_only_one_report_has_is_said() -> None:
    new, gone = (Measured(name=name, value=1, unit="s") for name in ("a/new", "a/gone"))
    found = [(each.name, each.verdict, each.ratio) for each in compare(report(new), report(gone))]
    assert found == [("a/new", "new", None), ("a/gone", "gone", None)]


def test_a_baseline_of_nothing_has_no_ratio() -> None:
    now, before = (Measured(name="a/b", value=value, unit="B") for value in (1, 0))
    assert next(compare(report(now), report(before))).ratio is None


def test_another_machine_is_told() -> None:
    assert differences(report(processor="New"), report(processor="Old")) == ["machine: processor Old before, New now"]
    assert differences(report(), report()) == []


def test_the_table_marks_what_moved() -> None:
    table = ratio_table(compare(report(ranged(4, 3.5, 4.5)), report(ranged(2, 1.8, 2.2))))
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["a/b", "4 s", "3.5 s - 4.5 s", "2 s", "2.00", "worse"]


@pytest.mark.parametrize(
    ("unit", "value", "words"),
    [
        ("s", 0.0213, "21.3 ms"),
        ("CPU s", 6.15, "6.15 s"),
        ("s", 150, "2.5 min"),
        ("B", 4.4e8, "0.44 GB"),
        ("B", 30_200, "30.2 kB"),
        ("ratio", 1.304, "1.3"),
    ],
)
def test_values_are_put_into_words(unit: str, value: float, words: str) -> None:
    assert value_words(Measured.model_validate({"name": "a/b", "value": value, "unit": unit}), value) == words
