"""Masks: exact counts, ties by index, nesting, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glt.masks import EdgeMask, Masks, WeightMask, as_binary, lowest, prune_count, remaining_after

# Rates as users write them: decimals between 0 and 1.
rates = st.integers(1, 9999).map(lambda ten_thousandths: ten_thousandths / 10_000)
# Few distinct values, so that ties are common.
tied_scores = arrays.arrays(np.float32, st.integers(1, 60), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0]))


@given(st.integers(1, 9999), st.integers(0, 10**12))
def test_prune_count_is_the_floor_of_the_decimal(ten_thousandths: int, remaining: int) -> None:
    assert prune_count(ten_thousandths / 10_000, remaining) == ten_thousandths * remaining // 10_000


def test_prune_count_is_not_fooled_by_binary_fractions() -> None:
    assert int(0.29 * 100) == 28
    assert prune_count(0.29, 100) == 29


def test_cora_after_four_rounds() -> None:
    left = remaining_after(0.05, 10_556, 4)
    assert round(1 - left / 10_556, 4) == 0.1853
    assert Fraction(left, 10_556) > Fraction(95, 100) ** 4


@given(tied_scores, st.data())
def test_lowest_is_a_stable_sort(scores: np.ndarray, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, scores.size))
    assert lowest(scores, count).tolist() == sorted(np.argsort(scores, kind="stable")[:count].tolist())


def test_lowest_refuses_nan() -> None:
    with pytest.raises(ValueError, match="NaN"):
        lowest(np.array([1.0, np.nan]), 1)


@given(tied_scores, rates)
def test_edge_mask_removes_exactly_its_share_and_nests(scores: np.ndarray, rate: float) -> None:
    full = EdgeMask.full("undirected", scores.size)
    once = full.prune(scores, rate)
    twice = once.prune(scores[once.keep], rate)
    assert once.kept == scores.size - prune_count(rate, scores.size)
    assert twice.kept == once.kept - prune_count(rate, once.kept)
    assert twice.within(once)
    assert once.within(full)
    if once.kept < full.kept:
        assert not full.within(once)
        assert scores[~once.keep].max() <= scores[once.keep].min()


def test_edge_mask_breaks_ties_by_index() -> None:
    assert EdgeMask.full("undirected", 4).prune(np.zeros(4), 0.5).keep.tolist() == [False, False, True, True]


def test_directed_mask_counts_both_ways_and_either_way() -> None:
    # Edges a, b, c: a survives both ways, b one way, c not at all.
    mask = EdgeMask("directed", np.array([1, 1, 0, 1, 0, 0]))
    assert mask.num_edges == 3
    assert mask.either_way().tolist() == [True, True, False]
    assert mask.both_ways().tolist() == [True, False, False]
    assert mask.sparsity == 0.5


def test_a_mask_over_no_edges_is_not_sparse() -> None:
    assert EdgeMask.full("directed", 0).sparsity == 0.0
    assert WeightMask.full({}).sparsity == 0.0


@pytest.mark.parametrize("values", [[0.5, 1.0], [2, 1], [np.nan, 1.0], [-1, 0]])
def test_only_zero_and_one_make_a_mask(values: list[float]) -> None:
    for make in (as_binary, lambda v: EdgeMask("undirected", v), lambda v: WeightMask({"w": v})):
        with pytest.raises(ValueError, match="only 0 and 1"):
            make(np.array(values))


def test_edge_mask_refuses_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="two values for every edge"):
        EdgeMask("directed", np.ones(3))
    with pytest.raises(ValueError, match="scores for 4 surviving"):
        EdgeMask.full("directed", 2).prune(np.ones(3), 0.5)


def test_a_mask_is_not_changed_from_outside() -> None:
    values = np.ones(4, dtype=bool)
    mask = EdgeMask("undirected", values)
    values[:] = False
    assert mask.kept == 4


@given(tied_scores, tied_scores, rates)
def test_weights_fall_under_one_threshold(first: np.ndarray, second: np.ndarray, rate: float) -> None:
    scores = {"a": first, "b": second}
    full = WeightMask.full({name: array.shape for name, array in scores.items()})
    pruned = full.prune(scores, rate)
    assert pruned.kept == full.total - prune_count(rate, full.total)
    assert pruned.within(full)
    together = EdgeMask.full("undirected", full.total).prune(np.concatenate([first, second]), rate)
    assert np.concatenate([pruned.keep["a"], pruned.keep["b"]]).tolist() == together.keep.tolist()


def test_weight_mask_keeps_shapes_and_prunes_only_survivors() -> None:
    scores = {"w": np.arange(6.0).reshape(2, 3), "v": np.array([9.0, -9.0])}
    pruned = WeightMask.full({"w": (2, 3), "v": (2,)}).prune_exactly(scores, 3)
    assert pruned.keep["w"].tolist() == [[False, False, True], [True, True, True]]
    assert pruned.keep["v"].tolist() == [True, False]
    again = pruned.prune_exactly(scores, 1)
    assert again.keep["w"].tolist() == [[False, False, False], [True, True, True]]
    assert again.sparsity == 0.5


def test_weight_masks_over_other_tensors_do_not_nest() -> None:
    assert not WeightMask.full({"a": (2,)}).within(WeightMask.full({"b": (2,)}))


def test_a_pair_nests_when_both_masks_do() -> None:
    edges, weights = EdgeMask.full("undirected", 4), WeightMask.full({"w": (4,)})
    fewer_edges = edges.prune(np.zeros(4), 0.5)
    fewer_weights = weights.prune({"w": np.zeros(4)}, 0.5)
    assert Masks(fewer_edges, fewer_weights).within(Masks(edges, fewer_weights))
    assert not Masks(fewer_edges, weights).within(Masks(edges, fewer_weights))


def test_a_course_of_many_rounds_goes_down_by_exact_counts() -> None:
    left = 100_000
    for number in range(200):
        assert remaining_after(0.05, 100_000, number) == left
        left -= prune_count(0.05, left)
