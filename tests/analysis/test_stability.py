"""Overlap of masks against hand computation and scipy's hypergeometric law, tables of pairs, and consensus."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from analysis.figures.base import FigureChoices
from analysis.figures.stability import overlap_matrices, stability
from analysis.latex import stability_latex
from analysis.stability import (
    EDGES,
    ENTRIES,
    WEIGHTS,
    Overlap,
    consensus_counts,
    consensus_table,
    overlaps,
    stability_summary,
    stability_table,
    stratified,
)
from glt.errors import ConfigError, StoreError
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask
from glt.store import Run

MakeRun = Callable[..., Run]


def mask_of(size: int, *kept: int) -> BoolArray:
    keep = np.zeros(size, dtype=np.bool_)
    keep[list(kept)] = True
    return keep


def test_overlap_by_hand() -> None:
    found = Overlap.of(mask_of(10, 0, 1, 2, 3), mask_of(10, 2, 3, 4, 5))
    # K^2 / E = 1.6; (2 - 1.6) / (4 - 1.6); 2 of 6 in either.
    assert (found.shared, found.expected, found.most) == (2, pytest.approx(1.6), 4)
    assert found.corrected == pytest.approx(0.4 / 2.4)
    assert (found.jaccard, found.chance_jaccard) == pytest.approx((2 / 6, 4 / 16))


def test_masks_of_different_sizes_are_compared_with_the_smaller_one() -> None:
    held = Overlap.of(mask_of(10, 0, 1), mask_of(10, *range(5)))
    apart = Overlap.of(mask_of(10, 8, 9), mask_of(10, *range(5)))
    assert (held.corrected, apart.corrected) == pytest.approx((1.0, -1.0))


@pytest.mark.parametrize(("size", "first", "second"), [(50, 20, 20), (50, 10, 31), (7, 1, 6)])
def test_mean_variance_and_z_are_the_hypergeometric_laws(size: int, first: int, second: int) -> None:
    generator = np.random.default_rng(0)
    one, other = (mask_of(size, *generator.permutation(size)[:count].tolist()) for count in (first, second))
    found = Overlap.of(one, other)
    law = hypergeom(size, first, second)
    assert (found.expected, found.variance) == pytest.approx((law.mean(), law.var()))
    assert found.z == pytest.approx((found.shared - law.mean()) / law.std())


@pytest.mark.parametrize("kept", [(), range(4)])
def test_masks_that_keep_all_or_nothing_say_nothing(kept: range) -> None:
    found = Overlap.of(mask_of(4, *kept), mask_of(4, *kept))
    assert math.isnan(found.corrected)
    assert math.isnan(found.z)


def test_equal_counts_give_cohens_kappa() -> None:
    generator = np.random.default_rng(1)
    one, other = (mask_of(40, *generator.permutation(40)[:15].tolist()) for _ in range(2))
    agreed = float((one == other).mean())
    by_chance = (15 / 40) ** 2 + (25 / 40) ** 2
    assert Overlap.of(one, other).corrected == pytest.approx((agreed - by_chance) / (1 - by_chance))


def test_all_weights_are_judged_given_the_counts_of_each_layer() -> None:
    """Two masks that only agree on which layer they empty share nothing beyond chance."""
    full, empty = np.ones((4, 2), dtype=np.bool_), np.zeros(6, dtype=np.bool_)
    half, other_half = mask_of(8, 0, 1, 2, 3), mask_of(8, 0, 1, 4, 5)
    one, other = (
        WeightMask({"layers.0.weight": full, "layers.1.weight": empty, "layers.2.weight": part})
        for part in (half, other_half)
    )
    edges = EdgeMask.full("directed", 2)
    found = dict(overlaps(Masks(edges, one), Masks(edges, other)))
    assert list(found) == [ENTRIES, EDGES, "Layer 1", "Layer 2", "Layer 3", WEIGHTS]
    assert found[WEIGHTS].corrected == pytest.approx(0.0)
    assert found[WEIGHTS].variance == pytest.approx(hypergeom(8, 4, 4).var())
    assert stratified([found["Layer 1"], found["Layer 3"]]).shared == 8 + 2


def test_weights_of_other_shapes_are_left_out() -> None:
    edges = EdgeMask.full("directed", 2)
    narrow, wide = (Masks(edges, WeightMask.full({"layers.0.weight": (2, width)})) for width in (2, 3))
    assert [part for part, _ in overlaps(narrow, wide)] == [ENTRIES, EDGES]


def test_an_undirected_mask_is_compared_with_a_directed_one_on_both_entries() -> None:
    weights = WeightMask.full({})
    undirected = Masks(EdgeMask("undirected", np.array([True, False])), weights)
    directed = Masks(EdgeMask("directed", np.array([True, True, False, False])), weights)
    found = dict(overlaps(undirected, directed))
    assert (found[ENTRIES].one, found[ENTRIES].other, found[ENTRIES].shared) == (2, 2, 1)
    assert (found[EDGES].one, found[EDGES].other, found[EDGES].shared) == (1, 2, 1)


def test_the_table_has_every_pair_of_seeds_of_all_runs(make_run: MakeRun) -> None:
    runs = [make_run("ugs", seeds=(0, 1, 2)), make_run("random", seeds=(0, 1))]
    table = stability_table(runs, [1, 2])
    entries = table[(table["part"] == ENTRIES) & (table["round"] == 2)]
    assert len(entries) == 10
    items = [(run, seed) for run in runs for seed in run.seeds()]
    for (first, second), row in zip(combinations(items, 2), entries.to_dict("records"), strict=True):
        one, other = (run.seed(seed).edge_mask(2) for run, seed in (first, second))
        shared = int((one.keep & other.keep).sum())
        assert (row["seed"], row["other_seed"], row["shared"]) == (first[1], second[1], shared)
        expected = one.kept * other.kept / one.keep.size
        assert row["corrected"] == pytest.approx((shared - expected) / (min(one.kept, other.kept) - expected))
    # Independent draws stay within the law.
    assert entries["z"].abs().max() < 6


def test_the_summary_separates_equal_and_different_seeds(make_run: MakeRun) -> None:
    runs = [make_run("ugs", seeds=(0, 1, 2)), make_run("random", seeds=(0, 1))]
    table = stability_table(runs, [2])
    summary = stability_summary(table)
    edges = summary[summary["part"] == EDGES]
    counts = {(row["label"], row["other_label"], row["same_seed"]): row["pairs"] for row in edges.to_dict("records")}
    assert counts == {
        ("UGS", "UGS", False): 3,
        ("UGS", "Random pruning", True): 2,
        ("UGS", "Random pruning", False): 4,
        ("Random pruning", "Random pruning", False): 1,
    }
    own = table[(table["part"] == EDGES) & (table["run"] == table["other_run"]) & (table["label"] == "UGS")]
    first = edges.iloc[0]
    assert (first["corrected"], first["lowest"]) == pytest.approx((own["corrected"].mean(), own["corrected"].min()))
    latex = stability_latex(table)
    assert "mean over 1 to 4 pairs of seeds" in latex
    # The drawn weights are whole: no overlap of them can exceed chance.
    assert "-- & -- \\\\" in latex


def test_rounds_that_no_two_masks_have_are_refused(make_run: MakeRun) -> None:
    with pytest.raises(StoreError, match="No two masks of these runs have finished round 9"):
        stability_table([make_run("ugs", seeds=(0, 1))], [9])


def test_runs_on_different_graphs_are_refused(runs_for: Callable[[str], list[Run]], make_run: MakeRun) -> None:
    from glt.store import bundled_examples

    citeseer = next(run for run in bundled_examples() if run.config.dataset == "citeseer")
    with pytest.raises(ConfigError, match="needs runs on one graph"):
        stability_table([make_run("ugs"), citeseer], [1])


def fields(described: object) -> Iterator[np.ndarray]:
    for panel in described.panels:  # type: ignore[attr-defined]
        for layer in panel.layers:
            yield np.asarray(layer.values)


def test_the_matrix_of_one_run_has_its_seeds_and_no_diagonal(make_run: MakeRun) -> None:
    run = make_run("ugs", seeds=(0, 1, 2))
    described = stability([run], FigureChoices())
    values = next(fields(described))
    assert np.isnan(np.diag(values)).all()
    assert values == pytest.approx(values.T, nan_ok=True)
    table = stability_table([run], [2])
    entries = table[table["part"] == ENTRIES].set_index(["seed", "other_seed"])["corrected"]
    assert values[0, 2] == pytest.approx(entries[0, 2])
    assert described.panels[0].x.categories == ["Seed 0", "Seed 1", "Seed 2"]
    assert json.loads(described.points.to_json(orient="records"))[0]["part"] == ENTRIES


def test_the_matrix_of_several_runs_has_means_over_different_seeds(make_run: MakeRun) -> None:
    runs = [make_run("ugs", seeds=(0, 1, 2)), make_run("random", seeds=(0, 1))]
    table = stability_table(runs, [2])
    described = overlap_matrices(table, "Cora")
    values = next(fields(described))
    entries = table[(table["part"] == ENTRIES) & (table["seed"] != table["other_seed"])]
    across = entries[entries["run"] != entries["other_run"]]["corrected"].mean()
    assert values[0, 1] == pytest.approx(across)
    assert values[1, 0] == pytest.approx(across)
    assert "mean over pairs of different seeds" in described.caption


def test_consensus_counts_edges_beside_the_binomial() -> None:
    masks = [EdgeMask("undirected", np.array(keep, dtype=np.bool_)) for keep in ([1, 1, 0, 0], [1, 0, 1, 0])]
    assert consensus_counts(masks).tolist() == [2, 1, 1, 0]
    table = consensus_table(masks)
    assert table["edges"].tolist() == [1, 2, 1]
    assert table["expected"].tolist() == pytest.approx((4 * binom(2, 0.5).pmf([0, 1, 2])).tolist())


def test_consensus_of_masks_with_other_shares_expects_their_product() -> None:
    masks = [EdgeMask("undirected", mask_of(8, *range(count))) for count in (8, 4, 2)]
    table = consensus_table(masks)
    assert table["expected"].tolist() == pytest.approx([0.0, 8 * 0.5 * 0.75, 8 * (0.5 * 0.75 + 0.5 * 0.25), 1.0])
    directed = EdgeMask("directed", np.array([True, False, False, False, True, False]))
    assert consensus_counts([directed]).tolist() == [1, 1, 0]


def test_a_panel_of_consensus_counts_the_seeds_of_every_edge_shown() -> None:
    from analysis.subgraphs.html import network_data
    from analysis.subgraphs.panel import REMOVED, consensus_panel, take
    from glt.datasets import load_graph

    graph = load_graph("cora")
    part = take(graph, np.arange(400))
    generator = np.random.default_rng(3)
    masks = [EdgeMask("undirected", generator.random(graph.num_edges) < 0.5) for _ in range(3)]
    panel = consensus_panel(graph, part, masks, "Three seeds")
    counts = consensus_counts(masks)[part.edge_ids]
    assert panel.consensus is not None
    assert panel.consensus.tolist() == counts.tolist()
    assert ((panel.states == REMOVED) == (counts == 0)).all()
    edges = {edge["id"]: edge for edge in network_data(panel, dark=False)["edges"]}
    told = [edges[place]["agreed"] for place in range(counts.size)]
    assert told == [f"kept with {count or 'none'} of 3 seeds" for count in counts.tolist()]
    colors = {(count, edges[place]["color"]["color"]) for place, count in enumerate(counts.tolist()) if count}
    assert len(colors) == 3
