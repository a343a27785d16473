"""Transfer of masks: whose masks a run retrains, the matrix of seeds, and what is compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.figures.base import FigureChoices
from analysis.figures.transfer import transfer, transfer_matrices
from analysis.latex import transfer_latex
from analysis.tables.rounds import rounds_table
from analysis.transfer import arm_of, control_of, transfer_summary, transfer_table
from glt.errors import StoreError
from glt.store import Run, Store
from tests.analysis.conftest import transfers

MakeScored = Callable[..., Run]
THREE = [[0.80, 0.7, 0.6], [0.81, 0.7, 0.6], [0.82, 0.7, 0.6]]


@pytest.fixture
def runs(store: Store) -> list[Run]:
    return transfers(store, rounds=2)


@pytest.fixture
def table(runs: list[Run]) -> pd.DataFrame:
    return transfer_table(runs, rounds_table(runs))


def test_cells_are_scores_minus_the_dense_score_of_the_seed_of_retraining(table: pd.DataFrame) -> None:
    cells = table[table["round"] == 2].pivot_table(index="source_seed", columns="seed", values="difference")
    expected = np.array([[-0.02 if i == j else -0.02 - 0.002 * (1 + j) for j in range(3)] for i in range(3)])
    assert cells.to_numpy() == pytest.approx(expected)
    # Random masks lose two points a round.
    above = table[table["round"] == 2].pivot_table(index="source_seed", columns="seed", values="above_control")
    assert above.to_numpy() == pytest.approx(expected + 0.04)
    assert set(table["control_label"]) == {"Random pruning"}
    assert set(table["source_label"]) == {"UGS"}


def test_random_masks_of_another_size_are_no_control(runs: list[Run]) -> None:
    rounds = rounds_table(runs)
    is_random = (rounds["method"] == "random") & (rounds["round"] > 0)
    rounds.loc[is_random, "graph_sparsity"] += 0.02
    table = transfer_table(runs, rounds)
    assert table["control"].isna().all()
    assert set(table["control_label"]) == {""}


def test_other_masks_count_once_a_seed_of_retraining(table: pd.DataFrame) -> None:
    summary = transfer_summary(table[table["round"] == 2]).set_index("comparison")
    assert list(summary.index) == ["own", "other", "other_own", "other_control"]
    lost = -0.002 * np.array([1, 2, 3])
    other = summary.loc["other_own"]
    assert (other["mean"], other["seeds"]) == pytest.approx((lost.mean(), 3))
    assert other["high"] == pytest.approx(lost.mean() + stats.t.ppf(0.975, 2) * stats.sem(lost))
    assert other["p_value"] == pytest.approx(stats.ttest_1samp(lost, 0).pvalue)
    # Equal losses of own masks have no spread: three tests are one family.
    assert (summary.loc["own", "verdict"], other["family"]) == ("no test", 3)


def test_rounds_are_those_of_the_source(make_scored: MakeScored) -> None:
    source = make_scored("ugs", [[0.8] * 10])
    options = {"edges_from": f"run:{source.name}", "weights_from": f"run:{source.name}", "at_rounds": "4,9"}
    taken = make_scored("combine", [[0.8, 0.7, 0.6]], options={**options, "source_seed": 0}, rounds=2)
    table = transfer_table([source, taken], rounds_table([source, taken]))
    assert sorted(set(table["round"])) == [4, 9]
    assert table.loc[table["run"] == taken.reference, "score"].tolist() == [0.7, 0.6]


def test_halves_are_separate_and_mixtures_are_left_out(make_scored: MakeScored) -> None:
    name = make_scored("ugs", THREE).name
    sources = {
        "both": {"edges_from": f"run:{name}", "weights_from": f"run:{name}"},
        "edges": {"edges_from": f"run:{name}", "weights_from": "all"},
        "weights": {"edges_from": "all", "weights_from": f"run:{name}"},
        "": {"edges_from": f"run:{name}", "weights_from": "magnitude"},
    }
    for halves, options in sources.items():
        arm = arm_of(make_scored("combine", [], options=options))
        assert (arm.halves if arm else "") == halves
    random = make_scored("combine", [], options={"edges_from": "random", "weights_from": "all", "counts_from": name})
    control = control_of(random)
    assert control is not None
    assert (control.source, control.halves) == (name, "edges")
    assert arm_of(random) is None
    assert control_of(make_scored("ugs", [], hidden=8)) is None


def test_edges_transfer_between_models_and_no_cell_is_their_own(make_scored: MakeScored) -> None:
    source = make_scored("ugs", THREE)
    options = {"edges_from": f"run:{source.name}", "weights_from": "all"}
    taken = make_scored("combine", THREE, options=options, model="gin")
    table = transfer_table([source, taken], rounds_table([source, taken]))
    assert set(table["model"]) == {"gin"}
    assert not table["is_own"].any()
    assert set(transfer_summary(table)["comparison"]) == {"other"}


def test_runs_without_transfers_or_sources_are_refused(runs: list[Run]) -> None:
    with pytest.raises(StoreError, match="No run among these retrains masks of another run"):
        transfer_table(runs[:2], rounds_table(runs[:2]))
    with pytest.raises(StoreError, match="choose that run too"):
        transfer_table(runs[2:], rounds_table(runs[2:]))
    with pytest.raises(StoreError, match="No run retrains masks of round 9: choose one of the rounds 1, 2"):
        transfer(runs, FigureChoices(round=9))


def test_the_figure_has_a_panel_a_reference(runs: list[Run], table: pd.DataFrame) -> None:
    described = transfer(runs, FigureChoices())
    assert [panel.title for panel in described.panels] == [
        "Minus dense",
        "Minus random masks",
    ]
    (field,) = described.panels[0].layers
    assert np.asarray(field.values)[1, 1] == pytest.approx(-2.0)  # type: ignore[attr-defined]
    assert "other masks minus own masks" in described.caption
    one = transfer_matrices(table, rounds_table(runs), 1, against="difference")
    assert [panel.title for panel in one.panels] == [""]
    assert r"$\mathbf{1.6} \pm 0.5$" in transfer_latex(table)


def test_an_example_of_the_source_is_not_counted_beside_it(runs: list[Run], table: pd.DataFrame) -> None:
    example = Run.open(runs[0].path)
    example.is_bundled = True
    both = transfer_table([*runs, example], rounds_table([*runs, example]))
    assert len(both) == len(table)
    assert set(both["source_label"]) == {"UGS"}
