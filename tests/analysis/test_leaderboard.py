"""The leader table: the reference is chosen on validation, and differences from it are tested."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.compare import group_fields, grouped_by
from analysis.leaderboard import comparison_words, leader_table
from analysis.tables.rounds import rounds_table
from glt.errors import ConfigError
from glt.store import Run

MakeScored = Callable[..., Run]


def test_a_row_has_the_dense_best_and_sparsest_round(make_scored: MakeScored) -> None:
    run = make_scored("ugs", [[0.80, 0.81, 0.83, 0.8049, 0.70], [0.80, 0.81, 0.81, 0.8051, 0.70]])
    (row,) = leader_table(rounds_table([run])).to_dict("records")
    assert (row["dense_round"], row["best_round"], row["sparsest_round"]) == (0, 2, 3)
    assert (row["dense_mean"], row["best_mean"], row["sparsest_mean"]) == pytest.approx((0.80, 0.82, 0.805))
    assert row["sparsest_graph_sparsity"] == pytest.approx(1 - 0.95**3)
    assert (row["verdict"], row["seeds"], row["runs"]) == ("reference", 2, 1)
    assert np.isnan(row["best_low"])


def test_the_best_round_is_chosen_on_validation(make_scored: MakeScored) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.9, 0.7]])]).assign(val=[0.5, 0.6, 0.7])
    (row,) = leader_table(rounds).to_dict("records")
    assert (row["best_round"], row["best_mean"]) == (2, 0.7)


def test_the_reference_is_chosen_on_validation(make_scored: MakeScored) -> None:
    runs = make_scored("ugs", [[0.8, 0.90]]), make_scored("random", [[0.8, 0.70]])
    rounds = rounds_table(runs)
    rounds = rounds.assign(val=rounds["method"].map({"ugs": 0.6, "random": 0.7}))
    table = leader_table(rounds)
    assert table["method"].tolist() == ["random", "ugs"]
    assert table["verdict"].tolist() == ["reference", "no test"]
    assert comparison_words(table.to_dict("records")[0]) == "reference"
    assert comparison_words(table.to_dict("records")[1]) == "no test: +20.0 points (1 shared seed)"


def test_a_run_of_one_seed_is_no_reference_if_others_have_more(make_scored: MakeScored) -> None:
    runs = make_scored("ugs", [[0.8, 0.90]]), make_scored("random", [[0.8, 0.70], [0.8, 0.71]])
    table = leader_table(validated(rounds_table(runs), "ugs", "random"))
    assert table["method"].tolist() == ["random", "ugs"]
    assert table["verdict"].tolist() == ["reference", "no test"]


def validated(rounds: pd.DataFrame, *methods: str) -> pd.DataFrame:
    """Raise the validation scores of these methods above all others, in this order."""
    return rounds.assign(val=rounds["method"].map({name: 0.9 - 0.1 * place for place, name in enumerate(methods)}))


def test_differences_are_paired_and_corrected(make_scored: MakeScored) -> None:
    # All three overlap by their own intervals; seed by seed the second is always a point lower, the third is not.
    high = [[0.8, 0.70], [0.8, 0.80], [0.8, 0.90]]
    lower = [[0.8, 0.689], [0.8, 0.790], [0.8, 0.891]]
    near = [[0.8, 0.79], [0.8, 0.75], [0.8, 0.83]]
    runs = [make_scored("ugs", lower), make_scored("random", high), make_scored("admm", near)]
    table = leader_table(validated(rounds_table(runs), "random", "ugs", "admm"))
    assert table["method"].tolist() == ["random", "ugs", "admm"]
    assert table["verdict"].tolist() == ["reference", "lower", "none"]
    assert table["compared"].tolist() == ["", "paired", "paired"]
    gaps = np.array([-0.011, -0.010, -0.009])
    low, high_end = stats.t.interval(0.95, 2, loc=gaps.mean(), scale=stats.sem(gaps))
    assert (table["difference_low"][1], table["difference_high"][1]) == pytest.approx((low, high_end))
    p = stats.ttest_1samp(gaps, 0).pvalue
    assert (table["p_value"][1], table["p_adjusted"][1]) == pytest.approx((p, 2 * p))
    words = [comparison_words(row) for row in table.to_dict("records")[1:]]
    assert words[0] == "significantly lower: \N{MINUS SIGN}1.0 ± 0.2 points, p = 0.0066 (n = 3)"
    assert words[1].startswith("no significant difference: \N{MINUS SIGN}1.0 ± 21.7 points, p = 0.86 (n = 3, detects")


def test_holm_correction_over_the_rows_of_a_data_set(make_scored: MakeScored) -> None:
    """Holm's correction over the rows of one data set."""
    high = [[0.8, 0.70], [0.8, 0.80], [0.8, 0.90]]
    shifts = (0.010, 0.014, 0.020)
    lower = [[0.8, scores[1] - shift] for scores, shift in zip(high, shifts, strict=True)]
    others = [make_scored("ugs", [[0.8, 0.71], [0.8, 0.78], [0.8, 0.91]], hidden=width) for width in (8, 16, 32, 64)]
    pair = [make_scored("random", high), make_scored("admm", lower)]
    alone, many = (
        leader_table(validated(rounds_table(runs), "random", "admm", "ugs")).set_index("method")
        for runs in (pair, [*pair, *others])
    )
    assert (alone["verdict"]["admm"], many["verdict"].loc["admm"]) == ("lower", "none")
    assert many["family"].loc["admm"] == 5


def test_without_shared_seeds_samples_are_independent(make_scored: MakeScored, make_at: Callable[..., Run]) -> None:
    reference = make_scored("ugs", [[0.8, 0.80], [0.8, 0.81], [0.8, 0.82]])
    near = make_at("random", range(10, 13), [0.79, 0.80, 0.81])
    far = make_at("admm", range(20, 23), [0.60, 0.61, 0.625])
    one = make_at("reinit", range(30, 31), [0.5])
    rounds = validated(rounds_table([reference, near, far, one]), "ugs", "random", "admm", "reinit")
    table = leader_table(rounds).set_index("method")
    assert table["verdict"].to_dict() == {"ugs": "reference", "random": "none", "admm": "lower", "reinit": "no test"}
    assert table["compared"].to_dict() == {"ugs": "", "random": "unpaired", "admm": "unpaired", "reinit": ""}
    welch = stats.ttest_ind([0.60, 0.61, 0.625], [0.80, 0.81, 0.82], equal_var=False).pvalue
    assert table["p_value"]["admm"] == pytest.approx(welch)
    assert comparison_words(dict(table.loc["reinit"])) == "no test: \N{MINUS SIGN}31.0 points (0 shared seeds)"


@pytest.fixture
def make_at(make_scored: MakeScored) -> Callable[..., Run]:
    """Write a run of one pruned round under these seeds."""
    from tests.analysis.conftest import write_scores

    def make(method: str, seeds: range, scores: list[float]) -> Run:
        run = make_scored(method, [])
        for seed, score in zip(seeds, scores, strict=True):
            write_scores(run.seed(seed), [0.8, score])
        return run

    return make


def test_every_data_set_has_its_own_reference(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.7, 0.6]], dataset=name) for name in ("citeseer", "cora")]
    table = leader_table(rounds_table([*runs, make_scored("random", [[0.7, 0.5]])]))
    assert table["dataset"].tolist() == ["citeseer", "cora", "cora"]
    assert table["verdict"].tolist() == ["reference", "reference", "no test"]


def test_a_run_without_a_pruned_round_has_no_test(make_scored: MakeScored) -> None:
    table = leader_table(rounds_table([make_scored("ugs", [[0.9]]), make_scored("random", [[0.8, 0.7]])]))
    assert table["method"].tolist() == ["random", "ugs"]
    assert table["verdict"].tolist() == ["reference", "no test"]
    dense = leader_table(rounds_table([make_scored("ugs", [[0.9]], hidden=16)]), rank="dense")
    assert dense["verdict"].tolist() == ["reference"]


def test_a_group_is_the_mean_over_its_runs(make_scored: MakeScored) -> None:
    wide = [make_scored("ugs", [[0.8, low], [0.8, low + 0.02]], p_graph=p) for low, p in ((0.7, 0.1), (0.74, 0.2))]
    narrow = make_scored("ugs", [[0.8, 0.6]], hidden=16)
    runs = [*wide, narrow]
    groups = grouped_by(runs, "hidden")
    assert set(groups.values()) == {"hidden = 16", "hidden = 512"}
    table = leader_table(rounds_table(runs), groups=groups)
    assert table["label"].tolist() == ["hidden = 512", "hidden = 16"]
    assert table["best_mean"].tolist() == pytest.approx([0.73, 0.6])
    assert (table["runs"].tolist(), table["seeds"].tolist()) == ([2, 1], [2, 1])
    assert table["verdict"].tolist() == ["reference", "no test"]
    assert comparison_words(table.to_dict("records")[1]) == "no test: \N{MINUS SIGN}12.0 points (1 shared seed)"


def test_a_group_of_one_run_each_is_paired_by_seed(make_scored: MakeScored) -> None:
    runs = [
        make_scored("ugs", [[0.8, low], [0.8, low + 0.1], [0.8, low + 0.2011]], hidden=width)
        for low, width in ((0.6, 16), (0.59, 64))
    ]
    table = leader_table(rounds_table(runs), groups=grouped_by(runs, "hidden"))
    assert table["label"].tolist() == ["hidden = 16", "hidden = 64"]
    assert table["run"].tolist() == [run.name for run in runs]
    assert table["compared"].tolist() == ["", "paired"]
    assert abs(table["difference"][1]) == pytest.approx(0.01, abs=0.001)


def test_a_group_takes_every_seed_once(make_scored: MakeScored) -> None:
    dense, pruned = [0.80, 0.82, 0.81], [[0.70, 0.74, 0.73], [0.76, 0.70, 0.77], [0.73, 0.72, 0.78]]
    methods = ("ugs", "random", "admm")
    runs = [
        make_scored(method, [[first, then] for first, then in zip(dense, scores, strict=True)])
        for method, scores in zip(methods, pruned, strict=True)
    ]
    (row,) = leader_table(rounds_table(runs), groups=grouped_by(runs, "hidden")).to_dict("records")
    assert (row["runs"], row["seeds"]) == (3, 3)
    for part, of_seeds in (("dense", np.array(dense)), ("best", np.mean(pruned, axis=0))):
        interval = stats.t.interval(0.95, 2, loc=of_seeds.mean(), scale=stats.sem(of_seeds))
        assert (row[f"{part}_low"], row[f"{part}_high"]) == pytest.approx(interval)
        assert row[f"{part}_mean"] == pytest.approx(of_seeds.mean())
    assert np.isnan(row["sparsest_mean"])
    assert row["sparsest_runs"] == 0


def test_three_runs_of_one_seed_give_a_group_no_interval(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.8, score]], p_graph=score / 2) for score in (0.70, 0.72, 0.74)]
    (row,) = leader_table(rounds_table(runs), groups=grouped_by(runs, "method")).to_dict("records")
    assert (row["label"], row["runs"], row["seeds"]) == ("UGS", 3, 1)
    assert row["best_mean"] == pytest.approx(0.72)
    assert np.isnan(row["best_low"])


def test_group_settings_are_sorted_and_checked(make_scored: MakeScored) -> None:
    runs = [make_scored("ugs", [[0.8]], hidden=width) for width in (16, 8)]
    fields = group_fields([*runs, make_scored("random", [[0.8]])])
    assert list(fields)[:2] == ["method", "hidden"]
    assert (fields["method"], fields["hidden"], fields["p_graph"]) == (2, 3, 1)
    assert list(dict.fromkeys(grouped_by(runs, "hidden").values())) == ["hidden = 8", "hidden = 16"]
    with pytest.raises(ConfigError, match="did you mean 'hidden'"):
        grouped_by(runs, "hiden")
