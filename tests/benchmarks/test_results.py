"""The schema of what benchmarks give: what it holds, what it refuses, and the statistics in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks.results import Measured, Report, document, repeated, single, spread

ABOUT: dict[str, Any] = {"machine": {"processor": "P"}, "versions": {}, "revision": None, "time": "2026-01-01T00:00:00"}


def test_repetitions_become_median_and_percentiles() -> None:
    found = spread("epochs/cora", [float(value) for value in range(1, 12)], "s")
    assert (found.p10, found.value, found.p90) == (2, 6, 10)


def test_a_report_reads_back_as_it_was_written() -> None:
    report = Report(**ABOUT, results=(single("runs/cora", 12.3456789, "s"), spread("a/b", [1.0, 3.0])))
    written = report.to_json()
    assert Report.model_validate_json(written) == report
    assert json.loads(written)["schema"] == 1
    assert json.loads(written)["results"][0] == {
        "name": "runs/cora",
        "value": 12.3457,
        "unit": "s",
        "lower_is_better": True,
        "p10": None,
        "p90": None,
        "note": "",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "no part"},
        {"name": "a/b|c"},
        {"unit": "hours"},
        {"value": float("nan")},
        {"p10": 0.5},
        {"p10": 2.0, "p90": 3.0},
        {"host": "somewhere"},
    ],
)
def test_what_is_no_result_is_refused(wrong: dict[str, Any]) -> None:
    right = {"name": "a/b", "value": 1.0, "unit": "s"}
    assert Measured.model_validate(right)
    with pytest.raises(ValidationError):
        Measured.model_validate({**right, **wrong})


def test_a_name_stands_once() -> None:
    with pytest.raises(ValidationError, match="twice"):
        Report(**ABOUT, results=(single("a/b", 1, "s"), single("a/b", 2, "s")))


def test_a_step_is_repeated_until_its_time_is_over_but_measured_at_least_once() -> None:
    calls: list[int] = []
    found = repeated("a/b", lambda: calls.append(1), most=4)
    assert (len(calls), found.unit) == (5, "CPU s")
    calls.clear()
    repeated("a/b", lambda: calls.append(1), most=4, seconds=0)
    assert len(calls) == 2


def test_a_part_prints_what_the_collector_reads() -> None:
    results = [single("a/b", 1, "B"), spread("a/c", [1.0, 2.0], "ratio", lower_is_better=False)]
    printed = json.loads(json.dumps(document(results)))
    assert [Measured.model_validate(each) for each in printed["results"]] == results
