"""The attribution: which runs form one, contrasts against hand-computed cells, shares of variance and of MACs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.attribution import (
    DENSE,
    UGS,
    Attribution,
    attributions,
    cells_table,
    chosen_attribution,
    contrasts,
    effects_table,
    finding,
    macs_table,
    variance_shares,
)
from glt.errors import StoreError
from glt.presets import resolve
from glt.reproduction import Setting
from glt.reproduction.attribution import Cell, attribution, cells
from glt.reproduction.plan import arm_config
from glt.store import Run, Store

CORA = Setting("cora", "gcn")
SEEDS = (0, 1, 2)


def scores(value: Callable[[Cell, int], float], rounds: tuple[int, ...] = (9,)) -> pd.DataFrame:
    """Return a `cells_table` with a score for each cell and seed, and dense rows of score 0.8."""
    rows = [
        (*cell, number, seed, value(cell, seed), 0.4, 0.9, 100.0)
        for number in rounds
        for cell in cells()
        for seed in SEEDS
    ]
    rows += [(*DENSE, 0, seed, 0.8, 0.0, 0.0, 400.0) for seed in SEEDS]
    names = ["edges", "weights", "start", "round", "seed", "score", "graph_sparsity", "weight_sparsity"]
    return pd.DataFrame(rows, columns=[*names, "macs_dense_features"])


def test_contrasts_compare_cells_and_add_up_to_zero() -> None:
    found = contrasts()
    assert len({(each.kind, each.words) for each in found}) == len(found)
    assert all(abs(sum(each.weights.values())) < 1e-12 for each in found)
    assert {
        kind: sum(each.kind == kind for each in found) for kind in ("loss", "paired", "main effect", "interaction")
    } == {
        "loss": 4,
        "paired": 3 + 3 + 1,
        "main effect": 3 + 3 + 1,
        "interaction": 3 * 3 + 3 + 3,
    }


def test_an_additive_table_has_main_effects_and_no_interaction() -> None:
    edges = {"ugs": 0.0, "random": -0.02, "degree": 0.01, "all": 0.03}
    weights = {"ugs": 0.0, "random": -0.1, "random_layers": -0.04, "all": 0.02}
    table = scores(
        lambda cell, seed: 0.7 + edges[cell.edges] + weights[cell.weights] - 0.05 * (cell.start == "fresh") + seed / 100
    )
    effects = effects_table(table).set_index("effect")
    assert effects.loc["random edges minus UGS edges", "mean"] == pytest.approx(-0.02)
    assert effects.loc["random weights per layer minus UGS weights", "mean"] == pytest.approx(-0.04)
    assert effects.loc["fresh weights minus theta_0", "mean"] == pytest.approx(-0.05)
    assert effects.loc["UGS edges, all weights", "mean"] == pytest.approx(-0.03)
    assert effects.loc["all edges, UGS weights", "mean"] == pytest.approx(-0.02)
    assert effects.loc["both minus the sum of each", "mean"] == pytest.approx(0)
    assert np.allclose(effects[effects["kind"] == "interaction"]["mean"], 0)
    shares = variance_shares(table).set_index("factor")["share"]
    assert (
        shares[["edges x weights", "edges x start", "weights x start", "edges x weights x start"]].abs().max() < 1e-12
    )
    by_hand = {
        "edges": 4 * 2 * np.var(list(edges.values())) * 4,
        "weights": 4 * 2 * np.var(list(weights.values())) * 4,
        "start": 32 * 0.025**2,
    }
    total = sum(by_hand.values())
    assert {name: shares[name] for name in by_hand} == pytest.approx({n: v / total for n, v in by_hand.items()})


def test_an_interaction_is_what_one_pair_adds() -> None:
    table = scores(lambda cell, seed: 0.7 - 0.2 * (cell.edges == "random" and cell.weights == "random"))
    effects = effects_table(table)
    found = effects[effects["kind"] == "interaction"].set_index("effect")["mean"]
    assert found["random edges x random weights"] == pytest.approx(-0.2)
    assert found["random edges x all weights"] == pytest.approx(0)


def test_tests_are_paired_by_seed_and_corrected_over_their_kind() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, (32, 3))
    place = {cell: number for number, cell in enumerate(cells())}
    table = scores(lambda cell, seed: 0.7 + seed / 10 + noise[place[cell], seed], rounds=(4, 9))
    effects = effects_table(table)
    row = effects[
        (effects["effect"] == "random edges minus UGS edges, with UGS weights") & (effects["round"] == 9)
    ].iloc[0]
    random, ugs = noise[place[UGS._replace(edges="random")]], noise[place[UGS]]
    expected = stats.ttest_rel(random, ugs)
    assert row["p"] == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval()
    assert (row["low"], row["high"], row["seeds"]) == pytest.approx((low, high, 3))
    assert set(effects[effects["kind"] == "paired"]["family"]) == {7 * 2}


def test_seeds_that_lack_a_cell_are_left_out() -> None:
    table = scores(lambda cell, seed: 0.7 + seed / 100)
    lacking = ~((table["edges"] == "random") & (table["weights"] == "ugs") & (table["seed"] == 1))
    effects = effects_table(table[lacking]).set_index("effect")
    assert effects.loc["random edges minus UGS edges, with UGS weights", "seeds"] == 2
    assert effects.loc["edges by degree product minus UGS edges, with UGS weights", "seeds"] == 3
    assert variance_shares(table[lacking])["seeds"].unique().tolist() == [2]
    no_ugs = table[table["weights"] != "ugs"]
    assert "UGS edges, UGS weights" not in set(effects_table(no_ugs)["effect"])
    assert finding(effects_table(no_ugs)) == ""


def test_the_finding_names_both_halves_with_their_tests() -> None:
    table = scores(lambda cell, seed: 0.7 + seed / 100 * (cell == DENSE), rounds=(4, 13))
    loss = "\N{MINUS SIGN}1.0 ± 2.5 points (not significant)"
    assert finding(effects_table(table)) == (
        f"Round 13, 3 seeds, against dense: UGS's edges alone {loss}; its weights alone {loss}; both together {loss}."
    )


def test_the_finding_counts_the_seeds_of_its_tests() -> None:
    table = scores(lambda cell, seed: 0.7)
    assert finding(effects_table(table[table["seed"] == 0])).startswith("Round 9, 1 seed, against dense")
    lacking = (table["seed"] == 2) & (table["edges"] == "ugs") & (table["weights"] == "ugs")
    assert finding(effects_table(table[~lacking])).startswith("Round 9, 2 to 3 seeds, against dense")


def test_saved_macs_of_each_half() -> None:
    table = scores(lambda cell, seed: 0.7)
    macs = {("ugs", "all"): 300, ("all", "ugs"): 200, ("ugs", "ugs"): 100}
    for (edges, weights), value in macs.items():
        rows = (table["edges"] == edges) & (table["weights"] == weights) & (table["round"] > 0)
        table.loc[rows, "macs_dense_features"] = value
    row = macs_table(table, "dense_features").iloc[0]
    assert (row["edges"], row["weights"], row["both"], row["seeds"]) == (0.25, 0.5, 0.75, 3)


Draw = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def drawn(store: Store, draw_seed: Callable[..., None], only: list[Cell], rounds: list[int]) -> None:
    experiment = attribution(rounds)
    _, *arms = experiment.arms(CORA)
    for cell, arm in zip(cells(), arms, strict=True):
        if cell in only:
            run = store.create(arm_config(experiment, CORA, arm))
            for seed in (0, 1):
                draw_seed(run.seed(seed), len(rounds))


def test_runs_of_one_source_and_the_same_rounds_form_an_attribution(
    store: Store, draw_seed: Callable[..., None]
) -> None:
    halves = [UGS, DENSE, Cell("ugs", "all", "theta_0"), Cell("random", "ugs", "fresh")]
    drawn(store, draw_seed, halves, [4, 9])
    drawn(store, draw_seed, [UGS], [13])
    store.create(resolve({"method": "ugs"}, "official"))
    found = sorted(attributions(store.runs()), key=lambda each: each.rounds)
    assert [(each.rounds, set(each.runs)) for each in found] == [((4, 9), set(halves)), ((13,), {UGS})]
    assert len(found[0].missing) == 32 - 4
    table = cells_table(found[0])
    assert sorted(table["round"].unique()) == [0, 4, 9]
    # The dense round counts once a seed, whatever the number of cells.
    assert table[table["round"] == 0]["seed"].tolist() == [0, 1]
    assert len(table) == 2 + 2 * 2 * len(halves)


def test_runs_of_other_settings_are_another_attribution(store: Store, draw_seed: Callable[..., None]) -> None:
    drawn(store, draw_seed, [UGS, DENSE], [4, 9])
    _, arm, *_ = attribution([4, 9]).arms(CORA)
    other = store.create(resolve({**CORA._asdict(), "rounds": 2, "learning_rate": 0.5, **arm.settings}, "official"))
    draw_seed(other.seed(0), 2)
    found = attributions(store.runs())
    assert sorted(len(each.runs) for each in found) == [1, 2]
    assert len({each.name for each in found}) == 2
    assert {each.config.learning_rate for each in found} == {0.5, 8e-3}


def test_one_attribution_is_chosen_by_names_and_rounds() -> None:
    config = resolve({"method": "combine"})
    known = [Attribution(str(rounds), "one", config, rounds, {}) for rounds in ((4, 9), (13,))]
    assert chosen_attribution(known, "cora", None, [13]).rounds == (13,)
    with pytest.raises(StoreError, match=r"There are 2 attributions .*rounds 4, 9; cora gcn, rounds 13"):
        chosen_attribution(known, None, None, None)
    with pytest.raises(
        StoreError, match=r"No attribution has --dataset citeseer: there is cora gcn, rounds 4, 9; .*13\."
    ):
        chosen_attribution(known, "citeseer", None, None)
    with pytest.raises(StoreError, match="no attribution here: name a run of its method combine"):
        chosen_attribution([], None, None, None)
