from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import published
from analysis.measures import (
    At,
    MeasuredGraph,
    MeasuredRound,
    descriptions,
    measure,
    measure_mask,
    measure_round,
    measurement_table,
    random_survivors,
)
from analysis.measures.cache import MeasureCache
from glt import formats
from glt.datasets import load_graph
from glt.errors import ConfigError, DataError, StoreError
from glt.masks import EdgeMask
from glt.store import Run


def test_rows_are_the_original_and_then_each_run_with_mean_and_spread(make_run: Callable[..., Run]) -> None:
    ugs, random = make_run("ugs", seeds=(0, 1)), make_run("random", seeds=(3,))
    table = measurement_table([ugs, random], At(round=2))
    assert table["label"].tolist() == ["Original", "UGS", "Random pruning"]
    assert table["seeds"].tolist() == [1, 2, 1]
    assert table["rounds"].tolist() == [(), (2,), (2,)]
    values = [measure_round(ugs.seed(seed), 2).sparsified["average_clustering"] for seed in (0, 1)]
    assert table["average_clustering"][1] == pytest.approx(sum(values) / 2)
    assert table["average_clustering_spread"][1] == pytest.approx(abs(values[0] - values[1]) / math.sqrt(2))
    assert math.isnan(table["average_clustering_spread"][2])
    assert table["edges"][0] == 5278
    assert table["edges_kept_both_ways"][1] < table["edges_kept_either_way"][1] < 1


def test_the_papers_values_stand_beside_ours(make_run: Callable[..., Run]) -> None:
    # Three rounds of a fifth each leave 51.2 %, about what the paper's thirteen do.
    ats = [At(round=3), At(round=1)]
    table = measurement_table([make_run("ugs", rounds=3)], ats, published=published.measurements("cora"))
    assert table["average_clustering_published"].fillna(-1).tolist() == [0.24067, 0.15855, -1]
    assert table["average_clustering"][0] == pytest.approx(0.24067, abs=5e-6)
    assert "reach_published" not in table


def test_the_round_nearest_to_a_sparsity_is_taken(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run(rounds=3)], At(graph_sparsity=0.35))
    assert table["rounds"][1] == (2,)
    assert table["graph_sparsity"][1] == pytest.approx(0.36, abs=1e-3)


def test_null_row_has_as_many_edges_and_is_the_same_again(make_run: Callable[..., Run]) -> None:
    run = make_run(seeds=(0, 1))
    first = measurement_table([run], At(round=2), null=True)
    assert first["kind"].tolist() == ["original", "run", "null"]
    assert first["edges"][1] == first["edges"][2]
    assert first["triangles"][1] != first["triangles"][2]
    assert measurement_table([run], At(round=2), null=True).equals(first)


def test_null_is_drawn_several_times_whatever_the_number_of_seeds(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run(seeds=(0, 1))], At(round=2), null=True)
    assert table["seeds"].tolist() == [1, 2, 6]
    assert table["edges"][2] == pytest.approx(table["edges"][1])
    assert table["triangles_spread"][2] > 0


def test_several_rounds_stand_side_by_side(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run(rounds=3), make_run("random", rounds=3)], [At(round=1), At(round=3)])
    assert table["label"].tolist()[1:] == [
        "UGS, round 1",
        "UGS, round 3",
        "Random pruning, round 1",
        "Random pruning, round 3",
    ]
    near = measurement_table([make_run("admm", rounds=3)], [At(graph_sparsity=0.2), At(graph_sparsity=0.5)])
    assert near["label"].tolist()[1:] == ["ADMM, 20.0 % sparse", "ADMM, 50.0 % sparse"]
    assert near["rounds"].tolist()[1:] == [(1,), (3,)]
    assert table["entries_kept"].tolist()[1:3] == pytest.approx([0.8, 0.512], abs=1e-3)


def test_slow_measures_are_taken_only_when_asked_for(make_run: Callable[..., Run]) -> None:
    run = make_run()
    assert "mean_effective_resistance" not in measurement_table([run], At(round=1))
    asked = measurement_table([run], At(round=1), slow=True)
    assert asked["mean_effective_resistance"][0] == pytest.approx(1.606, abs=1e-3)


def test_orders_are_held_against_the_original(make_run: Callable[..., Run]) -> None:
    before, after = measure_round(make_run(rounds=3).seed(0), 3)
    assert before["pagerank_spearman"] == before["degree_spearman"] == 1
    assert 0.5 < after["pagerank_spearman"] < 0.95


def test_measures_of_one_family_are_taken_together(tmp_path: Path) -> None:
    graph, cache = MeasuredGraph.of(load_graph("cora")), MeasureCache(tmp_path)
    assert set(measure(graph, cache, names=["average_path_length"])) == {"average_path_length"}
    assert set(cache.get(graph.content_hash)) == {
        "average_path_length@1",
        "mean_node_betweenness@1",
        "mean_edge_betweenness@1",
    }
    with pytest.raises(ConfigError, match="reach"):
        measure(graph, cache, names=["reech"])


def test_unfinished_rounds_are_left_out(make_run: Callable[..., Run]) -> None:
    run = make_run(seeds=(0, 1, 2), rounds=2)
    unfinished = measurement_table([run], At(round=7))
    assert unfinished["seeds"].tolist() == [1, 0]
    assert math.isnan(unfinished["average_clustering"][1])


def test_progress_reaches_one_in_even_steps(make_run: Callable[..., Run]) -> None:
    seen: list[float] = []
    measurement_table([make_run(seeds=(0, 1, 2))], At(round=1), on_progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_round_zero_leaves_the_graph_as_it_is(make_run: Callable[..., Run]) -> None:
    before, after = measure_round(make_run().seed(0), 0)
    assert before == after
    assert before["edges_both_ways"] == before["edges"] == 5278


def test_bad_choices_are_one_sentence(make_run: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="either a round or a graph sparsity"):
        At()
    with pytest.raises(ConfigError, match="one graph, not on none"):
        measurement_table([], At(round=0))
    with pytest.raises(StoreError, match="no round 9"):
        measure_round(make_run().seed(0), 9)
    with pytest.raises(DataError, match="another version of the data"):
        measure_mask(load_graph("cora"), EdgeMask.full("directed", 7))
    with pytest.raises(ConfigError, match="cannot be kept"):
        random_survivors(3, 4, seed=0)


def test_every_value_has_words(make_run: Callable[..., Run]) -> None:
    measured: MeasuredRound = measure_round(make_run().seed(0), 1)
    for name, value in measured.sparsified.items():
        assert descriptions.label(name)
        assert descriptions.value(name, value) != formats.MISSING
