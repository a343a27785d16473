"""The sentence under every figure: which runs, seeds, rounds and data, which score and which way of counting MACs."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from analysis import names
from analysis.crowd import crowd_styles
from analysis.statistics import FEWEST
from analysis.tables.curve import Score, family_size
from analysis.tables.data import data_words
from analysis.tables.scores import score_words
from glt.store import MacConvention
from glt.verdicts import DELTA, rule_words

MAC_WORDS: dict[MacConvention, str] = {
    "dense_features": "dense features (zeros too, as the paper says)",
    "sparse_features": "sparse features (what a sparse library executes)",
    "published": "the recipe behind the paper's printed numbers",
}


def caption(
    rounds: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    paper: bool = False,
) -> str:
    """Return one sentence on what a figure of `rounds` shows, for the screen, a paper or a bundle."""
    if rounds.empty:
        return "No finished rounds."
    last = int(rounds["round"].max())
    parts = [
        f"{_settings(rounds)}: {_join(_labels(rounds))}",
        f"{score_words(rounds, score)} in rounds 0 to {last} ({_seeds(rounds)})",
        "dashed: the dense model (round 0) under the same protocol",
        _stars(rounds, score, margin),
        f"MACs count {MAC_WORDS[macs]}",
    ]
    if paper:
        parts.append(
            "open markers: the paper's printed points, stars by its own criterion, mean at least the dense mean"
        )
    if mixed := data_words(rounds):
        parts.append(mixed)
    return "; ".join(parts) + "."


def _settings(rounds: pd.DataFrame) -> str:
    seen = rounds[["dataset", "task", "objective", "model"]].drop_duplicates()
    return _join(
        f"{names.dataset(dataset)} {names.task(task, objective)} with {names.model(model)}"
        for dataset, task, objective, model in seen.itertuples(index=False)
    )


def _labels(rounds: pd.DataFrame) -> Iterable[str]:
    return list(dict.fromkeys(rounds["label"]))


def _seeds(rounds: pd.DataFrame) -> str:
    counts = rounds.groupby(["run", "round"], sort=False)["seed"].nunique()
    return averaged_over(counts, intervals=not crowd_styles(rounds))


def averaged_over(counts: Iterable[int], intervals: bool = True) -> str:
    """Say over how many seeds means were taken, and whether there is an interval; so many curves may be without.

    >>> averaged_over([5, 5]), averaged_over([1]), averaged_over([4], intervals=False)
    ('mean and 95% t interval over 5 seeds', '1 seed, no interval', 'mean over 4 seeds, without intervals')
    >>> averaged_over([2]), averaged_over([1, 5])
    ('mean over 2 seeds, too few for an interval', 'mean and, from 3 seeds on, 95% t interval over 1 to 5 seeds')
    """
    found = sorted(set(counts))
    if found == [1]:
        return "1 seed, no interval"
    number = str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"
    if not intervals:
        return f"mean over {number} seeds, without intervals"
    if found[-1] < FEWEST:
        return f"mean over {number} seeds, too few for an interval"
    condition = "" if found[0] >= FEWEST else f", from {FEWEST} seeds on,"
    return f"mean and{condition} 95% t interval over {number} seeds"


def _stars(rounds: pd.DataFrame, score: Score, margin: float) -> str:
    family = family_size(rounds, score)
    return f"stars: tickets, {rule_words(margin, family)}" if family else "no verdicts: they need two seeds or more"


def _join(words: Iterable[str]) -> str:
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
