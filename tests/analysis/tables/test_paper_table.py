from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis.tables import curve_table, paper_table, rounds_table
from glt.store import Run

FLAT = [[0.8] * 18]


def test_points_are_matched_by_round(make_scored: Callable[..., Run]) -> None:
    table = paper_table(curve_table(rounds_table([make_scored("ugs", FLAT), make_scored("random", FLAT)])))
    ugs = table[table["method"] == "ugs"].set_index("round")
    assert ugs["paper"].to_dict() == {4: 0.808, 5: 0.803, 9: 0.793, 16: 0.753}
    assert ugs.loc[16, "gap"] == pytest.approx(0.8 - 0.753)
    assert ugs.loc[4, "paper_macs"] == 826_000_000
    assert set(table.loc[table["method"] == "random", "round"]) == {4, 9}


def test_other_rates_are_not_compared(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", FLAT)])
    rounds["graph_sparsity"] = 1 - 0.9 ** rounds["round"]
    assert paper_table(curve_table(rounds)).empty
