"""Curves and Runs say what rounds say of their training."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app.views.curves import AT_CHANCE, CUTS

UGS = "cora-node-gcn-ugs-df8e8f72"
OpenPage = Callable[..., AppTest]


def test_curves_list_cuts_without_a_gradient(open_page: OpenPage) -> None:
    app = open_page("curves", runs=UGS)
    assert not app.exception
    (table,) = [each.value for each in app.dataframe]
    shares = dict(zip(table["Round"], table[CUTS], strict=True))
    # The mean of 40.0, 30.5, 52.6, 0 and 13.0 %.
    assert float(shares[13]) == pytest.approx(27.2, abs=0.1)
    assert float(shares[9]) == 0.0
    assert float(dict(zip(table["Round"], table[AT_CHANCE], strict=True))[13]) == 171
    assert not app.warning


def test_curves_of_a_method_without_a_search_have_no_such_column(open_page: OpenPage) -> None:
    app = open_page("curves", runs="cora-node-gcn-admm-0913104b")
    (table,) = [each.value for each in app.dataframe]
    assert CUTS not in table
    assert AT_CHANCE not in table


def test_runs_say_where_a_search_was_at_chance(open_page: OpenPage) -> None:
    app = open_page("runs", run=UGS, training_round="13")
    assert not app.exception
    told = [each.value for each in app.caption]
    assert any(
        "validation is at chance from epoch 171 or earlier to the end; masks were read before, at epoch 15" in t
        for t in told
    )
