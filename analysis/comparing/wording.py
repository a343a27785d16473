"""What a comparison shows, in sentences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.comparing.leaders import REFERENCE, UNPAIRED
from analysis.statistics import FEWEST, WORDS, detectable_words, family_words
from glt import formats


def few_seeds_words(seeds: Sequence[int]) -> str:
    """Say what is missing where two runs share too few seeds, "" where they share enough.

    >>> few_seeds_words([0, 1, 2]), few_seeds_words([0])[:36]
    ('', 'The runs share only seed 0: a paired')
    """
    if len(seeds) >= FEWEST:
        return ""
    if not seeds:
        return "The runs have no seed in common, so nothing can be paired: compute both under the same seeds."
    if len(seeds) == 1:
        return (
            f"The runs share only {formats.listing(seeds)}: a paired test needs two shared seeds, and shows little "
            "below five. Compute both under more seeds."
        )
    return (
        f"The runs share only {formats.listing(seeds)}: only a very large difference can be significant, and below "
        "three seeds no interval is drawn. Compute both under more seeds."
    )


def paired_words(table: pd.DataFrame, one: str, other: str) -> str:
    """Say of a `paired_table` in which pruned rounds the first run is significantly higher or lower, and how tested.

    `one` and `other` are the labels of the runs.
    """
    pruned = table[table["round"] > 0]
    if pruned.empty:
        return "Not both runs have finished a pruned round yet."
    parts = []
    for word, text in WORDS.items():
        numbers = [int(number) for number in pruned.loc[pruned["verdict"] == word, "round"]]
        if numbers:
            whole = "any pruned round" if text.startswith("no ") else "every pruned round"
            parts.append(f"{text} in {whole if len(numbers) == len(pruned) else f'k = {formats.spans(numbers)}'}")
    return f"{one} against {other}: {'; '.join(parts)}. {_tested(table, pruned)}"


def _tested(table: pd.DataFrame, pruned: pd.DataFrame) -> str:
    is_dense_tested = bool(table.loc[table["round"] == 0, "p_adjusted"].notna().any())
    words = formats.opening(family_words(int(table["family"].max()), table["seeds"])) + (
        " (round 0 too)" if is_dense_tested else ""
    )
    detectable = detectable_words(pruned.loc[pruned["verdict"] == "none", "detectable"])
    return f"{words}; where there is none, {detectable}." if detectable else f"{words}."


def comparison_words(row: Mapping[Hashable, Any]) -> str:
    """Write in few words what a row of `leader_table` shows against the reference.

    >>> row = {"verdict": "lower", "compared": "paired", "difference": -0.021, "difference_high": -0.011}
    >>> comparison_words(row | {"p_adjusted": 0.012, "detectable": 0.01, "shared_seeds": 5})
    'significantly lower: −2.1 ± 1.0 points, p = 0.012 (n = 5)'
    """
    word = row["verdict"]
    if word == REFERENCE:
        return REFERENCE
    if word == "no test":
        return "no test: needs two seeds" if math.isnan(row["difference"]) else _untested(row)
    gap = formats.points_interval(row["difference"], row["difference_high"] - row["difference"])
    p = formats.p_value(row["p_adjusted"])
    seeds = "seeds not shared" if row["compared"] == UNPAIRED else f"n = {int(row['shared_seeds'])}"
    detectable = row["detectable"]
    more = (
        f", detects {formats.points(detectable).lstrip('+')}" if word == "none" and not math.isnan(detectable) else ""
    )
    return f"{WORDS[word]}: {gap}, {p} ({seeds}{more})"


def _untested(row: Mapping[Hashable, Any]) -> str:
    shared = formats.number_of(int(row["shared_seeds"]), "shared seed")
    equal = ", all differences equal" if row["shared_seeds"] > 1 else ""
    return f"no test: {formats.points(row['difference'])} ({shared}{equal})"
