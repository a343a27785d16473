"""The leader table: a row a run or a group of runs, each compared with the one that validates best.

The reference of a data set is chosen by its validation score, never by its test score: a run that is picked by its test
score has one that is too high. A run of one seed is no reference where others have more. The others' differences in
test score are paired by seed where two seeds or more are shared, else between independent samples (Welch's t test),
with Holm's correction over all rows compared with it. A row without a significant difference is not shown to be equal:
the smallest difference its seeds detect stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import stdtr

from analysis.statistics import (
    FEWEST,
    WORDS,
    Significance,
    detectable_words,
    deviation_of,
    family_words,
    significances_of,
)
from analysis.tables.curves import RUN_KEYS, Score, curve_table, dense_table, mean_and_interval
from glt import formats, verdicts
from glt.store import MacConvention
from glt.verdicts import DELTA

Rank = Literal["best", "dense"]
RANKS: dict[Rank, str] = {"best": "best pruned round", "dense": "dense round"}
PARTS = ("dense", "best", "sparsest")
SUBJECT = ["dataset", "task", "objective", "data"]
OF_ROUND = ["round", "mean", "low", "high", "graph_sparsity", "weight_sparsity", "macs", "val"]
REFERENCE = "reference"
PAIRED, UNPAIRED, NOTHING = "paired", "unpaired", ""
COMPARED = [
    "verdict",
    "compared",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
    "p_adjusted",
    "family",
    "detectable",
    "shared_seeds",
]


def leader_table(
    rounds: pd.DataFrame,
    *,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    rank: Rank = "best",
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return a row a run of a `rounds_table`, or a group (by the names of runs), the best validated of a set first.

    Where every group is a single run, its rows are those of the runs under the groups' names. Runs on different data
    under one name are compared apart, as those of different data sets are.
    Columns: run ("" for a group), label, dataset, task, objective, data, model, method, color, runs, seeds; for
    `dense`, `best` (the pruned round with the highest mean validation score) and `sparsest` (the extreme ticket at this
    margin, NaN without one): _round, _mean, _low, _high (95% t interval over seeds, each once in a group), _val (the
    mean validation score), _graph_sparsity, _weight_sparsity, _macs; then verdict ("reference", "higher", "lower",
    "none" for no significant difference, "no test"), compared ("paired", "unpaired", ""), difference with
    difference_low and difference_high (this row minus the reference, test score at the round ranked by; 95% t interval
    from three seeds on), p_value (two-sided), p_adjusted (Holm over `family` rows), detectable (the smallest difference
    that these seeds show with 80 % power) and shared_seeds.
    """
    entries = _entries(rounds, score, macs, margin).assign(runs=1)
    if groups is not None:
        entries = _in_groups(entries[entries["run"].isin(groups)], groups)
    if groups is None or not entries.duplicated(["label", *SUBJECT]).any():
        table = entries.assign(**{f"{part}_runs": entries[f"{part}_mean"].notna().astype(int) for part in PARTS})
    else:
        table = _of_groups(entries, rounds, score)
    by_seed = _by_seed(entries, table, rounds, score, rank)
    table = table.join(_compared(table, by_seed, rank)).sort_values(f"{rank}_val", ascending=False, kind="stable")
    table = table.sort_values("verdict", key=lambda words: words != REFERENCE, kind="stable")
    first = {key: place for place, key in enumerate(rounds.groupby(SUBJECT, sort=False).groups)}
    order = [first[tuple(key)] for key in table[SUBJECT].itertuples(index=False)]
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def _entries(rounds: pd.DataFrame, score: Score, macs: MacConvention, margin: float) -> pd.DataFrame:
    """Return a row a run with its dense, best and sparsest round."""
    curve = curve_table(rounds, score, "graph", macs, margin)
    validated = rounds.groupby(["run", "round"])["val"].mean().rename("val")
    curve = curve.join(validated, on=["run", "round"])
    ranked = curve[curve["round"] > 0].sort_values(["val", "graph_sparsity"])
    rows = {
        "dense": curve[curve["round"] == 0],
        "best": ranked.groupby("run").tail(1),
        "sparsest": curve[curve["is_extreme"]],
    }
    table = dense_table(rounds, score)[[*RUN_KEYS, "seeds"]]
    for part, found in rows.items():
        table = table.join(found.set_index("run")[OF_ROUND].add_prefix(f"{part}_"), on="run")
    return table


def _in_groups(entries: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return the entries labelled by their groups, in the order of these."""
    order = {group: place for place, group in enumerate(dict.fromkeys(groups.values()))}
    entries = entries.assign(label=entries["run"].map(groups))
    return entries.sort_values("label", key=lambda labels: labels.map(order), kind="stable").reset_index(drop=True)


def _of_groups(entries: pd.DataFrame, rounds: pd.DataFrame, score: Score) -> pd.DataFrame:
    """Return a row a group and data set: a seed's mean over the runs that have it, then mean and t interval over seeds.

    Runs of a group may share their dense model: taken a run each, one and the same score would count several times.
    """
    keys = ["label", *SUBJECT]
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
        # Rounds of several runs have no mean; where all agree, it is that round.
        table[f"{part}_round"] = parts[f"{part}_round"].agg(_shared, np.nan)
    return table.reset_index().assign(run="", color="")


def _shared(values: pd.Series, other: Any = "") -> Any:
    """Return the one value that all have, else `other`."""
    found = values.unique()
    return found[0] if len(found) == 1 else other


def _at_round(rows: pd.DataFrame, rounds: pd.DataFrame, score: Score, part: str) -> pd.DataFrame:
    """Return the score of every seed of these runs in their round of this part: run, seed, score."""
    at = rows.set_index("run")[f"{part}_round"]
    chosen = rounds[rounds["round"] == rounds["run"].map(at)]
    return chosen[["run", "seed"]].assign(score=chosen[score])


def _by_seed(
    entries: pd.DataFrame, table: pd.DataFrame, rounds: pd.DataFrame, score: Score, rank: Rank
) -> list[pd.Series]:
    """Return every row's score by seed at the round it is ranked by; a group's is the mean over its runs."""
    keys = ["label", *SUBJECT] if not table["run"].all() else ["run"]
    scores = entries[list(dict.fromkeys(["run", *keys]))].merge(_at_round(entries, rounds, score, rank), on="run")
    found = {key: each.groupby("seed")["score"].mean() for key, each in scores.groupby(keys)}
    return [found.get(tuple(key), pd.Series(dtype=np.float64)) for key in table[keys].itertuples(index=False)]


def _compared(table: pd.DataFrame, by_seed: list[pd.Series], rank: Rank) -> pd.DataFrame:
    """Return for every row how it differs from the row of its data set with the highest validation score."""
    places = {index: by_seed[place] for place, index in enumerate(table.index)}
    found: dict[Any, dict[str, Any]] = {}
    for _, rows in table.groupby(SUBJECT, sort=False):
        validated = _eligible(rows, [len(places[index]) for index in rows.index], rank)
        if validated.isna().all():
            found |= {index: {"verdict": "no test", "compared": NOTHING} for index in rows.index}
            continue
        reference = validated.idxmax()
        others = [index for index in rows.index if index != reference]
        tested = significances_of([_difference(places[index], places[reference]) for index in others])
        found[reference] = {"verdict": REFERENCE, "compared": NOTHING}
        for index, each in zip(others, tested, strict=True):
            found[index] = _row(each, places[index], places[reference])
    return pd.DataFrame([found[index] for index in table.index], index=table.index, columns=COMPARED)


def _eligible(rows: pd.DataFrame, seeds: list[int], rank: Rank) -> pd.Series:
    """Return the validation scores that the reference is chosen by: of rows with two seeds, where there are any."""
    validated = rows[f"{rank}_val"].where(rows[f"{rank}_mean"].notna())
    several = validated.where(np.asarray(seeds) >= 2)
    return validated if several.isna().all() else several


def _row(each: Significance, mine: pd.Series, reference: pd.Series) -> dict[str, Any]:
    shared = len(mine.index.intersection(reference.index))
    half = each.half if shared >= 2 else math.nan
    return {
        "verdict": each.word,
        "compared": PAIRED if shared >= 2 else UNPAIRED if each.word != "no test" else NOTHING,
        "difference": each.mean,
        "difference_low": each.mean - half,
        "difference_high": each.mean + half,
        "p_value": each.p,
        "p_adjusted": each.p_adjusted,
        "family": each.family,
        "detectable": each.detectable if shared >= 2 else math.nan,
        "shared_seeds": shared,
    }


def _difference(mine: pd.Series, reference: pd.Series) -> Significance:
    """Return the difference of two rows: paired by seed, or between means where fewer than two seeds are shared."""
    paired = (mine - reference).dropna().to_numpy()
    if len(paired) >= 2:
        return Significance(*verdicts.Sample.of(paired), verdicts.t_test(paired))
    p = _welch(mine, reference)
    if math.isnan(p) and len(paired):
        return Significance(1, float(paired[0]), math.nan, p)
    gap = float(mine.mean() - reference.mean()) if len(mine) and len(reference) else math.nan
    return Significance(min(len(mine), len(reference)), gap, math.nan, p)


def _welch(one: pd.Series, other: pd.Series) -> float:
    """Return the two-sided p-value of Welch's t test; NaN below two seeds each, and without a spread."""
    if min(len(one), len(other)) < 2:
        return math.nan
    shares = [deviation_of(each) ** 2 / len(each) for each in (one, other)]
    if not sum(shares):
        return math.nan
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(each) - 1) for share, each in zip(shares, (one, other), strict=True)
    )
    t = abs(float(one.mean() - other.mean())) / math.sqrt(sum(shares))
    return float(2 * stdtr(freedom, -t))


# What a comparison shows, in sentences.


def few_seeds_words(seeds: Sequence[int]) -> str:
    """Say what is missing where two runs share too few seeds, "" where they share enough.

    >>> few_seeds_words([0, 1, 2]), few_seeds_words([0])[:36]
    ('', 'The runs share only seed 0: a paired')
    """
    if len(seeds) >= FEWEST:
        return ""
    if not seeds:
        return "The runs share no seed, so no paired test is possible. Compute both with the same seeds."
    if len(seeds) == 1:
        return (
            f"The runs share only {formats.listing(seeds)}: a paired test needs two shared seeds, and shows little "
            "below five. Compute both with more seeds."
        )
    return (
        f"The runs share only {formats.listing(seeds)}: only a very large difference can be significant, and below "
        "three seeds there is no interval. Compute both with more seeds."
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
