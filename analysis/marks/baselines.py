"""The dashed lines: dense means under the same protocol."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd


class Baseline(NamedTuple):
    """One dashed line: a dense mean (fraction) and whose it is ("Dense", or "Dense (UGS)" where means differ)."""

    mean: float
    name: str


def baselines(dense: pd.DataFrame) -> list[Baseline]:
    """Return one baseline for every distinct mean of a `dense_table`."""
    means = [(float(mean), list(rows["label"])) for mean, rows in dense.groupby(dense["mean"].round(9))]
    if len(means) == 1:
        return [Baseline(means[0][0], "Dense")]
    return [Baseline(mean, f"Dense ({', '.join(labels)})") for mean, labels in means]
