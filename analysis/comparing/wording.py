"""What a comparison found, in sentences that claim no more than its seeds can tell."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.comparing.leaders import BEHIND, INTERVALS, LEADS, PAIRED, TIE
from analysis.tables.statistics import FEWEST
from glt import formats


def few_seeds_words(seeds: Sequence[int]) -> str:
    """Say what so few shared seeds can tell, "" where there are enough.

    >>> few_seeds_words([0, 1, 2]), few_seeds_words([0])[:47]
    ('', 'The runs share only seed 0: one difference a ro')
    """
    if len(seeds) >= FEWEST:
        return ""
    if not seeds:
        return "The runs have no seed in common, so nothing can be paired: compute both under the same seeds."
    if len(seeds) == 1:
        return (
            f"The runs share only {formats.listing(seeds)}: one difference a round has no interval and tells nothing "
            "of chance. Compute both under three seeds or more."
        )
    return (
        f"The runs share only {formats.listing(seeds)}. A 95% t interval of two differences reaches nine times their "
        "standard deviation to each side, so none is drawn. Compute both under three seeds or more."
    )


def paired_words(table: pd.DataFrame, one: str, other: str) -> str:
    """Say of a `paired_table` in which pruned rounds which run is ahead, and where that is beyond its interval.

    `one` and `other` are the labels of the runs.
    """
    pruned = table[table["round"] > 0]
    if pruned.empty:
        return "Not both runs have finished a pruned round yet."
    told = [
        _ahead(who, list(pruned.loc[ahead, "round"]), list(pruned.loc[pruned["ahead"] == side, "round"]), len(pruned))
        for who, side, ahead in (
            (one, "one", pruned["difference"] > 0),
            (other, "other", pruned["difference"] < 0),
        )
        if ahead.any()
    ]
    if not told:
        return f"{one} and {other} score the same in all {len(pruned)} pruned rounds."
    if pruned["seeds"].max() < FEWEST:
        return " ".join(told)
    clear = (pruned["ahead"] != "").any()
    return " ".join(told) + ("" if clear else " In no round do the seeds tell them apart.")


def _ahead(who: str, rounds: Sequence[int], clear: Sequence[int], of: int) -> str:
    where = f"all {of} pruned rounds" if len(rounds) == of else f"{len(rounds)} of {of} pruned rounds"
    beyond = f", beyond the 95% interval in k = {formats.spans(clear)}" if clear else ""
    return f"{who} is ahead in {where}{beyond}."


def place_words(row: Mapping[Hashable, Any]) -> str:
    """Write the place of a row of `leader_table` in few words.

    >>> place_words({"run": "a", "place": "behind", "compared": "paired", "behind": 0.021, "p_value": 0.012})
    '−2.1 points, p = 0.012'
    """
    place = row["place"]
    if place == LEADS:
        return "highest"
    if row["compared"] == PAIRED:
        gap = formats.points(-row["behind"])
        return f"tie ({gap})" if place == TIE else f"{gap}, {formats.p_value(row['p_value'])}"
    if row["compared"] == INTERVALS:
        return "tie: intervals overlap" if place == TIE else "behind: intervals apart"
    return "behind" if place == BEHIND else "too few seeds to tell"
