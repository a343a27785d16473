"""Does our mean agree with a printed number? What n seeds show, against a margin that is stated before looking.

The printed number is one run's and is taken as exact: its own spread over seeds is not known, so what is tested is
whether the mean of OUR protocol lies within the margin of it. With d the true mean minus the printed number:

- *agrees within margin*: |d| < margin is shown, by two one-sided t tests (Schuirmann 1987).
- *differs by more than margin*: |d| > margin is shown, by a t test on either side, its p-value doubled.
- *open*: neither is shown.

All numbers that are compared in one table are one family for each of the two words, with Holm's correction in each at
5 %. A margin is never finer than the printed digits: it is at least half a unit of the last one. Numbers without a
spread over seeds (counts of operations, measurements of a given graph) are compared as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glt import verdicts

Word = Literal["agrees", "differs", "open", "no verdict"]
WORDS: dict[Word, str] = {
    "agrees": "agrees within margin",
    "differs": "differs by more than margin",
    "open": "open",
    "no verdict": "no verdict",
}


@dataclass(frozen=True)
class Sample:
    """Ours minus the printed number: how many seeds, their mean and sample standard deviation, and the margin.

    `is_exact` marks a number that no seed changes, which is compared without a test.
    """

    seeds: int
    mean: float
    deviation: float
    margin: float
    is_exact: bool = False


@dataclass(frozen=True)
class Agreement:
    """The word for one printed number, Holm's adjusted p-values for both words, and how many were judged together.

    `needed`: about how many seeds would settle an open number if mean and spread stayed as they are; None where it is
    not open or more than `verdicts.MOST_SEEDS` are needed.
    """

    word: Word
    p_agrees: float = math.nan
    p_differs: float = math.nan
    family: int = 0
    needed: int | None = None

    @property
    def words(self) -> str:
        """The word in full."""
        return WORDS[self.word]


def agreements(samples: Sequence[Sample]) -> list[Agreement]:
    """Return the word for every sample, all of them judged together.

    >>> close, far, few = Sample(5, 0.001, 0.004, 0.015), Sample(5, 0.05, 0.004, 0.015), Sample(1, 0.0, math.nan, 0.015)
    >>> [each.word for each in agreements([close, far, few, Sample(1, 0.004, math.nan, 0.005, is_exact=True)])]
    ['agrees', 'differs', 'no verdict', 'agrees']
    """
    tested = np.asarray([_p_values(sample) for sample in samples], dtype=np.float64).reshape(-1, 2)
    adjusted = np.stack([verdicts.holm(column) for column in tested.T], axis=1)
    family = int((~np.isnan(tested[:, 0])).sum())
    rows = zip(samples, adjusted.tolist(), strict=True)
    return [_agreement(sample, agrees, differs, family) for sample, (agrees, differs) in rows]


def _agreement(sample: Sample, p_agrees: float, p_differs: float, family: int) -> Agreement:
    if sample.is_exact:
        # Differences of rounded numbers may leave the margin by their last bits.
        return Agreement("agrees" if abs(sample.mean) <= sample.margin * (1 + 1e-9) else "differs")
    if math.isnan(p_agrees):
        return Agreement("no verdict")
    word: Word = "agrees" if p_agrees <= verdicts.ALPHA else "differs" if p_differs <= verdicts.ALPHA else "open"
    room, level = sample.margin - abs(sample.mean), verdicts.ALPHA / family
    # Beyond the margin it is the difference that more seeds would show, on one of two sides.
    asked = (room, level) if room > 0 else (-room, level / 2)
    needed = verdicts.seeds_needed(asked[0], sample.deviation, asked[1]) if word == "open" else None
    return Agreement(word, p_agrees, p_differs, family, needed)


def _p_values(sample: Sample) -> tuple[float, float]:
    """Return the p-values of "not within the margin" and of "within the margin"; NaN where there is no spread."""

    def p(null: float, alternative: verdicts.Alternative) -> float:
        return verdicts.t_test_of(sample.mean, sample.deviation, sample.seeds, null, alternative)

    if sample.is_exact or math.isnan(p(0.0, "less")):
        return math.nan, math.nan
    low, high = -sample.margin, sample.margin
    return max(p(high, "less"), p(low, "greater")), min(1.0, 2 * min(p(high, "greater"), p(low, "less")))
