"""The tables of Curves, Measurements and Tickets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from analysis import published
from analysis.measures import At, measurement_table
from analysis.tables import curve_table, rounds_table
from app.views import curves, measurements, tickets
from glt.store import Run


def test_the_numbers_of_a_curve_sort_as_numbers(make_run: Callable[..., Run]) -> None:
    table = curves.numbers(curve_table(rounds_table([make_run("ugs")])))
    assert table["Test accuracy"].tolist() == pytest.approx([80.1, 79.1, 78.1, 77.1])
    assert table["MACs"].tolist() == pytest.approx([2000, 1000, 666.67, 500], abs=0.01)
    assert table["Ticket"].tolist() == ["", "", "", ""]


def test_the_papers_value_stands_under_ours(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run("ugs", rounds=13)], At(round=13))
    read = measurements.as_read(table, ["average_clustering"], published.measurements("cora"))
    assert read.columns.tolist() == ["Measure", "Original", "UGS"]
    assert read["Original"].tolist() == ["0.24067", ":gray[0.24067]"]
    assert read["UGS"][1] == ":gray[0.15855]"


def test_no_ticket_is_said_plainly(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    make_run("ugs")
    app = open_page("tickets")
    assert ["there is no ticket" in info.value for info in app.info] == [True]
    accuracy = next(metric for metric in app.metric if metric.label == "Against dense")
    assert accuracy.value == "\N{MINUS SIGN}1.0 points"


def test_a_tolerance_makes_a_ticket(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    make_run("ugs")
    app = open_page("tickets", tolerance="2")
    assert not app.info
    assert "ticket, round 2" in " ".join(badge.value for badge in app.markdown)


def test_a_paired_difference_shows_its_interval() -> None:
    row = {"difference": -0.004, "difference_low": -0.011, "difference_high": 0.003}
    assert tickets.difference(row) == "\N{MINUS SIGN}0.4 points (\N{MINUS SIGN}1.1 to +0.3)"
    alone = {"difference": 0.0, "difference_low": float("nan"), "difference_high": float("nan")}
    assert tickets.difference(alone) == "0.0 points"
