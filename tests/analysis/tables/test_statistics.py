from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.tables.statistics import half_width, p_value


@pytest.mark.parametrize("seed", range(5))
def test_interval_and_p_value_are_scipys(seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.01, 0.02, size=3 + seed)
    low, high = stats.t.interval(0.95, values.size - 1, loc=values.mean(), scale=stats.sem(values))
    half = half_width(values.std(ddof=1), values.size)
    assert values.mean() - half == pytest.approx(low)
    assert values.mean() + half == pytest.approx(high)
    expected = stats.ttest_rel(values, np.zeros_like(values)).pvalue
    assert p_value(values.mean(), values.std(ddof=1), values.size) == pytest.approx(expected)


def test_one_value_has_neither() -> None:
    assert np.isnan(half_width(np.nan, 1))
    assert np.isnan(p_value(0.1, np.nan, 1))


def test_equal_differences_are_certain_and_zero_ones_say_nothing() -> None:
    assert p_value(0.1, 0.0, 5) == 0
    assert np.isnan(p_value(0.0, 0.0, 5))
