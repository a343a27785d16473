"""The leaderboard: one row per run or group of runs, each compared with the best validated one.

The reference of a data set is the row with the highest validation score. The test score never chooses it, because the
test score of a run chosen that way is biased upwards. A run of one seed is not a reference where others have more. Test
scores are compared with the reference by a paired t test where two or more seeds are shared, else by Welch's t test,
with Holm's correction over all rows compared with one reference. "No significant difference" does not mean equal, so
such a row also gives the smallest difference that its seeds detect.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import stdtr

from analysis.statistics import (
    WORDS,
    Significance,
    detectable_difference_words,
    deviation_of,
    family_words,
    significances_of,
)
from analysis.tables.curves import RUN_KEYS, Score, curve_table, dense_table, mean_and_interval
from glt import formats, verdicts
from glt.store import MacConvention
from glt.verdicts import DELTA, FEWEST, detects_words

Rank = Literal["best", "dense"]
RANKS: dict[Rank, str] = {"best": "best pruned round", "dense": "dense round"}
PARTS = ("dense", "best", "sparsest")
BOARD_KEYS = ["dataset", "task", "objective", "data"]
OF_ROUND = ["round", "mean", "low", "high", "graph_sparsity", "weight_sparsity", "macs", "val"]
REFERENCE = "reference"
PAIRED, UNPAIRED, NOTHING = "paired", "unpaired", ""
COMPARED = ["verdict", "compared", "difference", "difference_low", "difference_high", "p_value", "p_adjusted"]
COMPARED += ["family", "detectable", "shared_seeds"]


def leader_table(
    rounds: pd.DataFrame,
    *,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    rank: Rank = "best",
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return one row per run of a `rounds_table`, or per group, the reference of each data set first.

    `groups` gives the group of each run by name. Runs on different data of one name are compared separately, like runs
    on different data sets. Columns: run ("" for a group), label, dataset, task, objective, data, model, method, color,
    runs, seeds; for `dense`, `best` (the pruned round with the highest mean validation score) and `sparsest` (the
    extreme ticket at this margin, NaN without one): _round, _mean, _low, _high (95% t interval over seeds, each once in
    a group), _val (the mean validation score), _graph_sparsity, _weight_sparsity, _macs; then verdict ("reference",
    "higher", "lower", "none" for no significant difference, "no test"), compared ("paired", "unpaired", ""),
    difference, difference_low, difference_high (this row minus the reference, test score at the round of `rank`; 95% t
    interval from three seeds on), p_value (two-sided), p_adjusted (Holm over `family` rows), detectable (the smallest
    difference that these seeds show with 80 % power) and shared_seeds.
    """
    entries = _entries(rounds, score, macs, margin).assign(runs=1)
    if groups is not None:
        order = {group: place for place, group in enumerate(dict.fromkeys(groups.values()))}
        entries = entries[entries["run"].isin(groups)]
        entries = entries.assign(label=entries["run"].map(groups))
        entries = entries.sort_values("label", key=lambda labels: labels.map(order), kind="stable")
        entries = entries.reset_index(drop=True)
    if groups is None or not entries.duplicated(["label", *BOARD_KEYS]).any():
        table = entries.assign(**{f"{part}_runs": entries[f"{part}_mean"].notna().astype(int) for part in PARTS})
    else:
        table = _of_groups(entries, rounds, score)
    # The score of every row by seed at the round of `rank`; a group's is the mean over its runs.
    keys = ["label", *BOARD_KEYS] if not table["run"].all() else ["run"]
    scores = entries[list(dict.fromkeys(["run", *keys]))].merge(_at_round(entries, rounds, score, rank), on="run")
    means = {key: rows.groupby("seed")["score"].mean() for key, rows in scores.groupby(keys)}
    none = pd.Series(dtype=np.float64)
    by_seed = [means.get(tuple(key), none) for key in table[keys].itertuples(index=False)]
    table = table.join(_compared(table, by_seed, rank)).sort_values(f"{rank}_val", ascending=False, kind="stable")
    table = table.sort_values("verdict", key=lambda words: words != REFERENCE, kind="stable")
    first = {key: place for place, key in enumerate(rounds.groupby(BOARD_KEYS, sort=False).groups)}
    places = [first[tuple(key)] for key in table[BOARD_KEYS].itertuples(index=False)]
    return table.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)


def _entries(rounds: pd.DataFrame, score: Score, macs: MacConvention, margin: float) -> pd.DataFrame:
    curve = curve_table(rounds, score, "graph", macs, margin)
    validated = rounds.groupby(["run", "round"])["val"].mean().rename("val")
    curve = curve.join(validated, on=["run", "round"])
    ranked = curve[curve["round"] > 0].sort_values(["val", "graph_sparsity"])
    parts = {
        "dense": curve[curve["round"] == 0],
        "best": ranked.groupby("run").tail(1),
        "sparsest": curve[curve["is_extreme"]],
    }
    table = dense_table(rounds, score)[[*RUN_KEYS, "seeds"]]
    for part, rows in parts.items():
        table = table.join(rows.set_index("run")[OF_ROUND].add_prefix(f"{part}_"), on="run")
    return table


def _of_groups(entries: pd.DataFrame, rounds: pd.DataFrame, score: Score) -> pd.DataFrame:
    """Return one row per group and data set: scores averaged over runs by seed, then mean and t interval over seeds.

    Runs of a group may share their dense model, whose score must not count several times.
    """
    keys = ["label", *BOARD_KEYS]
    parts = entries.groupby(keys, sort=False)
    table = parts.agg(runs=("run", "size"), model=("model", _shared), method=("method", _shared))
    for part in PARTS:
        table[f"{part}_runs"] = parts[f"{part}_mean"].count()
        scores = entries[["run", *keys]].merge(_at_round(entries, rounds, score, part), on="run")
        by_seed = scores.groupby([*keys, "seed"])["score"].mean().groupby(level=keys)
        table[[f"{part}_mean", f"{part}_low", f"{part}_high"]] = mean_and_interval(by_seed)[["mean", "low", "high"]]
        if part == "dense":
            table["seeds"] = by_seed.size()
        for name in ("graph_sparsity", "weight_sparsity", "macs", "val"):
            table[f"{part}_{name}"] = parts[f"{part}_{name}"].mean()
        table[f"{part}_round"] = parts[f"{part}_round"].agg(_shared, np.nan)
    return table.reset_index().assign(run="", color="")


def _shared(values: pd.Series, other: Any = "") -> Any:
    """Return the value that all share, else `other`."""
    distinct = values.unique()
    return distinct[0] if len(distinct) == 1 else other


def _at_round(rows: pd.DataFrame, rounds: pd.DataFrame, score: Score, part: str) -> pd.DataFrame:
    """Return the score of every seed of these runs in their round of this part; columns run, seed, score."""
    at = rows.set_index("run")[f"{part}_round"]
    chosen = rounds[rounds["round"] == rounds["run"].map(at)]
    return chosen[["run", "seed"]].assign(score=chosen[score])


def _compared(table: pd.DataFrame, by_seed: list[pd.Series], rank: Rank) -> pd.DataFrame:
    scores = dict(zip(table.index, by_seed, strict=True))
    compared: dict[Any, dict[str, Any]] = {}
    for _, rows in table.groupby(BOARD_KEYS, sort=False):
        validated = rows[f"{rank}_val"].where(rows[f"{rank}_mean"].notna())
        # A row of one seed is the reference only where no row has more.
        several = validated.where([len(scores[index]) >= 2 for index in rows.index])
        validated = validated if several.isna().all() else several
        if validated.isna().all():
            compared |= {index: {"verdict": "no test", "compared": NOTHING} for index in rows.index}
            continue
        reference = validated.idxmax()
        others = [index for index in rows.index if index != reference]
        tests = significances_of([difference_of(scores[index], scores[reference]) for index in others])
        compared[reference] = {"verdict": REFERENCE, "compared": NOTHING}
        for index, test in zip(others, tests, strict=True):
            compared[index] = comparison_of(test, scores[index], scores[reference])
    return pd.DataFrame([compared[index] for index in table.index], index=table.index, columns=COMPARED)


def comparison_of(test: Significance, scores: pd.Series, reference: pd.Series) -> dict[str, Any]:
    """Return the columns COMPARED of a row: the test of its scores by seed against those of the reference."""
    shared = len(scores.index.intersection(reference.index))
    half = test.half if shared >= 2 else math.nan
    return {
        "verdict": test.word,
        "compared": PAIRED if shared >= 2 else UNPAIRED if test.word != "no test" else NOTHING,
        "difference": test.mean,
        "difference_low": test.mean - half,
        "difference_high": test.mean + half,
        "p_value": test.p,
        "p_adjusted": test.p_adjusted,
        "family": test.family,
        "detectable": test.detectable if shared >= 2 else math.nan,
        "shared_seeds": shared,
    }


def difference_of(scores: pd.Series, reference: pd.Series) -> Significance:
    """Return the difference of two rows: paired by seed, or between means below two shared seeds."""
    paired = (scores - reference).dropna().to_numpy()
    if len(paired) >= 2:
        return Significance(*verdicts.Sample.of(paired), verdicts.t_test(paired))
    p = _welch(scores, reference)
    if math.isnan(p) and len(paired):
        return Significance(1, float(paired[0]), math.nan, p)
    gap = float(scores.mean() - reference.mean()) if len(scores) and len(reference) else math.nan
    return Significance(min(len(scores), len(reference)), gap, math.nan, p)


def _welch(one: pd.Series, other: pd.Series) -> float:
    """Return the two-sided p-value of Welch's t test; NaN below two seeds each, or without a spread."""
    if min(len(one), len(other)) < 2:
        return math.nan
    shares = [deviation_of(scores) ** 2 / len(scores) for scores in (one, other)]
    if not sum(shares):
        return math.nan
    parts = [share**2 / (len(scores) - 1) for share, scores in zip(shares, (one, other), strict=True)]
    freedom = sum(shares) ** 2 / sum(parts)
    t = abs(float(one.mean() - other.mean())) / math.sqrt(sum(shares))
    return float(2 * stdtr(freedom, -t))


# Comparisons in words


def few_seeds_words(seeds: Sequence[int]) -> str:
    """Return a warning where two runs share too few seeds, else "".

    >>> few_seeds_words([0, 1, 2]), few_seeds_words([0])[:36]
    ('', 'The runs share only seed 0: a paired')
    """
    if len(seeds) >= FEWEST:
        return ""
    if not seeds:
        return "The runs share no seed, so no paired test is possible. Compute both with the same seeds."
    why = "only a very large difference can be significant, and below three seeds there is no interval"
    if len(seeds) == 1:
        why = "a paired test needs two shared seeds, and detects little below five"
    return f"The runs share only {formats.listing(seeds)}: {why}. Compute both with more seeds."


def paired_words(table: pd.DataFrame, one: str, other: str) -> str:
    """Summarise a `paired_table`: rounds with significant differences, and the test; `one`, `other` are labels."""
    pruned = table[table["round"] > 0]
    if pruned.empty:
        return "Not both runs have finished a pruned round yet."
    parts = []
    for word, text in WORDS.items():
        numbers = [int(number) for number in pruned.loc[pruned["verdict"] == word, "round"]]
        if numbers:
            whole = "any pruned round" if text.startswith("no ") else "every pruned round"
            parts.append(f"{text} in {whole if len(numbers) == len(pruned) else f'k = {formats.spans(numbers)}'}")
    tested = formats.opening(family_words(int(table["family"].max()), table["seeds"]))
    tested += " (round 0 too)" if table.loc[table["round"] == 0, "p_adjusted"].notna().any() else ""
    if detectable := detectable_difference_words(pruned.loc[pruned["verdict"] == "none", "detectable"]):
        tested += f"; where there is none, {detectable}"
    return f"{one} against {other}: {'; '.join(parts)}. {tested}."


def comparison_words(row: Mapping[Hashable, Any]) -> str:
    """Write the result of a row of `leader_table` against the reference.

    >>> row = {"verdict": "lower", "compared": "paired", "difference": -0.021, "difference_high": -0.011}
    >>> comparison_words(row | {"p_adjusted": 0.012, "detectable": 0.01, "shared_seeds": 5})
    'significantly lower: −2.1 ± 1.0 points, p = 0.012 (n = 5)'
    """
    word = row["verdict"]
    if word == REFERENCE:
        return REFERENCE
    if word == "no test":
        if math.isnan(row["difference"]):
            return "no test: needs two seeds"
        shared = formats.number_of(int(row["shared_seeds"]), "shared seed")
        equal = ", all differences equal" if row["shared_seeds"] > 1 else ""
        return f"no test: {formats.points(row['difference'])} ({shared}{equal})"
    gap = formats.points_interval(row["difference"], row["difference_high"] - row["difference"])
    p = formats.p_value(row["p_adjusted"])
    seeds = "seeds not shared" if row["compared"] == UNPAIRED else f"n = {int(row['shared_seeds'])}"
    if word == "none" and not math.isnan(row["detectable"]):
        seeds += f", detects {detects_words(row['detectable'])}"
    return f"{WORDS[word]}: {gap}, {p} ({seeds})"
