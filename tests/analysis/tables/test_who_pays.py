"""Who pays for pruning: accuracies by group, gaps, nodes left without an edge, and flips, against counts by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_1samp

from analysis.cli.main import main
from analysis.figures.who_pays import accuracy_by_group
from analysis.statistics import mcnemar
from analysis.tables.who_pays import (
    Outcomes,
    degree_bins,
    flip_counts,
    flips_summary,
    flips_table,
    group_rows,
    groups_table,
    who_pays,
)
from glt.datasets import Graph, load_graph
from glt.datasets.graph import Split
from glt.errors import ConfigError, StoreError
from glt.store import Run, Store, bundled_examples
from glt.verdicts import holm
from tests.analysis.conftest import with_predictions

MakeRun = Callable[..., Run]


@pytest.mark.parametrize(("losses", "gains"), [(0, 0), (1, 0), (8, 2), (2, 8), (5, 5), (114, 52), (30, 31)])
def test_mcnemar_is_a_two_sided_binomial_test(losses: int, gains: int) -> None:
    wanted = binomtest(losses, losses + gains).pvalue if losses + gains else 1.0
    assert mcnemar(losses, gains) == pytest.approx(wanted, rel=1e-12)


def test_bins_hold_every_node_once_and_none_is_small() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        degree = np.floor(generator.pareto(1 + generator.random(), 400)).astype(int) + generator.integers(0, 2)
        bins = degree_bins(degree)
        assert bins.sizes.sum() == 400
        assert bins.sizes.min() >= 20
        assert (np.diff(bins.group[np.argsort(degree, kind="stable")]) >= 0).all()
        for group, name in enumerate(bins.names):
            members = degree[bins.group == group]
            low, _, high = name.replace(" or more", " to 10000000").partition(" to ")
            assert int(low) <= members.min() <= members.max() <= int(high or low)


def test_isolated_nodes_belong_to_the_lowest_bin() -> None:
    assert degree_bins(np.array([0, 1, 1, 9])).names == ("0", "1", "2 or more")
    assert degree_bins(np.repeat([0, 1, 9], [1, 99, 100])).names == ("0 to 1", "2 or more")
    assert degree_bins(np.array([7, 7])).names == ("any",)


@pytest.fixture
def found() -> Outcomes:
    """Two test nodes lose a prediction, one gains one; the last node has no edge left."""
    dense = np.array([True, True, True, False, False, True])
    pruned = np.array([True, False, False, True, False, True])
    return Outcomes(dense, pruned, np.array([1, 1, 2, 1, 1, 0]))


@pytest.fixture
def tested_graph(small_graph: Graph) -> Graph:
    """The small graph with all six nodes as test nodes: degrees 2, 2, 3, 1, 1, 1; classes 0, 1, 0, 1, 2, 2."""
    nodes = np.arange(6)
    return replace(small_graph, split=Split(nodes[:0], nodes[:0], nodes))


def test_groups_are_counted(tested_graph: Graph, found: Outcomes) -> None:
    rows = {(row["grouping"], row["name"]): row for row in group_rows(tested_graph, found)}
    shares = {key: (row["size"], row["dense"], row["accuracy"]) for key, row in rows.items()}
    assert shares["all", "All test nodes"] == (6, 4 / 6, 3 / 6)
    assert shares["degree", "1"] == (3, 1 / 3, 2 / 3)
    assert shares["degree", "2"] == (2, 1.0, 0.5)
    assert shares["degree", "3 or more"] == (1, 1.0, 0.0)
    assert shares["gap", "Highest minus lowest degrees"] == pytest.approx((4, 2 / 3, -2 / 3))
    assert [size for (kind, _), (size, *_) in shares.items() if kind == "class"] == [2, 2, 2]
    assert shares["left", "No edge left"] == (1, 1.0, 1.0)
    assert shares["left", "Some edge left"] == (5, 3 / 5, 2 / 5)


def test_flips_are_counted(found: Outcomes) -> None:
    assert flip_counts(found) == {"nodes": 6, "right_in_both": 2, "right_to_wrong": 2, "wrong_to_right": 1}


ABOUT = {"run": "a", "label": "A", "method": "ugs", "color": "", "round": 3}


def test_differences_are_paired_by_seed_and_corrected_together() -> None:
    accuracies = {"1": [0.5, 0.52, 0.49], "2": [0.8, 0.7, 0.9]}
    rows = [
        {
            **ABOUT,
            "seed": seed,
            "grouping": "degree",
            "group": group,
            "name": name,
            "size": 10,
            "dense": 0.75 + seed / 50,
        }
        | {"accuracy": accuracy}
        for group, (name, of_seeds) in enumerate(accuracies.items())
        for seed, accuracy in enumerate(of_seeds)
    ]
    table = groups_table(pd.DataFrame(rows)).set_index("name")
    differences = {name: [a - 0.75 - seed / 50 for seed, a in enumerate(of)] for name, of in accuracies.items()}
    p = [ttest_1samp(values, 0).pvalue for values in differences.values()]
    assert table["difference"].to_numpy() == pytest.approx([np.mean(values) for values in differences.values()])
    assert table["p"].to_numpy() == pytest.approx(p)
    assert table["p_adjusted"].to_numpy() == pytest.approx(holm(p))
    assert table["family"].tolist() == [2, 2]
    assert table["verdict"].tolist() == ["lower", "none"]
    low, high = table.loc["1", ["low", "high"]]
    assert low < table.loc["1", "difference"] < high


def test_flips_of_seeds_are_one_family() -> None:
    counts = [(60, 20), (10, 9), (30, 70), (4, 0)]
    rows = [
        {**ABOUT, "seed": seed, "nodes": 500, "right_in_both": 300, "right_to_wrong": lost, "wrong_to_right": gained}
        for seed, (lost, gained) in enumerate(counts)
    ]
    table = flips_table(pd.DataFrame(rows))
    assert table["p_adjusted"].to_numpy() == pytest.approx(holm([mcnemar(*each) for each in counts]))
    assert table["verdict"].tolist() == ["lower", "none", "higher", "none"]
    [summary] = flips_summary(table).to_dict("records")
    assert [summary[name] for name in ("seeds", "lower", "higher")] == [4, 1, 1]
    assert [summary[name] for name in ("right_to_wrong", "wrong_to_right", "net")] == [26, 24.75, -1.25]
    assert summary["net_low"] < -1.25 < summary["net_high"]


def test_rounds_of_runs_are_compared_with_their_dense_networks(make_run: MakeRun) -> None:
    run = with_predictions(make_run(seeds=(0, 1, 2), rounds=2), 3)
    found = who_pays([run], [1, 2])
    assert found.flips["round"].tolist() == [1, 1, 1, 2, 2, 2]
    graph = load_graph("cora")
    labels = graph.labels[graph.split.test]
    for row in found.flips.to_dict("records"):
        dense, pruned = (run.seed(row["seed"]).predictions(k).test.argmax(axis=1) == labels for k in (0, row["round"]))
        assert row["right_to_wrong"] == (dense & ~pruned).sum()
        assert row["wrong_to_right"] == (~dense & pruned).sum()
    everything = found.groups[found.groups["grouping"] == "all"]
    assert everything["difference"].to_numpy() == pytest.approx(
        [-(of["right_to_wrong"] - of["wrong_to_right"]).mean() / 1000 for _, of in found.flips.groupby("round")]
    )
    degrees = found.groups[(found.groups["grouping"] == "degree") & (found.groups["round"] == 1)]
    assert degrees["size"].sum() == 1000


def test_only_the_dense_network_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(StoreError, match="Round 0 is the dense network"):
        who_pays([with_predictions(make_run(), 1)], [0])


def test_a_missing_round_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(StoreError, match="There is no round 7"):
        who_pays([with_predictions(make_run(), 3)], [7])


def test_links_are_refused() -> None:
    link = next(run for run in bundled_examples() if run.config.task == "link")
    with pytest.raises(ConfigError, match="node classification only"):
        who_pays([link])


def test_an_example_without_predictions_says_what_to_do() -> None:
    gat = next(run for run in bundled_examples() if run.config.model == "gat")
    with pytest.raises(StoreError, match="an example without weights: compute the run"):
        who_pays([gat], [1])


def test_runs_without_predictions_are_left_out(make_run: MakeRun) -> None:
    gat = next(run for run in bundled_examples() if run.config.model == "gat")
    own = with_predictions(make_run(), 3)
    assert set(who_pays([gat, own], [1]).groups["run"]) == {own.reference}


def test_a_figure_fills_significant_marks_only(make_run: MakeRun) -> None:
    table = who_pays([with_predictions(make_run(seeds=(0, 1, 2, 3, 4)), 2)], [1]).groups
    assert set(table["verdict"]) >= {"lower", "none"}
    described = accuracy_by_group(table)
    for panel in described.panels:
        _, _, marks = panel.layers
        rows = table[table["name"].isin(panel.y.categories) & (table["grouping"] != "all")]
        assert marks.filled.tolist() == (rows["verdict"] == "lower").tolist()


@pytest.mark.parametrize("name", ["who_pays", "flips", "calibration"])
def test_tables_by_command(
    make_run: MakeRun, store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    run = with_predictions(make_run(seeds=(0, 1, 2)), 3)
    command = ["table", name, run.name, "--store", str(store.root)]
    assert main([*command, "--round", "1", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["run"] for row in rows} == {run.name}
    assert main(command) == 2
    assert "is not written as LaTeX" in capsys.readouterr().err
