"""Is a difference of two scores significant? Paired t tests against 0, Holm's correction over what is judged together.

"No significant difference" never says that two scores are equal: beside it stands the smallest difference that so many
seeds would have shown with 80 % power. The tests themselves are those of `glt.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from analysis.tables.statistics import deviation_of, half_width
from glt import formats, verdicts

Word = Literal["higher", "lower", "none", "no test"]
WORDS: dict[Word, str] = {
    "higher": "significantly higher",
    "lower": "significantly lower",
    "none": "no significant difference",
    "no test": "no test",
}


@dataclass(frozen=True)
class Significance:
    """What n seeds show about a mean difference (a fraction): its two-sided p-value, and Holm's over the `family`.

    `half` is the half-width of the 95% t interval, uncorrected, NaN below three seeds. `detectable` is the smallest
    difference that so many seeds show with 80 % power in this family. Without a spread (one seed, or equal
    differences) there is no test.
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
        """The word for it."""
        if math.isnan(self.p_adjusted):
            return "no test"
        if self.p_adjusted > verdicts.ALPHA:
            return "none"
        return "higher" if self.mean > 0 else "lower"

    @property
    def half(self) -> float:
        """Half-width of the 95% t interval."""
        return float(half_width(self.deviation, self.seeds))


def significances(differences: Sequence[ArrayLike]) -> list[Significance]:
    """Test every sample of differences, all of them one family; values that are missing (NaN) do not count.

    >>> [each.word for each in significances([[0.01, 0.012, 0.011], [-0.01, 0.02, 0.0], [0.1]])]
    ['higher', 'none', 'no test']
    """
    return significances_of([_alone(sample) for sample in differences])


def significances_of(found: Sequence[Significance]) -> list[Significance]:
    """Return what is shown about differences that were tested one by one, all of them one family."""
    adjusted = verdicts.holm([each.p for each in found])
    family, shown = int((~np.isnan(adjusted)).sum()), int((adjusted <= verdicts.ALPHA).sum())
    # The level that the next difference must meet; either of its two sides takes half of it.
    level = verdicts.ALPHA / max(1, family - shown) / 2
    return [
        replace(
            each,
            p_adjusted=p,
            family=family,
            detectable=verdicts.detectable_difference(each.deviation, each.seeds, level),
        )
        for each, p in zip(found, adjusted.tolist(), strict=True)
    ]


def _alone(sample: ArrayLike) -> Significance:
    values = np.asarray(sample, dtype=np.float64)
    values = values[~np.isnan(values)]
    mean = float(values.mean()) if values.size else math.nan
    return Significance(values.size, mean, deviation_of(values), verdicts.t_test(values))


def family_words(found: Sequence[Significance], noun: str = "round") -> str:
    """Say what was tested, over how many seeds, and corrected for how many.

    >>> family_words(significances([[0.01, 0.012, 0.011], [-0.01, 0.02, 0.0]]))
    'paired t tests of 3 seeds, Holm over 2 rounds'
    """
    tested = [each for each in found if each.word != "no test"]
    if not tested:
        return "a test needs two seeds that both have"
    return f"paired t tests of {seeds_words(found)}, Holm over {formats.number_of(tested[0].family, noun)}"


def seeds_words(found: Sequence[Significance]) -> str:
    """Say how many seeds stand behind differences.

    >>> seeds_words(significances([[0.01, 0.02], [0.01, 0.02, 0.0]]))
    '2 to 3 seeds'
    """
    counts = sorted({each.seeds for each in found})
    return formats.number_of(counts[0], "seed") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def detectable_words(found: Sequence[Significance]) -> str:
    """Say which differences the seeds would have shown where none is significant; "" where all are or none is tested.

    >>> detectable_words(significances([[-0.01, 0.02, 0.0], [0.0, 0.01, 0.003]]))
    'there a difference of 2.4 to 7.1 points would have been shown with 80 % power'
    """
    sizes = [each.detectable for each in found if each.word == "none" and not math.isnan(each.detectable)]
    if not sizes:
        return ""
    return f"there a difference of {span_of_points(sizes)} would have been shown with {100 * verdicts.POWER:g} % power"


def span_of_points(sizes: Sequence[float] | pd.Series) -> str:
    """Write the smallest and the largest of some differences (fractions) in points.

    >>> span_of_points([0.01, 0.0249]), span_of_points([0.01])
    ('1.0 to 2.5 points', '1.0 points')
    """
    least, most = (formats.fixed(100 * size, 1) for size in (min(sizes), max(sizes)))
    return f"{most if least == most else f'{least} to {most}'} points"
