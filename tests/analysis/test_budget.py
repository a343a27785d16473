"""Methods at an equal budget: the nearest round within the tolerance, never interpolated, paired with the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.budget import (
    Budget,
    budget_caption,
    budget_table,
    budget_words,
    met_seeds,
    result_words,
    target_words,
    usual_equal,
)
from analysis.figures.base import FigureChoices
from analysis.figures.budget import budget
from analysis.latex import budget_latex
from analysis.tables.rounds import rounds_table
from glt.errors import ConfigError
from glt.store import Run

MakeScored = Callable[..., Run]


def made(rows: Sequence[tuple[str, int, float, float, float, Sequence[float]]]) -> pd.DataFrame:
    """Return a `rounds_table` of (run, round, entries kept, edges kept, MACs, scores by seed); validation is unused."""
    same: dict[str, Any] = {"dataset": "cora", "task": "node", "objective": "", "model": "gcn", "color": "", "data": ""}
    return pd.DataFrame(
        {
            "run": run,
            "label": run.upper(),
            "method": run.partition("-")[0],
            **same,
            "round": number,
            "seed": seed,
            "graph_sparsity": 1 - entries,
            "weight_sparsity": 0.0,
            "edges_kept_either_way": edges,
            "macs_dense_features": macs,
            "macs_sparse_features": macs / 10,
            "test": score,
            "test_last": score - 0.1,
        }
        for run, number, entries, edges, macs, scores in rows
        for seed, score in enumerate(scores)
    )


DENSE = (0.80, 0.82, 0.81)
ROUNDS = made(
    [
        ("ugs", 0, 1.0, 1.0, 1000, DENSE),
        ("ugs", 1, 0.8, 0.96, 900, (0.80, 0.81, 0.80)),
        ("ugs", 2, 0.6, 0.84, 500, (0.78, 0.77, 0.79)),
        ("admm", 0, 1.0, 1.0, 1000, DENSE),
        ("admm", 1, 0.79, 0.79, 880, (0.79, 0.80, 0.805)),
        ("admm", 2, 0.64, 0.64, 300, (0.76, 0.78, 0.765)),
    ]
)


def rows_of(table: pd.DataFrame, run: str) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in table[table["run"] == run].to_dict("records")]


def test_targets_are_what_the_anchor_keeps_and_the_nearest_round_within_the_tolerance_meets_them() -> None:
    table = budget_table(ROUNDS, Budget("entries", rounds=(1, 2), reference="ugs"))
    assert table["target"].tolist() == pytest.approx([0.8, 0.8, 0.6, 0.6])
    first, second = rows_of(table, "admm")
    # .79 is 1.25 % off the target, .64 is 6.7 % off.
    assert (first["round"], first["kept"], first["mean"]) == (1, pytest.approx(0.79), pytest.approx(2.395 / 3))
    assert (second["verdict"], second["nearest_round"]) == ("no round", 2)
    assert all(math.isnan(second[name]) for name in ("round", "mean", "difference", "p_adjusted"))
    expected = "no round within 5 % of the target: the nearest, round 2, keeps 64.0 %"
    assert result_words(second) == expected
    wider = budget_table(ROUNDS, Budget("entries", rounds=(1, 2), reference="ugs", tolerance=0.07))
    assert rows_of(wider, "admm")[1]["round"] == 2


def test_each_kind_of_budget_matches_other_rounds() -> None:
    met = {
        equal: [row["round"] for row in rows_of(budget_table(ROUNDS, Budget(equal, rounds=(1, 2))), "admm")]
        for equal in ("round", "entries", "edges", "macs")
    }
    assert met["round"] == [1, 2]
    assert met["entries"][0] == 1
    assert math.isnan(met["edges"][0])
    assert met["macs"][0] == 1
    assert math.isnan(met["macs"][1])
    # Undirected edges: ADMM's first round keeps .79, UGS's second .84.
    near = budget_table(ROUNDS, Budget("edges", rounds=(2,), tolerance=0.06))
    assert rows_of(near, "admm")[0]["round"] == 1


def test_shares_of_macs_are_shares_of_the_dense_ones() -> None:
    table = budget_table(ROUNDS, Budget("macs", shares=(0.88, 0.3)))
    assert [row["kept"] for row in rows_of(table, "admm")] == pytest.approx([0.88, 0.3])
    assert rows_of(table, "ugs")[0]["round"] == 1
    assert table["target_round"].isna().all()
    assert (table["anchor"] == "").all()
    sparse = budget_table(ROUNDS, Budget("macs", shares=(0.88,)), macs="sparse_features")
    assert sparse["macs"].tolist() == pytest.approx([90, 88])
    assert sparse["kept"].tolist() == pytest.approx([0.9, 0.88])


def test_differences_are_paired_with_the_reference_and_one_family() -> None:
    table = budget_table(ROUNDS, Budget("round", rounds=(1, 2), reference="ugs"))
    assert table["verdict"].tolist()[::2] == ["reference", "reference"]
    gaps = [np.array([-0.01, -0.01, 0.005]), np.array([-0.02, 0.01, -0.025])]
    p = [stats.ttest_1samp(gap, 0).pvalue for gap in gaps]
    # Holm by hand: the smaller of two p-values doubles, and the other is no smaller.
    low = int(np.argmin(p))
    holm = [0.0, 0.0]
    holm[low] = min(1.0, 2 * p[low])
    holm[1 - low] = max(holm[low], p[1 - low])
    rows = rows_of(table, "admm")
    for row, gap, raw, corrected in zip(rows, gaps, p, holm, strict=True):
        half = stats.t.ppf(0.975, 2) * stats.sem(gap)
        assert (row["difference"], row["difference_high"]) == pytest.approx((gap.mean(), gap.mean() + half))
        assert (row["p_value"], row["p_adjusted"], row["family"]) == pytest.approx((raw, corrected, 2))


def test_the_dense_reference_is_round_0_of_the_same_seeds() -> None:
    rounds = ROUNDS[~((ROUNDS["run"] == "admm") & (ROUNDS["round"] == 1) & (ROUNDS["seed"] == 2))]
    (row,) = rows_of(budget_table(rounds, Budget("round", rounds=(1,))), "admm")
    assert (row["reference"], row["shared_seeds"]) == ("Dense", 2)
    assert (row["dense"], row["difference"]) == pytest.approx((0.81, -0.015))
    assert row["seeds"] == 2
    assert math.isnan(row["high"])


def test_a_reference_without_a_round_at_the_target_gives_no_test() -> None:
    table = budget_table(ROUNDS, Budget("entries", shares=(0.6,), reference="admm", tolerance=0.01))
    assert dict(zip(table["run"], table["verdict"], strict=True)) == {"ugs": "no test", "admm": "no round"}
    assert table["family"].dropna().tolist() == [0]


def test_the_round_is_the_usual_budget_where_all_runs_prune_equally(make_scored: MakeScored) -> None:
    alike = [make_scored("ugs", [[0.8, 0.7]]), make_scored("random", [[0.8, 0.6]])]
    assert usual_equal(rounds_table(alike)) == "round"
    faster = make_scored("random", [[0.8, 0.6]], p_graph=0.2)
    assert usual_equal(rounds_table([*alike, faster])) == "entries"
    table = budget_table(rounds_table(alike))
    # Without round 4 the last one is the target.
    assert table["target_round"].tolist() == [1, 1]


def test_rounds_are_never_interpolated_and_weights_only_runs_meet_no_share_of_edges(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.8, 0.7, 0.6]]), make_scored("random", [[0.8, 0.75, 0.7]], p_graph=0.0)]
    table = budget_table(rounds_table(runs), Budget("entries", rounds=(2,), reference="ugs"))
    (row,) = rows_of(table, runs[1].reference)
    assert (row["verdict"], row["kept"]) == ("no round", 1.0)
    scores = set(rounds_table(runs)["test"])
    assert set(table["mean"].dropna()) <= scores


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (Budget("entries", rounds=(0,)), "Round 0 is the dense model"),
        (Budget("entries", rounds=(7,)), "UGS has no round 7, which is to be a target: its last is round 2"),
        (Budget("entries", rounds=(1,), shares=(0.5,)), "rounds or shares"),
        (Budget("round", shares=(0.5,)), "At equal rounds a target is a round"),
        (Budget("edges", shares=(1.5,)), "above 0 and at most 100 %"),
        (Budget(reference="teddy"), "no run on Cora is called that"),
    ],
)
def test_impossible_targets_and_references_are_refused(chosen: Budget, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        budget_table(ROUNDS, chosen)


def test_a_method_of_two_runs_is_no_reference(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.8, 0.7]], hidden=width) for width in (8, 16)]
    with pytest.raises(ConfigError, match="2 of the runs on Cora have this method"):
        budget_table(rounds_table(runs), Budget(reference="ugs"))
    table = budget_table(rounds_table(runs), Budget(reference=runs[0].reference))
    assert set(table["reference"]) == {"UGS (hidden = 8)"}


def test_results_are_written_as_a_sentence_a_caption_and_a_latex_table() -> None:
    table = budget_table(ROUNDS, Budget("entries", rounds=(1, 2)))
    said = budget_words(table)
    assert said.startswith("At equal directed entries, against Dense: ")
    assert said.endswith("Paired t tests of 3 seeds at 5 %, Holm over 3 comparisons.")
    assert "what UGS keeps in these rounds" in budget_caption(table)
    assert target_words(rows_of(table, "ugs")[0]) == "k = 1: 80.0 % of directed entries"
    latex = budget_latex(table)
    assert latex.count("Difference") == 2
    assert "ADMM & $79.8 \\pm 1.9$" in latex
    assert "-- & --" in latex
    assert "no round near enough" in latex
    with pytest.raises(ConfigError, match="No run has a round near"):
        met_seeds(budget_table(ROUNDS, Budget("entries", shares=(0.1,))))


def test_a_column_of_the_latex_table_names_the_round_of_every_data_set() -> None:
    shorter = ROUNDS[ROUNDS["round"] < 2]
    both = pd.concat([ROUNDS, shorter.assign(dataset="citeseer", run=shorter["run"] + "-other")])
    assert "k = 2 or k = 1 & Difference" in budget_latex(budget_table(both, Budget("round"))).replace("$", "")


def test_the_figure_has_a_panel_a_target_and_full_marks_where_a_difference_is_significant(
    make_scored: MakeScored,
) -> None:
    lower = [[0.80, 0.70, 0.6], [0.81, 0.71, 0.612], [0.82, 0.72, 0.619]]
    near = [[0.80, 0.80, 0.8], [0.81, 0.81, 0.813], [0.82, 0.815, 0.816]]
    runs = [make_scored("ugs", lower), make_scored("random", near)]
    described = budget(runs, FigureChoices(budget=Budget("round", rounds=(1, 2))))
    assert [panel.title.partition(":")[0] for panel in described.panels] == ["k = 1", "k = 2"]
    marks = [layer for layer in described.panels[1].layers if hasattr(layer, "filled")]
    assert [mark.filled for mark in marks] == [True, False]
    assert marks[0].keys == [[runs[0].reference, 2]]
    assert described.points["run"].tolist() == [run.reference for run in runs] * 2
