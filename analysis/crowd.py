"""Many runs of one method in one picture: shades of its colour, and no bands or single seeds, which would hide all."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from analysis import palette

# So many runs of one method are told apart by their dashes alone; points have none.
MOST, MOST_POINTS = 4, 1


def crowd_styles(table: pd.DataFrame, most: int = MOST) -> dict[str, palette.Style]:
    """Return how each run of a method with more than `most` of them looks, from light to dark as they stand in `table`.

    `table` needs the columns run and method.
    """
    runs = table[["run", "method"]].drop_duplicates()
    styles: dict[str, palette.Style] = {}
    for method, count in Counter(runs["method"]).items():
        if count > most:
            styles |= dict(zip(runs["run"][runs["method"] == method], palette.shades(method, count), strict=True))
    return styles
