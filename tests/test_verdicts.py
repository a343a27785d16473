"""Verdicts against numbers worked out by hand, scipy, published sample sizes, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from glt import verdicts
from glt.errors import ConfigError
from glt.store import bundled_examples

# In points: mean 0, sum of squares 0.10, so the standard deviation is sqrt(0.025) and the standard error sqrt(0.005).
BY_HAND = [-0.002, 0.001, -0.001, 0.002, 0.0]
RNG_SEED = 20210718


def t4_upper(t: float) -> float:
    """The upper tail of t with 4 degrees of freedom in closed form (Johnson, Kotz and Balakrishnan, chapter 28)."""
    x = t / math.sqrt(1 + t * t / 4)
    return 0.5 - 3 / 8 * x * (1 - x * x / 12)


def test_both_one_sided_tests_by_hand() -> None:
    t = 0.5 / math.sqrt(0.005)
    (verdict,) = verdicts.judge([BY_HAND], 0.005)
    assert verdict.p_ticket == pytest.approx(t4_upper(t), rel=1e-9)
    assert verdict.p_no_ticket == pytest.approx(1 - t4_upper(t), rel=1e-9)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_t_test_equals_scipy(alternative: verdicts.Alternative) -> None:
    generator = np.random.default_rng(RNG_SEED)
    for size in (2, 3, 5, 30):
        values = generator.normal(-0.004, 0.01, size)
        expected = stats.ttest_1samp(values, -0.005, alternative=alternative).pvalue
        assert verdicts.t_test(values, -0.005, alternative) == pytest.approx(expected, rel=1e-9)
        assert verdicts.t_test([*values, math.nan], -0.005, alternative) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 10])
def test_interval_equals_scipy(size: int) -> None:
    values = np.random.default_rng(RNG_SEED).normal(0.01, 0.02, size)
    low, high = stats.t.interval(0.95, size - 1, loc=values.mean(), scale=stats.sem(values))
    (verdict,) = verdicts.judge([values])
    assert (verdict.low, verdict.high) == pytest.approx((low, high))
    half = verdicts.half_width(values.std(ddof=1), size)
    assert half == pytest.approx((high - low) / 2 if size > 2 else math.nan, nan_ok=True)


def test_a_family_counts_tests_and_gives_the_next_level() -> None:
    family = verdicts.Family([0.001, math.nan, 0.04, 0.2])
    assert (family.size, family.shown.tolist()) == (3, [True, False, False, False])
    assert family.level == pytest.approx(0.05 / 2)
    assert verdicts.family_size([[0.1, 0.2], [0.1], [0.1, 0.1], [math.nan, 0.1, 0.3]]) == 2


def test_holm_by_hand() -> None:
    # Sorted .005 .01 .03 .04 times 4, 3, 2, 1 is .02 .03 .06 .04, made non-decreasing.
    assert verdicts.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert verdicts.holm([0.6, math.nan, 0.5]) == pytest.approx([1, math.nan, 1], nan_ok=True)
    assert verdicts.holm([0.02]) == pytest.approx([0.02])
    assert verdicts.holm([]).shape == (0,)


@pytest.mark.parametrize(("effect", "seeds"), [(0.2, 156), (0.5, 27), (0.8, 12), (1.0, 8), (1e9, 2), (-1.0, math.nan)])
def test_published_sample_sizes_of_the_paired_t_test(effect: float, seeds: float) -> None:
    assert verdicts.seeds_needed(effect, 1.0) == pytest.approx(seeds, nan_ok=True)


@pytest.mark.parametrize(("seeds", "alpha"), [(2, 0.05), (3, 0.05), (5, 0.05), (5, 0.0025), (30, 0.01)])
def test_detectable_differences_have_80_percent_power(seeds: int, alpha: float) -> None:
    found = verdicts.detectable_difference(0.007, seeds, alpha)
    critical = stats.t.ppf(1 - alpha, seeds - 1)
    assert stats.nct.sf(critical, seeds - 1, found * math.sqrt(seeds) / 0.007) == pytest.approx(0.8, abs=1e-4)
    assert verdicts.power(found, 0.007, seeds, alpha) == pytest.approx(0.8, abs=1e-4)


def test_the_power_is_that_of_simulated_tests() -> None:
    effect, generator = verdicts.detectable_difference(1.0, 5), np.random.default_rng(RNG_SEED)
    drawn = generator.normal(effect, 1.0, (20_000, 5))
    shown = stats.ttest_1samp(drawn, 0, axis=1, alternative="greater").pvalue <= 0.05
    assert shown.mean() == pytest.approx(0.8, abs=0.012)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 20, 0.05 / 500])
def test_a_larger_effect_never_needs_more_seeds(alpha: float) -> None:
    """At 1,000 seeds scipy's noncentral t is NaN for some effects of 1.1 deviations and more."""
    effects = np.linspace(0.2, 4.0, 77)
    needed = verdicts.seeds_needed(effects, 1.0, alpha).tolist()
    assert needed == sorted(needed, reverse=True)
    assert max(needed) <= verdicts.MOST_SEEDS
    for effect, seeds in zip(effects, needed, strict=True):
        enough = [verdicts.power(effect, 1.0, number, alpha) for number in (seeds - 1, seeds) if number > 1]
        assert enough[-1] >= 0.8
        assert all(chance < 0.8 for chance in enough[:-1])


def test_verdicts_follow_from_the_tests_alone() -> None:
    ticket, none, unsure = verdicts.judge([BY_HAND, [d - 0.03 for d in BY_HAND], [d - 0.005 for d in BY_HAND]])
    assert (ticket.word, none.word, unsure.word) == ("ticket", "no ticket", "open")
    assert ticket.family == 3
    assert ticket.adjusted_ticket == pytest.approx(3 * ticket.p_ticket)
    assert ticket.sentence() == (
        "Ticket: shown to lose less than 0.5 points (n = 5 seeds, mean difference 0.00 points, "
        "Holm-adjusted p = 0.0032 among 3 rounds)."
    )
    assert none.sentence().startswith(
        "No ticket: shown to lose more than 0.5 points (n = 5 seeds, mean difference \N{MINUS SIGN}3.00"
    )
    # On the margin itself no number of seeds shows either.
    assert unsure.needed is None
    assert "Open with 5 seeds: needs more than 1,000 seeds" in unsure.sentence()
    assert (ticket.meets_paper_criterion, none.meets_paper_criterion) == (True, False)


def test_an_open_round_states_the_seeds_needed() -> None:
    # One round of mean -0.1 and deviation 0.7 points: 0.4 points off the margin, at 5 %.
    spread = np.asarray(BY_HAND) / math.sqrt(0.025) * 0.7
    (unsure,) = verdicts.judge([spread - 0.001])
    assert unsure.word == "open"
    critical = [stats.t.ppf(0.95, n - 1) for n in range(2, 40)]
    powers = [stats.nct.sf(c, n - 1, 0.4 / 0.7 * math.sqrt(n)) for n, c in zip(range(2, 40), critical, strict=True)]
    assert unsure.needed == 2 + next(place for place, value in enumerate(powers) if value >= 0.8)
    assert f"needs about {unsure.needed} seeds" in unsure.sentence()
    # Among more rounds it has to meet a lower level.
    among = verdicts.judge([spread - 0.001] * 8)
    assert among[0].needed is not None
    assert among[0].needed > unsure.needed
    assert among[0].detectable > among[0].detectable_alone == pytest.approx(unsure.detectable_alone)


def test_cases_without_a_verdict() -> None:
    one, same, none, two = verdicts.judge([[0.01], [0.0, 0.0, 0.0], [math.nan], [0.01, math.nan, 0.02]])
    assert [each.word for each in (one, same, none)] == ["no verdict"] * 3
    assert one.sentence() == "One seed: no verdict."
    assert none.sentence() == "No seed: no verdict."
    assert same.sentence() == "No verdict: all 3 seeds have the same difference, 0.00 points."
    # Two seeds are tested with their one degree of freedom, and are a family of their own here.
    assert (two.seeds, two.family) == (2, 1)
    assert two.p_ticket == pytest.approx(0.5 - math.atan(0.02 / 0.005) / math.pi)
    assert math.isnan(one.p_adjusted)
    assert one.as_json()["p_adjusted"] is None


def test_seeds_are_paired_and_those_without_a_partner_are_counted() -> None:
    paired = verdicts.paired_differences({0: 0.8, 1: 0.81, 2: 0.79, 3: math.nan}, {0: 0.8, 2: 0.8, 3: 0.7, 4: 0.8})
    assert paired.seeds == (0, 2)
    assert paired.differences == pytest.approx((0.0, -0.01))
    assert paired.left_out == (1, 3, 4)
    (verdict,) = verdicts.judge([paired.differences], left_out=[len(paired.left_out)])
    assert "3 unpaired seeds left out" in verdict.sentence()


def test_margin_settings() -> None:
    assert verdicts.judge([BY_HAND], delta=0.0)[0].word == "open"
    above = verdicts.judge([[d + 0.01 for d in BY_HAND]], delta=0.0)[0]
    assert above.sentence().startswith("Ticket: shown to be above the dense mean")
    for wrong in (-0.001, 1.0, math.nan, math.inf):
        with pytest.raises(ConfigError, match="margin"):
            verdicts.judge([BY_HAND], delta=wrong)


def test_the_sparsest_ticket_has_a_verdict() -> None:
    judged = verdicts.judge([BY_HAND, BY_HAND, [0.02], [d - 0.004 for d in BY_HAND]])
    sparsities = [(0.1, 0.2), (0.3, 0.4), (0.5, 0.6), (0.7, 0.8)]
    assert verdicts.sparsest_ticket(judged, sparsities) == 1
    assert verdicts.sparsest_ticket(judged, [(0.3, 0.5), *sparsities[1:]]) == 0
    assert verdicts.sparsest_ticket(judged[2:], sparsities[2:]) is None


@pytest.mark.parametrize("dependence", [0.0, 0.8])
def test_the_familywise_error_rate_is_5_percent(dependence: float) -> None:
    families, rounds, seeds = 2_000, 6, 5
    generator = np.random.default_rng(RNG_SEED)
    shared = generator.standard_normal((families, 1, seeds))
    own = generator.standard_normal((families, rounds, seeds))
    drawn = -0.005 + 0.007 * (math.sqrt(dependence) * shared + math.sqrt(1 - dependence) * own)
    wrong = np.asarray([[verdict.word for verdict in verdicts.judge(list(family))] for family in drawn])
    for word in ("ticket", "no ticket"):
        rate = (wrong == word).any(axis=1).mean()
        # Independent rounds: 1 - (1 - .05 / 6) ** 6 = .049; dependent ones less. Four standard errors are .019.
        assert rate <= 0.069
        if not dependence:
            assert rate == pytest.approx(0.049, abs=0.019)


def test_differences_equal_up_to_rounding_have_no_spread() -> None:
    (verdict,) = verdicts.judge([[0.813 - 0.812, 0.823 - 0.822, 0.801 - 0.800]])
    assert verdict.word == "no verdict"


def test_the_bundled_cora_rounds_1_to_4_are_open() -> None:
    (run,) = [run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-df8e8f72"]
    scores = {seed: {record.round: record.test for record in run.seed(seed).rounds()} for seed in run.seeds()}
    dense = {seed: rounds[0] for seed, rounds in scores.items()}
    paired = [
        verdicts.paired_differences({seed: rounds[k] for seed, rounds in scores.items()}, dense) for k in range(1, 5)
    ]
    judged = verdicts.judge([each.differences for each in paired])
    assert [verdict.word for verdict in judged] == ["open"] * 4
    assert [round(100 * verdict.mean, 2) for verdict in judged] == [-0.30, -0.32, -0.18, -0.72]
    assert [round(100 * (verdict.high - verdict.mean), 2) for verdict in judged] == [0.87, 0.75, 1.13, 1.19]
