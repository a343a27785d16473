"""Intervals, paired tests and families of tests over seeds.

All tests are t tests of `glt.verdicts` with Holm's correction over one `Family`:

- `significances`: does a score differ from another one? Two-sided paired tests. "No significant difference" does not
  mean equal, so the smallest difference that the seeds detect with 80 % power is given too.
- `agreements`: does a mean agree with a printed number? Two one-sided tests against a margin.
- `glt.verdicts.judge`: is a round a ticket?

The family of a comparison of two methods is all pruned rounds that both have, wherever the comparison is shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from glt import formats, verdicts
from glt.verdicts import ALPHA, FEWEST, Family, half_width

Word = Literal["higher", "lower", "none", "no test"]
WORDS: dict[Word, str] = {
    "higher": "significantly higher",
    "lower": "significantly lower",
    "none": "no significant difference",
    "no test": "no test",
}
AgreementWord = Literal["agrees", "differs", "open", "no verdict"]


def deviation_of(values: ArrayLike) -> float:
    """Return the sample standard deviation, NaN below two values; exactly 0 for equal values.

    >>> deviation_of([0.1, 0.1, 0.1]), deviation_of([1.0, 3.0]).__round__(3)
    (0.0, 1.414)
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size < 2:
        return math.nan
    # The mean of equal values may differ from them in its last digit.
    return 0.0 if (numbers == numbers[0]).all() else float(numbers.std(ddof=1))


def seeds_words(seeds: int, noun: str = "seed") -> str:
    """Write the number of seeds behind a mean and its interval.

    >>> seeds_words(5), seeds_words(2), seeds_words(1)
    ('mean of 5 seeds, 95% interval', 'mean of 2 seeds, too few for an interval', '1 seed, no interval')
    """
    if seeds == 1:
        return f"1 {noun}, no interval"
    return f"mean of {seeds} {noun}s, {'95% interval' if seeds >= FEWEST else 'too few for an interval'}"


@dataclass(frozen=True)
class Significance:
    """The test of a mean difference (a fraction) over n seeds: two-sided p-value, and Holm's over the `family`.

    `half` is the half-width of the 95% t interval, uncorrected, NaN below three seeds. `detectable` is the smallest
    difference that the seeds show with 80 % power in this family. Without a spread (one seed, or equal differences)
    there is no test.
    """

    seeds: int
    mean: float
    deviation: float
    p: float
    p_adjusted: float = math.nan
    family: int = 0
    detectable: float = math.nan

    @property
    def word(self) -> Word:
        """The result in one word."""
        if math.isnan(self.p_adjusted):
            return "no test"
        if self.p_adjusted > ALPHA:
            return "none"
        return "higher" if self.mean > 0 else "lower"

    @property
    def half(self) -> float:
        """Half-width of the 95% t interval."""
        return float(half_width(self.deviation, self.seeds))


def significances(differences: Iterable[ArrayLike]) -> list[Significance]:
    """Test every sample of differences against 0, as one family; missing values (NaN) do not count.

    >>> [test.word for test in significances([[0.01, 0.012, 0.011], [-0.01, 0.02, 0.0], [0.1]])]
    ['higher', 'none', 'no test']
    """
    sizes, means, deviations = verdicts.samples(differences)
    p_values = verdicts.t_tests(sizes, means, deviations).tolist()
    rows = zip(sizes.astype(int).tolist(), means.tolist(), deviations.tolist(), p_values, strict=True)
    return significances_of([Significance(*row) for row in rows])


def significances_of(tested: Sequence[Significance]) -> list[Significance]:
    """Return separate tests as one family, with adjusted p-values and detectable differences."""
    family = Family([test.p for test in tested])
    deviations, seeds = [test.deviation for test in tested], [test.seeds for test in tested]
    # Each side of a two-sided test has half of the level.
    sizes = verdicts.detectable_difference(deviations, seeds, family.level / 2).tolist()
    return [
        replace(test, p_adjusted=p, family=family.size, detectable=size)
        for test, p, size in zip(tested, family.adjusted.tolist(), sizes, strict=True)
    ]


def mcnemar(losses: int, gains: int) -> float:
    """Return the two-sided p-value of McNemar's exact test that losses and gains are equally likely.

    Twice the probability, of a fair coin, of at most the smaller count, and at most 1 (McNemar 1947).

    >>> mcnemar(8, 2).__round__(4), mcnemar(0, 0)
    (0.1094, 1.0)
    """
    flips = losses + gains
    return min(1.0, 2 * float(bdtr(min(losses, gains), flips, 0.5))) if flips else 1.0


def family_words(family: int, seeds: Collection[int], noun: str = "round") -> str:
    """Write the test, its number of seeds and the size of its family.

    >>> family_words(2, [3, 3])
    'paired t tests of 3 seeds at 5 %, Holm over 2 rounds'
    """
    if not family:
        return "a test needs two shared seeds whose differences vary"
    low, high = min(seeds), max(seeds)
    over = formats.number_of(low, "seed") if low == high else f"{low} to {high} seeds"
    return f"paired t tests of {over} at {100 * ALPHA:g} %, Holm over {formats.number_of(family, noun)}"


def detectable_difference_words(sizes: Iterable[float]) -> str:
    """Write the detectable differences; "" where none is known. Scores are shares, so none exceeds 100 points.

    >>> detectable_difference_words([0.024, 0.071])
    'a difference of 2.4 to 7.1 points would have been shown with 80 % power'
    >>> detectable_difference_words([1.738, 4.21])
    'no difference below 100 points would have been shown with 80 % power'
    """
    found = sorted(size for size in sizes if not math.isnan(size))
    known = [formats.fixed(100 * size, 1) for size in found if size <= 1]
    if not found:
        return ""
    shown = f"would have been shown with {100 * verdicts.POWER:g} % power"
    if not known:
        return f"no difference below 100 points {shown}"
    span = known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"
    none = (
        ""
        if len(known) == len(found)
        else f" in {len(known)} of {len(found)} tests, in the others none below 100 points"
    )
    return f"a difference of {span} points {shown}{none}"


@dataclass(frozen=True)
class Gap:
    """Our mean minus a printed number, with number of seeds, standard deviation and margin.

    The printed number is one run's and is taken as exact, as its spread over seeds is unknown. `is_exact` marks a
    number that does not depend on the seed and is compared without a test.
    """

    seeds: int
    mean: float
    deviation: float
    margin: float
    is_exact: bool = False


@dataclass(frozen=True)
class Agreement:
    """The result for one printed number, with Holm's adjusted p-values over the `family` for both outcomes.

    *agrees*: |true gap| < margin is shown, by two one-sided t tests (Schuirmann 1987). *differs*: |true gap| > margin
    is shown, by a t test on either side, its p-value doubled. *open*: neither. `needed`: about how many seeds would
    settle an open number with the same mean and spread, at the level of Holm's next step; None where it is not open or
    more than `verdicts.MOST_SEEDS` are needed.
    """

    word: AgreementWord
    p_agrees: float = math.nan
    p_differs: float = math.nan
    family: int = 0
    needed: int | None = None


def agreements(gaps: Sequence[Gap]) -> list[Agreement]:
    """Return the agreement of every gap; each of the two outcomes has one family over all gaps.

    A margin should be no finer than half a unit of the last printed digit.

    >>> close, far, few = Gap(5, 0.001, 0.004, 0.015), Gap(5, 0.05, 0.004, 0.015), Gap(1, 0.0, math.nan, 0.015)
    >>> [agreement.word for agreement in agreements([close, far, few, Gap(1, 0.004, math.nan, 0.005, is_exact=True)])]
    ['agrees', 'differs', 'no verdict', 'agrees']
    """
    columns = np.array([(gap.seeds, gap.mean, gap.deviation, gap.margin) for gap in gaps], dtype=np.float64)
    seeds, means, deviations, margins = columns.reshape(-1, 4).T
    seeds = np.where([gap.is_exact for gap in gaps], 0, seeds)
    below = [verdicts.t_tests(seeds, means, deviations, side * margins, "less") for side in (1, -1)]
    above = [verdicts.t_tests(seeds, means, deviations, side * margins, "greater") for side in (1, -1)]
    agree = Family(np.maximum(below[0], above[1]))
    differ = Family(np.minimum(1.0, 2 * np.minimum(above[0], below[1])))
    room = margins - np.abs(means)
    # Beyond the margin more seeds would show a difference, on one of two sides.
    levels = np.where(room > 0, agree.level, differ.level / 2)
    needed = verdicts.seeds_needed(np.abs(room), deviations, levels).tolist()
    rows = zip(gaps, agree.adjusted.tolist(), differ.adjusted.tolist(), needed, strict=True)
    return [_agreement(gap, agrees, differs, agree.size, settled) for gap, agrees, differs, settled in rows]


def _agreement(gap: Gap, p_agrees: float, p_differs: float, family: int, needed: float) -> Agreement:
    if gap.is_exact:
        # Differences of rounded numbers may exceed the margin in their last bits.
        return Agreement("agrees" if abs(gap.mean) <= gap.margin * (1 + 1e-9) else "differs")
    if math.isnan(p_agrees):
        return Agreement("no verdict")
    word: AgreementWord = "agrees" if p_agrees <= ALPHA else "differs" if p_differs <= ALPHA else "open"
    known = word == "open" and not math.isnan(needed)
    return Agreement(word, p_agrees, p_differs, family, int(needed) if known else None)
