"""The dashed lines: dense means under the same protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

NAMED = 2


class Baseline(NamedTuple):
    """One dashed line: a dense mean (fraction), its name, and whose it is where means differ ("UGS", "3 runs")."""

    mean: float
    name: str
    owner: str = ""


def cut(words: str, most: int) -> str:
    """Return words of at most so many letters, for a place that is no wider.

    >>> cut("UGS", 10), cut("Random pruning (hidden = 64)", 16)
    ('UGS', 'Random pruning (…')
    """
    return words if len(words) <= most else f"{words[:most].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def baselines(dense: pd.DataFrame) -> list[Baseline]:
    """Return one baseline for every distinct mean of a `dense_table`."""
    means = [(float(mean), list(rows["label"])) for mean, rows in dense.groupby(dense["mean"].round(9))]
    if len(means) == 1:
        return [Baseline(means[0][0], "Dense")]
    return [Baseline(mean, "Dense", _owner(labels)) for mean, labels in means]


def _owner(labels: Sequence[str]) -> str:
    return f"{len(labels)} runs" if len(labels) > NAMED else ", ".join(labels)
