"""Verdicts on rounds: ticket, no ticket or open, against a margin chosen beforehand.

A round is compared with the dense model of the same seed, by paired differences (ticket minus dense, fractions). With d
the true mean difference and delta the margin (0.5 points by default):

- *ticket*: shown to lose less than delta. One-sided t test of H0: d <= -delta (non-inferiority).
- *no ticket*: shown to lose more than delta. One-sided t test of H0: d >= -delta.
- *open*: neither is significant.

All rounds judged together form one `Family` per direction, corrected by Holm's method at 5 %: on Curves, Tickets and in
tables all pruned rounds of all runs shown, in `glt show` those of one run. So the probability that any round is wrongly
called a ticket is at most 5 %, and the same holds for no ticket, whatever the dependence between rounds. For any true
mean at most one of the two claims is false. Rounds without a test (one seed, no spread) have *no verdict* and do not
count. The paper's criterion, "mean at least the dense mean", is not a test; it is reported under that name.

Sources: Schuirmann 1987 (two one-sided tests); Holm 1979; Julious 2010, Sample Sizes for Clinical Trials (power of a
non-inferiority test from the noncentral t).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import nctdtr, nctdtrinc, stdtr, stdtrit

from glt import formats
from glt.errors import ConfigError

Alternative = Literal["greater", "less", "two-sided"]
Word = Literal["ticket", "no ticket", "open", "no verdict"]
FloatArray = NDArray[np.float64]

DELTA = 0.005
ALPHA = 0.05
POWER = 0.8
LEVEL = 0.95
# With two values the half-width of a t interval is nine standard deviations.
FEWEST = 3
# Larger numbers of seeds are given as "more than": the estimate is not precise.
MOST_SEEDS = 1000
# Means of equal scores may differ in the last bit; different scores on fewer than 10^8 nodes differ by more.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Paired:
    """Differences of two scores by seed, and the unpaired seeds."""

    seeds: tuple[int, ...]
    differences: tuple[float, ...]
    left_out: tuple[int, ...]


def paired_differences(ones: Mapping[int, float], others: Mapping[int, float]) -> Paired:
    """Return one - other for the common seeds, in ascending order; NaN counts as missing.

    >>> paired_differences({0: 0.75, 1: 0.5, 2: 0.5}, {1: 0.25, 0: 0.5, 3: 0.5})
    Paired(seeds=(0, 1), differences=(0.25, 0.25), left_out=(2, 3))
    """
    one, other = ({seed for seed, score in side.items() if math.isfinite(score)} for side in (ones, others))
    shared = sorted(one & other)
    left_out = sorted({*ones, *others} - {*shared})
    return Paired(tuple(shared), tuple(ones[seed] - others[seed] for seed in shared), tuple(left_out))


class Sample(NamedTuple):
    """Size, mean and sample standard deviation (NaN for fewer than two values)."""

    size: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, differences: ArrayLike) -> Sample:
        """Summarise differences of scores; NaN does not count, and rounding errors have spread 0."""
        # Samples are small and many: plain sums are ten times as fast as NumPy.
        known = [value for value in np.asarray(differences, dtype=np.float64).ravel().tolist() if math.isfinite(value)]
        if not known:
            return cls(0, math.nan, math.nan)
        mean = math.fsum(known) / len(known)
        if len(known) == 1:
            return cls(1, mean, math.nan)
        if max(known) - min(known) < ROUNDING:
            return cls(len(known), mean, 0.0)
        return cls(len(known), mean, math.sqrt(math.fsum((v - mean) ** 2 for v in known) / (len(known) - 1)))


def samples(differences: Iterable[ArrayLike]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sizes, means and standard deviations of many samples; see `Sample.of`."""
    found = np.array([Sample.of(each) for each in differences], dtype=np.float64).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2]


def family_size(differences: Iterable[ArrayLike]) -> int:
    """Return the number of samples that can be tested: two or more different values."""
    sizes, _, spreads = samples(differences)
    return int(((sizes > 1) & (spreads > 0)).sum())


def t_test(differences: ArrayLike, null: float = 0.0, alternative: Alternative = "two-sided") -> float:
    """Return the p-value of a one-sample t test, as scipy's ttest_1samp.

    NaN below two values or without a spread. Missing values (NaN) do not count.

    >>> round(t_test([0.01, 0.0, 0.02], null=-0.005, alternative="greater"), 4)
    0.0608
    """
    return float(t_tests(*Sample.of(differences), null, alternative))


def t_tests(
    sizes: ArrayLike,
    means: ArrayLike,
    deviations: ArrayLike,
    null: float | FloatArray = 0.0,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Return the p-values of `t_test` for many samples."""
    sizes, means, deviations = (np.asarray(each, dtype=np.float64) for each in (sizes, means, deviations))
    known = (sizes > 1) & (deviations > 0)
    freedom = np.where(known, sizes - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(known, (means - null) / (deviations / np.sqrt(sizes)), np.nan)
    if alternative == "two-sided":
        return np.asarray(2 * stdtr(freedom, -np.abs(t)))
    return np.asarray(stdtr(freedom, t if alternative == "less" else -t))


def half_width(deviation: ArrayLike, size: ArrayLike, fewest: int = FEWEST, level: float = LEVEL) -> FloatArray:
    """Return the half-width of the t interval of a mean; NaN below `fewest` values.

    `deviation` is the sample standard deviation (n - 1 in the denominator) of `size` values.

    >>> half_width([0.01, 0.01, 0.0], [5, 2, 1]).round(5).tolist()
    [0.01242, nan, nan]
    """
    sizes = np.asarray(size, dtype=np.float64)
    sizes = np.where(sizes >= fewest, sizes, np.nan)
    return np.asarray(stdtrit(sizes - 1, (1 + level) / 2) * np.asarray(deviation) / np.sqrt(sizes))


def holm(p_values: ArrayLike) -> FloatArray:
    """Return Holm-adjusted p-values in the given order; NaN does not count.

    The i-th smallest of m is multiplied by m - i + 1, is no smaller than the one before it, and at most 1 (Holm 1979).

    >>> holm([0.01, 0.04, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * given[order]), 1.0)
    return adjusted


class Family:
    """Tests that are corrected together by Holm's method.

    `p` [m] are raw p-values, NaN where there is no test, `adjusted` [m] Holm's. `size` counts the tests, `shown` [m]
    marks those significant at `alpha`. `level` is the level of Holm's next step, which the next test to become
    significant must meet.
    """

    def __init__(self, p_values: ArrayLike, alpha: float = ALPHA) -> None:
        self.p = np.asarray(p_values, dtype=np.float64)
        self.adjusted = holm(self.p)
        self.size = int((~np.isnan(self.p)).sum())
        self.shown = self.adjusted <= alpha
        self.level = alpha / max(1, self.size - int(self.shown.sum()))


def power(effect: ArrayLike, deviation: ArrayLike, seeds: ArrayLike, alpha: ArrayLike = ALPHA) -> FloatArray:
    """Return the power of a one-sided t test of `seeds` differences for a mean `effect`.

    `deviation` is the standard deviation of the paired differences, in the unit of `effect`; NaN below two seeds.

    >>> power(0.005, 0.005, 8).round(2).item()
    0.82
    """
    effects, deviations, sizes, alphas = _broadcast(effect, deviation, seeds, alpha)
    known = (sizes > 1) & (deviations > 0)
    freedom = np.where(known, sizes - 1, np.nan)
    critical = stdtrit(freedom, 1 - alphas)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(known, effects * np.sqrt(sizes) / deviations, np.nan)
    # There the power is 1 to ten digits, and SciPy's noncentral t may underflow to NaN.
    far = shift > np.maximum(35, 7.5 * critical)
    return np.asarray(np.where(far, 1.0, 1 - nctdtr(freedom, np.where(far, 0.0, shift), critical)))


def detectable_difference(
    deviation: ArrayLike, seeds: ArrayLike, alpha: ArrayLike = ALPHA, chance: float = POWER
) -> FloatArray:
    """Return the distance of the true mean from the margin that `seeds` detect with power `chance`.

    NaN below two seeds. `deviation` is the standard deviation of the paired differences; the test is one-sided at
    `alpha`. With a standard deviation of 0.7 points five seeds detect 0.95 points:

    >>> detectable_difference(0.007, 5).round(4).item()
    0.0095
    """
    deviations, sizes, alphas = _broadcast(deviation, seeds, alpha)
    freedom = np.where((sizes > 1) & (deviations > 0), sizes - 1, np.nan)
    # Many rounds share few combinations, and the inverse of the noncentral t is slow.
    cases, case = np.unique(np.stack([freedom.ravel(), alphas.ravel()]), axis=1, return_inverse=True)
    shift = nctdtrinc(cases[0], 1 - chance, stdtrit(cases[0], 1 - cases[1]))[case.ravel()].reshape(freedom.shape)
    with np.errstate(invalid="ignore"):
        return np.asarray(shift * deviations / np.sqrt(sizes))


def seeds_needed(
    effect: ArrayLike, deviation: ArrayLike, alpha: ArrayLike = ALPHA, chance: float = POWER
) -> FloatArray:
    """Return the fewest seeds that detect a mean `effect` with power `chance`.

    The test is one-sided at `alpha`. NaN if the effect is not positive, or more than MOST_SEEDS are needed.

    >>> seeds_needed([0.005, 0.0001], 0.005).tolist()
    [8.0, nan]
    """
    effects, deviations, alphas = _broadcast(effect, deviation, alpha)
    found = np.full(effects.shape, np.nan)
    possible = np.asarray((effects > 0) & (deviations > 0))
    possible[possible] = power(effects[possible], deviations[possible], MOST_SEEDS, alphas[possible]) >= chance
    effects, deviations, alphas = effects[possible], deviations[possible], alphas[possible]
    low, most = np.ones(effects.shape), np.full(effects.shape, float(MOST_SEEDS))
    # Bisection: power grows with the number of seeds.
    while (most - low > 1).any():
        middle = (low + most) // 2
        enough = power(effects, deviations, middle, alphas) >= chance
        # With one step left, the middle is the lower end, which is not enough.
        low, most = np.where(enough, low, middle), np.where(enough, middle, most)
    found[possible] = most
    return found


def _broadcast(*values: ArrayLike) -> tuple[FloatArray, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in values)))


@dataclass(frozen=True)
class Verdict:
    """The verdict on a round; differences are fractions, ticket minus dense.

    `low` and `high` bound the 95% t interval of the mean. `p_ticket` and `p_no_ticket` are the one-sided p-values,
    `adjusted_...` are Holm-adjusted over the `family` rounds judged together. `detectable` is the smallest distance
    from the margin that these seeds detect with 80 % power in this family (at 5 % divided by the rounds not significant
    yet), `detectable_alone` that of a single test at 5 %. `needed` estimates the seeds that decide an open round at the
    present mean and spread; None if it is not open or needs more than MOST_SEEDS. `meets_paper_criterion`: the mean is
    at least the dense mean. `left_out`: unpaired seeds.
    """

    word: Word
    seeds: int
    mean: float
    deviation: float
    low: float
    high: float
    delta: float
    p_ticket: float
    p_no_ticket: float
    adjusted_ticket: float
    adjusted_no_ticket: float
    family: int
    detectable: float
    detectable_alone: float
    needed: int | None
    meets_paper_criterion: bool
    left_out: int = 0

    @property
    def is_ticket(self) -> bool:
        """Whether the round is shown to be a ticket."""
        return self.word == "ticket"

    @property
    def p(self) -> float:
        """Return the one-sided p-value in the direction of the mean."""
        return self.p_ticket if self.mean >= -self.delta else self.p_no_ticket

    @property
    def p_adjusted(self) -> float:
        """Return the Holm-adjusted p-value in the direction of the mean."""
        return self.adjusted_ticket if self.mean >= -self.delta else self.adjusted_no_ticket

    def headline(self) -> str:
        """Return the verdict in a few words."""
        if self.word == "open":
            needed = f"more than {MOST_SEEDS:,}" if self.needed is None else f"about {self.needed}"
            return f"Open with {self.seeds} seeds: needs {needed} seeds"
        if self.word != "no verdict":
            return f"{self.word.capitalize()}: shown to {shown_words(self.word, self.delta)}"
        if self.seeds < 2:
            return f"{'One' if self.seeds else 'No'} seed: no verdict"
        return f"No verdict: all {self.seeds} seeds have the same difference, {formats.points(self.mean, 2)}"

    def sentence(self) -> str:
        """Return the verdict as a sentence with its numbers."""
        left_out = f", {formats.number_of(self.left_out, 'unpaired seed')} left out" if self.left_out else ""
        if self.word == "no verdict":
            return f"{self.headline()}{left_out}."
        statistics = f"mean difference {formats.points(self.mean, 2)}, Holm-adjusted {formats.p_value(self.p_adjusted)}"
        family = f" among {self.family} rounds" if self.family > 1 else ""
        return f"{self.headline()} (n = {self.seeds} seeds, {statistics}{family}{left_out})."

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as a JSON object; unknown values are null."""
        numbers = {
            "mean_difference": self.mean,
            "sd": self.deviation,
            "low": self.low,
            "high": self.high,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "p_ticket": self.p_ticket,
            "p_ticket_adjusted": self.adjusted_ticket,
            "p_no_ticket": self.p_no_ticket,
            "p_no_ticket_adjusted": self.adjusted_no_ticket,
            "detectable_difference": self.detectable,
            "detectable_difference_alone": self.detectable_alone,
        }
        return {
            "verdict": self.word,
            "sentence": self.sentence(),
            "n": self.seeds,
            "delta": self.delta,
            "family": self.family,
            **{name: None if math.isnan(number) else number for name, number in numbers.items()},
            "seeds_needed": self.needed,
            "seeds_left_out": self.left_out,
            "paper_criterion": self.meets_paper_criterion,
        }


def judge(
    rounds: Sequence[ArrayLike],
    delta: float = DELTA,
    alpha: float = ALPHA,
    left_out: Sequence[int] | None = None,
) -> list[Verdict]:
    """Return the verdict of every round from its paired differences, as one family.

    `left_out` counts the unpaired seeds of each round. Raises ConfigError for an invalid margin.

    >>> [v.word for v in judge([[0.001, 0.0, 0.002, 0.001], [-0.05, -0.06, -0.05, -0.07], [-0.01, 0.0, 0.0], [0.1]])]
    ['ticket', 'no ticket', 'open', 'no verdict']
    """
    checked_margin(delta)
    sizes, means, spreads = samples(rounds)
    ticket = Family(t_tests(sizes, means, spreads, -delta, "greater"), alpha)
    no_ticket = Family(t_tests(sizes, means, spreads, -delta, "less"), alpha)
    levels = np.where(means >= -delta, ticket.level, no_ticket.level)
    is_open = ~np.isnan(ticket.p) & ~ticket.shown & ~no_ticket.shown
    half = half_width(np.where(spreads > 0, spreads, np.nan), sizes, fewest=2)
    needed = np.where(is_open, seeds_needed(np.abs(means + delta), spreads, levels), np.nan)
    columns: dict[str, ArrayLike] = {
        "word": np.select(
            [np.isnan(ticket.p), ticket.shown, no_ticket.shown], ["no verdict", "ticket", "no ticket"], "open"
        ),
        "seeds": sizes.astype(int),
        "mean": means,
        "deviation": spreads,
        "low": means - half,
        "high": means + half,
        "p_ticket": ticket.p,
        "p_no_ticket": no_ticket.p,
        "adjusted_ticket": ticket.adjusted,
        "adjusted_no_ticket": no_ticket.adjusted,
        "detectable": detectable_difference(spreads, sizes, levels),
        "detectable_alone": detectable_difference(spreads, sizes, alpha),
        "meets_paper_criterion": means >= -ROUNDING,
    }
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    missing = left_out or [0] * len(rounds)
    return [
        Verdict(
            **dict(zip(columns, row, strict=True)),
            delta=delta,
            family=ticket.size,
            needed=None if math.isnan(seeds) else int(seeds),
            left_out=dropped,
        )
        for row, seeds, dropped in zip(rows, needed.tolist(), missing, strict=True)
    ]


def sparsest_ticket(verdicts: Sequence[Verdict], sparsities: Sequence[tuple[float, ...]]) -> int | None:
    """Return the index of the sparsest ticket, None if there is none.

    `sparsities` orders the rounds: graph sparsity first, then weight sparsity.
    """
    shown = [place for place, verdict in enumerate(verdicts) if verdict.is_ticket]
    return max(shown, key=lambda place: sparsities[place], default=None)


def checked_margin(delta: float) -> float:
    """Return the margin, a fraction; raise ConfigError if it is invalid."""
    if not 0 <= delta < 1:
        raise ConfigError(f"A margin of {100 * delta:g} points is not possible: choose one from 0 to below 100 points.")
    return delta


def margin_words(delta: float) -> str:
    """Return a margin in points as text.

    >>> margin_words(0.005), margin_words(0.01)
    ('0.5 points', '1 point')
    """
    number = f"{100 * delta:g}"
    return f"{number} point{'' if number == '1' else 's'}"


def shown_words(word: Word, delta: float) -> str:
    """Return the text after "shown to" for a ticket or no ticket.

    >>> shown_words("ticket", 0.005), shown_words("no ticket", 0)
    ('lose less than 0.5 points', 'be below the dense mean')
    """
    if delta == 0:
        return "be above the dense mean" if word == "ticket" else "be below the dense mean"
    return f"lose {'less' if word == 'ticket' else 'more'} than {margin_words(delta)}"


def rule_words(delta: float, family: int) -> str:
    """Return the rule for a ticket as text: the test and the size of the family.

    >>> rule_words(0.005, 60)
    'shown to lose less than 0.5 points against dense (one-sided paired t test at 5 %, Holm over 60 rounds)'
    """
    claim = shown_words("ticket", delta) + ("" if delta == 0 else " against dense")
    over = formats.number_of(family, "round")
    return f"shown to {claim} (one-sided paired t test at {100 * ALPHA:g} %, Holm over {over})"


def below_whole(distance: ArrayLike) -> FloatArray:
    """Return detectable distances, NaN where one exceeds 100 points: scores are shares.

    >>> below_whole([0.0222, 1.738]).tolist()
    [0.0222, nan]
    """
    distances = np.asarray(distance, dtype=np.float64)
    return np.where(distances > 1, np.nan, distances)


def detects_words(distance: float) -> str:
    """Return a detectable distance as text.

    >>> detects_words(0.0222), detects_words(1.738)
    ('2.2 points', 'none below 100 points')
    """
    return formats.points(distance).lstrip("+") if distance <= 1 else "none below 100 points"


def detectable_distance_words(seeds: int, distance: float) -> str:
    """Return the detectable distance from the margin as text; "" if unknown.

    >>> detectable_distance_words(5, 0.0222)
    '5 seeds detect a distance of 2.2 points from the margin (80 % power)'
    >>> detectable_distance_words(2, 1.738)
    '2 seeds detect no distance below 100 points from the margin (80 % power)'
    """
    if math.isnan(distance):
        return ""
    what = f"a distance of {detects_words(distance)}" if distance <= 1 else "no distance below 100 points"
    return f"{seeds} seeds detect {what} from the margin ({100 * POWER:g} % power)"


def key_words(delta: float) -> str:
    """Return the legend text of a star.

    >>> key_words(0.005), key_words(0.0)
    ('ticket (shown to lose < 0.5 points)', 'ticket (shown above dense)')
    """
    return f"ticket (shown to lose < {margin_words(delta)})" if delta else "ticket (shown above dense)"
