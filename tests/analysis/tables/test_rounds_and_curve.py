from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.tables import curve_table, dense_table, rounds_table, tickets_table
from analysis.tables.labels import run_labels
from glt.store import RoundRecord, Run


@pytest.fixture
def rounds(make_scored: Callable[..., Run]) -> pd.DataFrame:
    ugs = make_scored("ugs", [[0.82, 0.83, 0.82, 0.80], [0.80, 0.81, 0.81, 0.78], [0.81, 0.83, 0.80, 0.79]])
    random = make_scored("random", [[0.82, 0.80, 0.79], [0.80, 0.79, 0.75]])
    return rounds_table([ugs, random])


def test_one_row_a_run_seed_and_round_with_every_field(rounds: pd.DataFrame) -> None:
    assert len(rounds) == 3 * 4 + 2 * 3
    assert set(RoundRecord.model_fields) - {"macs"} <= set(rounds.columns)
    row = rounds[(rounds["method"] == "ugs") & (rounds["seed"] == 1) & (rounds["round"] == 2)].iloc[0]
    assert (row["dataset"], row["task"], row["model"], row["label"]) == ("cora", "node", "gcn", "UGS")
    assert row["test"] == 0.81
    assert row["macs_dense_features"] == int(1_996_600_000 * 0.8**2)


def test_no_runs_give_an_empty_table_with_all_columns() -> None:
    empty = rounds_table([])
    assert empty.empty
    assert curve_table(empty).empty
    assert {"run", "test", "macs_published"} <= set(empty.columns)


def test_mean_and_interval_over_seeds(rounds: pd.DataFrame) -> None:
    row = curve_table(rounds).query("method == 'ugs' and round == 2").iloc[0]
    values = np.array([0.82, 0.81, 0.80])
    low, high = stats.t.interval(0.95, 2, loc=values.mean(), scale=stats.sem(values))
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), low, high))
    assert row["seeds"] == 3


def test_paired_difference_is_against_the_same_seeds(rounds: pd.DataFrame) -> None:
    row = curve_table(rounds).query("method == 'ugs' and round == 1").iloc[0]
    differences = np.array([0.01, 0.01, 0.02])
    half = stats.sem(differences) * stats.t.ppf(0.975, 2)
    assert row["difference"] == pytest.approx(differences.mean())
    assert row["difference_high"] - row["difference"] == pytest.approx(half)
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_an_unfinished_seed_counts_against_its_own_dense_only(make_scored: Callable[..., Run]) -> None:
    run = make_scored("ugs", [[0.90, 0.80, 0.80], [0.70, 0.70]])
    table = curve_table(rounds_table([run])).set_index("round")
    assert table["seeds"].tolist() == [2, 2, 1]
    assert table.loc[2, "dense"] == pytest.approx(0.90)
    assert table.loc[1, "dense"] == pytest.approx(0.80)
    # .80 would meet the mean of both seeds' dense models, .80, but not that of the seed it belongs to.
    assert not table.loc[2, "is_ticket"]
    assert dense_table(rounds_table([run]))["mean"].tolist() == pytest.approx([0.80])


def test_one_seed_has_no_interval(make_scored: Callable[..., Run]) -> None:
    table = curve_table(rounds_table([make_scored("ugs", [[0.8, 0.8]])]))
    assert table[["low", "high", "difference_low", "difference_high", "p_value"]].isna().all().all()
    assert table["is_ticket"].tolist() == [False, True]


def test_round_0_is_no_ticket_and_equal_means_are_one(make_scored: Callable[..., Run]) -> None:
    # The sums of .1 + .2 + .3 and .3 + .2 + .1 differ in the last bit.
    run = make_scored("ugs", [[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    assert curve_table(rounds_table([run]))["is_ticket"].tolist() == [False, True]


@pytest.mark.parametrize(("tolerance", "expected"), [(0.0, 1), (0.0101, 2), (0.05, 3)])
def test_tolerance_and_the_extreme_ticket(make_scored: Callable[..., Run], tolerance: float, expected: int) -> None:
    run = make_scored("ugs", [[0.82, 0.82, 0.81, 0.78]])
    table = curve_table(rounds_table([run]), tolerance=tolerance)
    assert table.loc[table["is_extreme"], "round"].tolist() == [expected]
    assert table["is_ticket"].sum() == expected


def test_a_later_ticket_after_a_miss_is_the_extreme_one(make_scored: Callable[..., Run]) -> None:
    table = curve_table(rounds_table([make_scored("ugs", [[0.80, 0.81, 0.70, 0.80, 0.60]])]))
    assert table.loc[table["is_ticket"], "round"].tolist() == [1, 3]
    assert table.loc[table["is_extreme"], "round"].tolist() == [3]


def test_score_and_axis_are_chosen(rounds: pd.DataFrame) -> None:
    last = curve_table(rounds, "test_last")
    assert (curve_table(rounds)["mean"] - last["mean"]).tolist() == pytest.approx([0.05] * len(last))
    assert curve_table(rounds, x="weight")["x"].tolist()[:3] == pytest.approx([0, 0.2, 0.36])
    published = curve_table(rounds, x="macs", macs="published")
    assert published["x"].tolist()[:2] == pytest.approx([2007e6, 2007e6 * 0.8])


def test_runs_of_one_method_are_told_apart(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]]), make_scored("ugs", [[0.8]], degree="target"), make_scored("random", [[0.8]])]
    labels = rounds_table(runs)["label"].tolist()
    assert labels == ["UGS (degree = source)", "UGS (degree = target)", "Random pruning (degree = source)"]


def test_runs_of_different_methods_are_told_apart_by_what_both_use(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]]), make_scored("random", [[0.8]], hidden=64, epochs=7)]
    labels = rounds_table(runs)["label"].tolist()
    assert labels == ["UGS (hidden = 512)", "Random pruning (hidden = 64)"]


def test_another_data_set_goes_without_its_hyper_parameters(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]]), make_scored("ugs", [[0.8]], dataset="citeseer", learning_rate=0.01)]
    assert rounds_table(runs)["label"].tolist() == ["UGS (Cora)", "UGS (Citeseer)"]


def test_starts_are_told_apart_in_short(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]], options=options) for options in ({}, {"pretraining": "first"})]
    assert list(run_labels(runs).values()) == ["UGS (random start)", "UGS (pre-trained start)"]
    runs.append(make_scored("ugs", [[0.8]], options={"pretraining": "second"}))
    assert list(run_labels(runs).values()) == ["UGS (random start)", "UGS (start first)", "UGS (start second)"]


def test_tickets_or_the_closest_round(rounds: pd.DataFrame) -> None:
    table = tickets_table(rounds).set_index("method")
    assert table.loc["ugs", ["is_ticket", "round"]].tolist() == [True, 2]
    assert table.loc["ugs", "macs_saved"] == pytest.approx(0.36, abs=1e-6)
    assert table.loc["random", ["is_ticket", "round"]].tolist() == [False, 1]
    assert table.loc["random", "difference"] == pytest.approx(-0.015)


def test_a_run_with_only_its_dense_round_gives_no_ticket_row(make_scored: Callable[..., Run]) -> None:
    assert tickets_table(rounds_table([make_scored("ugs", [[0.8]])])).empty
