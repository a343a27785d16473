"""Curve tables: means, paired differences, verdicts, labels, printed points, diagnoses, and the Pareto front."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis import palette
from analysis.drawing import screen
from analysis.figures.curves import round_text
from analysis.figures.pareto import pareto_front
from analysis.labels import run_labels
from analysis.tables.curves import XAxis, curve_table, dense_table, is_on_front, paper_table, with_front
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import diagnosis_table, late_words, ticket_words, tickets_table, with_diagnoses
from glt.config import RunConfig
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import RoundRecord, Run, SeedRun, Store, bundled_examples
from tests.analysis.conftest import record
from tests.conftest import SHAPES


@pytest.fixture
def rounds(make_scored: Callable[..., Run]) -> pd.DataFrame:
    ugs = make_scored("ugs", [[0.82, 0.83, 0.82, 0.80], [0.80, 0.81, 0.81, 0.78], [0.81, 0.83, 0.80, 0.79]])
    random = make_scored("random", [[0.82, 0.80, 0.79], [0.80, 0.79, 0.75]])
    return rounds_table([ugs, random])


def test_one_row_per_run_seed_and_round(rounds: pd.DataFrame) -> None:
    assert len(rounds) == 3 * 4 + 2 * 3
    assert set(RoundRecord.model_fields) - {"macs", "notes"} <= set(rounds.columns)
    row = rounds[(rounds["method"] == "ugs") & (rounds["seed"] == 1) & (rounds["round"] == 2)].iloc[0]
    assert (row["dataset"], row["task"], row["model"], row["label"]) == ("cora", "node", "gcn", "UGS")
    assert row["test"] == 0.81
    assert row["macs_dense_features"] == int(1_996_600_000 * 0.8**2)


def test_edges_changed_by_the_solver_are_a_column_and_a_hover_line(
    make_scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_scored("admm", [[0.8, 0.8], [0.8, 0.8]])
    whole = SeedRun.rounds
    noted = {0: [{}, {"solver_edges_changed": 100}], 1: [{}, {"solver_edges_changed": 0}]}
    monkeypatch.setattr(
        SeedRun,
        "rounds",
        lambda seed: [
            record.model_copy(update={"notes": notes})
            for record, notes in zip(whole(seed), noted[seed.seed], strict=True)
        ],
    )
    table = curve_table(rounds_table([run]))
    assert table["solver_edges_changed"].tolist()[1] == 50
    first, second = (round_text(row) for row in table.to_dict("records"))
    assert "solver's start" not in first
    assert "Kept edges that differ from the solver's start: 50" in second


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
    assert not table.loc[2, "paper_criterion"]
    assert table["seeds_left_out"].tolist()[1:] == [0, 1]
    assert table.loc[2, "verdict_sentence"] == "One seed: no verdict, 1 unpaired seed left out."
    assert dense_table(rounds_table([run]))["mean"].tolist() == pytest.approx([0.80])


def test_one_seed_has_no_interval(make_scored: Callable[..., Run]) -> None:
    table = curve_table(rounds_table([make_scored("ugs", [[0.8, 0.8]])]))
    assert table[["low", "high", "difference_low", "difference_high", "p_value"]].isna().all().all()
    assert table["verdict"].tolist() == ["", "no verdict"]
    assert not table["is_ticket"].any()


def test_round_0_is_no_ticket(make_scored: Callable[..., Run]) -> None:
    # The sums of .1 + .2 + .3 and .3 + .2 + .1 differ in the last bit.
    table = curve_table(rounds_table([make_scored("ugs", [[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])]))
    assert table["paper_criterion"].tolist() == [False, True]
    assert table["verdict"].tolist() == ["", "open"]


def varied(*means: float) -> list[list[float]]:
    """Scores of five seeds at 0.80 dense, whose later rounds differ from it by these means and vary by 0.1 points."""
    return [[0.80, *(0.80 + mean + wobble / 1000 for mean in means)] for wobble in (-1, -0.5, 0, 0.5, 1)]


@pytest.mark.parametrize(("margin", "expected"), [(0.005, 1), (0.0151, 2), (0.05, 3)])
def test_the_margin_and_the_sparsest_ticket(make_scored: Callable[..., Run], margin: float, expected: int) -> None:
    run = make_scored("ugs", varied(0.0, -0.01, -0.04))
    table = curve_table(rounds_table([run]), margin=margin)
    assert table.loc[table["is_extreme"], "round"].tolist() == [expected]
    assert table["verdict"].tolist() == ["", *["ticket"] * expected, *["no ticket"] * (3 - expected)]


def test_a_later_ticket_after_a_miss_is_the_sparsest_one(make_scored: Callable[..., Run]) -> None:
    table = curve_table(rounds_table([make_scored("ugs", varied(0.01, -0.10, 0.0, -0.20))]))
    assert table.loc[table["is_ticket"], "round"].tolist() == [1, 3]
    assert table.loc[table["is_extreme"], "round"].tolist() == [3]


def test_verdicts_are_those_of_one_family_over_all_runs(make_scored: Callable[..., Run]) -> None:
    ugs, random = make_scored("ugs", varied(0.0, -0.01)), make_scored("random", varied(-0.02, -0.10, -0.2))
    both, alone = rounds_table([ugs, random]), rounds_table([ugs])
    together, single = curve_table(both).query("method == 'ugs'"), curve_table(alone)
    assert together["family"].dropna().tolist() == [5, 5]
    assert single["family"].dropna().tolist() == [2, 2]
    differences = np.array([0.001, 0.0005, 0.0, -0.0005, -0.001])
    raw = stats.ttest_1samp(differences, -0.005, alternative="greater").pvalue
    assert together["p_ticket"].tolist()[1] == pytest.approx(raw, rel=1e-6)
    assert together["p_ticket_adjusted"].tolist()[1] == pytest.approx(5 * raw, rel=1e-6)
    # A panel with a part of the runs keeps the verdicts of all of them.
    part = curve_table(alone, family=both)
    pd.testing.assert_frame_equal(part.reset_index(drop=True), together.reset_index(drop=True))


def test_a_closest_round_is_chosen_by_its_validation_score(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", varied(-0.05, -0.02, -0.10))])
    # The second round has the best test score, the third the best validation score.
    rounds = rounds.assign(val=rounds["round"].map({0: 0.8, 1: 0.7, 2: 0.71, 3: 0.79}))
    (row,) = tickets_table(rounds).to_dict("records")
    assert (row["is_ticket"], row["round"], row["verdict"]) == (False, 3, "no ticket")
    assert np.isnan(row["macs_saved"])
    assert row["macs_removed"] == pytest.approx(1 - 0.8**3, abs=1e-6)
    # Equal means, but for the last bit, go to the sparsest round.
    rounds = rounds.assign(val=rounds["round"].map({0: 0.8, 1: 0.79, 2: 0.8 - 0.01, 3: 0.7}))
    assert tickets_table(rounds)["round"].tolist() == [2]


def test_columns_of_the_ticket_table(make_scored: Callable[..., Run]) -> None:
    ugs = make_scored("ugs", varied(0.0, -0.005, -0.04))
    words = ticket_words(tickets_table(rounds_table([ugs, make_scored("random", [[0.8, 0.81]])])))
    assert words == (
        "Sparsest round shown to lose less than 0.5 points against dense (5 seeds, one-sided paired t test at 5 %, "
        "Holm over 3 rounds): UGS round 1. Open, undecided with these seeds: UGS round 2. No verdict, one seed: "
        "Random pruning."
    )
    none = ticket_words(tickets_table(rounds_table([make_scored("admm", varied(-0.005, -0.04))])))
    assert none.startswith("No round is shown to lose less than 0.5 points against dense (5 seeds")
    one = ticket_words(tickets_table(rounds_table([make_scored("reinit", [[0.8, 0.81]])])))
    assert one == "No verdict: it needs two or more seeds whose differences from dense vary."


def test_a_closest_round_without_verdict_keeps_open_rounds(make_scored: Callable[..., Run]) -> None:
    """Both seeds lose the same in round 1, which validates best: it has no test, round 2 has one."""
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.798, 0.79], [0.81, 0.808, 0.795]])])
    rounds.loc[rounds["round"] == 1, "val"] = 0.99
    words = ticket_words(tickets_table(rounds))
    assert "(2 seeds, one-sided paired t test at 5 %, Holm over 1 round)" in words
    assert "Open, undecided with these seeds: UGS round 2." in words
    assert words.endswith("No verdict, all seeds have the same difference: UGS round 1.")


def test_score_and_axis_are_chosen(rounds: pd.DataFrame) -> None:
    last = curve_table(rounds, "test_last")
    assert (curve_table(rounds)["mean"] - last["mean"]).tolist() == pytest.approx([0.05] * len(last))
    assert curve_table(rounds, x="weight")["x"].tolist()[:3] == pytest.approx([0, 0.2, 0.36])
    published = curve_table(rounds, x="macs", macs="published")
    assert published["x"].tolist()[:2] == pytest.approx([2007e6, 2007e6 * 0.8])


def test_labels_distinguish_runs_of_one_method(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]]), make_scored("ugs", [[0.8]], degree="target"), make_scored("random", [[0.8]])]
    labels = rounds_table(runs)["label"].tolist()
    assert labels == ["UGS (degree = source)", "UGS (degree = target)", "Random pruning (degree = source)"]


def test_labels_distinguish_methods_by_shared_settings(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]]), make_scored("random", [[0.8]], hidden=64, epochs=7)]
    labels = rounds_table(runs)["label"].tolist()
    assert labels == ["UGS (hidden = 512)", "Random pruning (hidden = 64)"]


def test_another_data_set_needs_no_hyper_parameters(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]]), make_scored("ugs", [[0.8]], dataset="citeseer", learning_rate=0.01)]
    assert rounds_table(runs)["label"].tolist() == ["UGS (Cora)", "UGS (Citeseer)"]


def test_labels_distinguish_starts(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8]], options=options) for options in ({}, {"pretraining": "first"})]
    assert list(run_labels(runs).values()) == ["UGS (random start)", "UGS (pre-trained start)"]
    runs.append(make_scored("ugs", [[0.8]], options={"pretraining": "second"}))
    assert list(run_labels(runs).values()) == ["UGS (random start)", "UGS (start first)", "UGS (start second)"]


def test_tickets_or_the_closest_round(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", varied(0.01, 0.0, -0.04)), make_scored("random", varied(-0.02, -0.03))]
    table = tickets_table(rounds_table(runs)).set_index("method")
    assert table.loc["ugs", ["is_ticket", "round"]].tolist() == [True, 2]
    assert table.loc["ugs", "macs_saved"] == pytest.approx(0.36, abs=1e-6)
    assert table.loc["random", ["is_ticket", "round"]].tolist() == [False, 1]
    assert table.loc["random", "difference"] == pytest.approx(-0.02)


FLAT = [[0.8] * 18]


def test_points_are_matched_by_round(make_scored: Callable[..., Run]) -> None:
    table = paper_table(curve_table(rounds_table([make_scored("ugs", FLAT), make_scored("random", FLAT)])))
    ugs = table[table["method"] == "ugs"].set_index("round")
    assert ugs["paper"].to_dict() == {4: 0.808, 5: 0.803, 9: 0.793, 16: 0.753}
    assert ugs.loc[16, "gap"] == pytest.approx(0.8 - 0.753)
    assert ugs.loc[4, "paper_macs"] == 826_000_000
    assert set(table.loc[table["method"] == "random", "round"]) == {4, 9}


def test_other_pruning_rates_are_not_compared(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", FLAT)])
    rounds["graph_sparsity"] = 1 - 0.9 ** rounds["round"]
    assert paper_table(curve_table(rounds)).empty


POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


@given(POINTS)
def test_no_point_dominates_the_front(points: list[tuple[int, int]]) -> None:
    def is_beaten(mine: tuple[int, int]) -> bool:
        return any(
            cost <= mine[0] and score >= mine[1] and (cost < mine[0] or score > mine[1]) for cost, score in points
        )

    found = is_on_front([cost for cost, _ in points], [score for _, score in points])
    assert found.tolist() == [not is_beaten(point) for point in points]


def test_missing_numbers_are_on_no_front() -> None:
    assert is_on_front([1, np.nan, 0], [0.5, 0.9, np.nan]).tolist() == [True, False, False]


@pytest.mark.parametrize("x", ["graph", "weight", "edges", "macs"])
def test_the_most_pruned_and_the_best_round_are_on_the_front(make_scored, x: XAxis) -> None:  # noqa: ANN001
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.79, 0.81, 0.7]]), make_scored("random", [[0.8, 0.75, 0.72]])])
    table = with_front(curve_table(rounds, x=x), x)
    front = {(row.method, row.round) for row in table[table["on_front"]].itertuples()}
    assert front == {("ugs", 2), ("ugs", 3)}


def test_other_networks_do_not_compete(make_scored) -> None:  # noqa: ANN001
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.7]]), make_scored("ugs", [[0.6, 0.5]], model="gin")])
    table = with_front(curve_table(rounds), "graph")
    assert table.groupby("model")["on_front"].sum().to_dict() == {"gcn": 2, "gin": 2}


def test_the_figure_has_every_round_and_the_front_as_a_line(make_scored) -> None:  # noqa: ANN001
    three = [[0.8, 0.79, 0.81, 0.7], [0.8, 0.79, 0.811, 0.7], [0.8, 0.79, 0.809, 0.7]]
    rounds = rounds_table([make_scored("ugs", three), make_scored("random", [[0.8, 0.75, 0.72]])])
    table = with_front(curve_table(rounds, x="macs"), "macs")
    figure = screen.draw(pareto_front(table, rounds, x="macs"))
    # One seed has no interval.
    on_front, below = figure.data[:2]
    assert [len(each.x) for each in (on_front, below)] == [2, 2]
    assert list(on_front.y) == pytest.approx([81.0, 70.0])
    line, dense, ugs, stars, random_dense, random = figure.data[2:8]
    assert (line.name, line.mode, line.line.shape) == ("Pareto front", "lines", "hv")
    assert list(line.y) == pytest.approx([70.0, 81.0])
    assert list(line.x) == sorted(line.x)
    assert [len(each.x) for each in (dense, ugs, stars, random_dense, random)] == [1, 2, 1, 1, 2]
    assert [list(each.marker.opacity) for each in (dense, ugs, stars)] == [[0.35], [0.35, 1.0], [1.0]]
    assert [each.marker.symbol == palette.TICKET_SYMBOL for each in (dense, ugs, stars)] == [False, False, True]
    assert stars.customdata[0].tolist() == [table["run"].iloc[0], 2]
    assert "On the Pareto front" in stars.hovertext[0]


def test_long_labels_of_dense_lines_are_shortened(make_scored) -> None:  # noqa: ANN001
    settings = {"hidden": 8, "epochs": 8, "retrain_epochs": 8, "dropout": 0.9}
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.7]]), make_scored("ugs", [[0.6, 0.5]], **settings)])
    figure = screen.draw(pareto_front(with_front(curve_table(rounds), "graph"), rounds, x="graph"))
    printed = sorted(each.text for each in figure.layout.annotations)
    assert [words.endswith(ending) for words, ending in zip(printed, ("…) 80.0 %", "…) 60.0 %"), strict=True)] == [
        True
    ] * 2
    assert all(words.startswith("Dense (UGS (dropout = ") and len(words) < 40 for words in printed)
    alone = rounds[rounds["run"] == rounds["run"].iloc[0]]
    (dense,) = screen.draw(pareto_front(with_front(curve_table(alone), "graph"), alone, x="graph")).layout.annotations
    assert dense.text == "Dense 80.0 %"


def test_an_empty_table_has_no_front() -> None:
    assert is_on_front([], []).tolist() == []
    assert isinstance(with_front(curve_table(rounds_table([])), "graph"), pd.DataFrame)


def test_costs_displayed_equal_are_equal(make_scored) -> None:  # noqa: ANN001
    rounds = rounds_table([make_scored("ugs", [[0.8, 0.7]]), make_scored("admm", [[0.8, 0.75]])])
    rounds.loc[(rounds["method"] == "ugs") & (rounds["round"] == 1), "graph_sparsity"] += 0.0001
    rounds.loc[(rounds["method"] == "ugs") & (rounds["round"] == 1), "macs_dense_features"] -= 1000
    for x in ("graph", "macs"):
        table = with_front(curve_table(rounds, x=x), x)
        assert table[table["round"] == 1].set_index("method")["on_front"].to_dict() == {"ugs": False, "admm": True}


@pytest.fixture(scope="module")
def examples() -> dict[str, Run]:
    return {run.name: run for run in bundled_examples()}


def test_shares_are_means_over_seeds(examples: dict[str, Run]) -> None:
    runs = [examples["cora-node-gcn-ugs-df8e8f72"], examples["cora-node-gcn-random-113e68a9"]]
    found = diagnosis_table(runs)
    assert len(found) == 2 * 5 * 21
    curve = with_diagnoses(curve_table(rounds_table(runs)), found).set_index(["run", "round"])
    ugs, random = curve.loc[runs[0].reference], curve.loc[runs[1].reference]
    seeds = found[(found["run"] == runs[0].reference) & (found["round"] == 13)]
    assert seeds["cuts_without_gradient"].round(4).tolist() == [0.4, 0.3053, 0.5263, 0.0, 0.1298]
    assert ugs.loc[13, "cuts_without_gradient"] == pytest.approx(seeds["cuts_without_gradient"].mean())
    assert ugs.loc[13, ["seeds_at_chance", "search_at_chance"]].tolist() == [5, 171]
    assert ugs["cuts_without_gradient"].isna().tolist() == [True] + [False] * 20
    assert random["cuts_without_gradient"].isna().all()
    assert not curve["seeds_read_late"].any()
    assert late_words(curve.reset_index()) == []


def test_without_derivation_only_records_are_read(examples: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(self: SeedRun, round: int) -> None:
        raise AssertionError("a mask was read")

    monkeypatch.setattr(SeedRun, "edge_mask", unread)
    found = diagnosis_table([examples["cora-node-gcn-ugs-df8e8f72"]], derived=False)
    assert found["cuts_without_gradient"].isna().all()


def test_notes_reach_the_curve_its_hover_and_its_warning(store: Store) -> None:
    seed_run = store.create(RunConfig(rounds=1)).seed(0)
    masks = Masks(EdgeMask.full("directed", 5278), WeightMask.full(SHAPES))
    late = {"cuts_without_gradient": 0.25, "validation_chance": 0.35, "at_chance_from_search": 125, "masks_read": 199}
    seed_run.make()
    for number, notes in enumerate(({"validation_chance": 0.35}, {**late, "edge_masks_at_zero": 0.56})):
        noted = record(number, masks).model_copy(update={"notes": notes})
        seed_run.write_round(noted, masks, {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()})
    runs = store.runs()
    curve = with_diagnoses(curve_table(rounds_table(runs)), diagnosis_table(runs))
    assert curve["cuts_without_gradient"].tolist()[1] == 0.25
    assert curve["masks_at_zero"].tolist()[1] == 0.56
    dense, row = curve.to_dict("records")
    assert "gradient" not in round_text(dense)
    assert "Edge entries removed without a gradient: 25.0 %" in round_text(row)
    assert "Search at chance by epoch 126 (1 seed); masks read after that in 1" in round_text(row)
    (sentence,) = late_words(curve)
    assert sentence.startswith("UGS, round 1: masks were read while the search's validation score was at chance")
