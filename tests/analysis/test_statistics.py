"""Tests of differences and agreement, with their Holm families, against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.statistics import Gap, agreements, detectable_difference_words, significances
from glt import verdicts


@pytest.mark.parametrize("seed", range(5))
def test_interval_and_p_value_equal_scipy(seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.01, 0.02, size=3 + seed)
    _, high = stats.t.interval(0.95, values.size - 1, loc=values.mean(), scale=stats.sem(values))
    (tested,) = significances([values])
    assert tested.p == pytest.approx(stats.ttest_rel(values, np.zeros_like(values)).pvalue)
    assert tested.half == pytest.approx(high - values.mean())


def test_one_value_and_equal_differences_have_no_test() -> None:
    assert np.isnan(significances([[0.1]])[0].p)
    assert [each.word for each in significances([[0.1, 0.1, 0.1], [0.0, 0.0]])] == ["no test", "no test"]
    assert significances([]) == []
    assert agreements([]) == []


def test_detectable_difference_uses_the_next_holm_level() -> None:
    shown, first, second = significances([[0.05, 0.051, 0.049, 0.05], [0.0, 0.01, -0.005, 0.002], [0.1, -0.1, 0.05]])
    assert (shown.word, first.word, second.word) == ("higher", "none", "none")
    expected = verdicts.detectable_difference(first.deviation, 4, 0.05 / 2 / 2)
    assert first.detectable == pytest.approx(float(expected))


def test_seeds_needed_use_the_next_holm_level() -> None:
    """Nine of ten numbers agree: the open one is tested at 5 %, not at a tenth of it."""
    found = agreements([Gap(5, 0.0, 0.001, 0.015)] * 9 + [Gap(5, 0.010, 0.006, 0.015)])
    assert [each.word for each in found] == ["agrees"] * 9 + ["open"]
    assert found[-1].needed == int(verdicts.seeds_needed(0.005, 0.006, 0.05))
    assert found[-1].needed < int(verdicts.seeds_needed(0.005, 0.006, 0.05 / 10))


@pytest.mark.parametrize("shift", [0.0, 0.013, 0.016, -0.03])
def test_agreement_equals_two_one_sided_tests_of_scipy(shift: float) -> None:
    values = np.random.default_rng(1).normal(shift, 0.004, 6)
    (found,) = agreements([Gap(6, float(values.mean()), float(values.std(ddof=1)), 0.015)])
    below, above = (stats.ttest_1samp(values, side, alternative="less").pvalue for side in (0.015, -0.015))
    assert found.p_agrees == pytest.approx(max(below, 1 - above))
    assert found.p_differs == pytest.approx(min(1.0, 2 * min(1 - below, above)))


def test_a_detectable_difference_beyond_100_points_is_not_shown() -> None:
    power = "would have been shown with 80 % power"
    assert detectable_difference_words([math.nan]) == ""
    assert detectable_difference_words([1.738, 4.21]) == f"no difference below 100 points {power}"
    words = f"a difference of 17.3 points {power} in 1 of 2 tests, in the others none below 100 points"
    assert detectable_difference_words([1.738, 0.173]) == words
