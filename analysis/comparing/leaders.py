"""The leader table: a row a run or a group of runs, who leads on each data set, and whom the seeds cannot tell from it.

A place is no rank: rows whose difference from the leader lies within its interval tie with it. Where three seeds or
more are shared, the differences are paired by seed; elsewhere the two intervals must not overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.tables.curve import RUN_KEYS, Score, curve_table, dense_table, mean_and_interval
from analysis.tables.statistics import FEWEST, p_value
from glt.store import MacConvention
from glt.verdicts import DELTA

Rank = Literal["best", "dense"]
RANKS: dict[Rank, str] = {"best": "best pruned round", "dense": "dense round"}
PARTS = ("dense", "best", "sparsest")
SUBJECT = ["dataset", "task", "objective", "data"]
OF_ROUND = ["round", "mean", "low", "high", "graph_sparsity", "weight_sparsity", "macs"]
VERDICT = ["place", "compared", "behind", "behind_low", "behind_high", "p_value", "shared_seeds"]
LEADS, TIE, BEHIND, OPEN = "leads", "tie", "behind", "open"
PAIRED, INTERVALS, NOTHING = "paired", "intervals", ""


def leader_table(
    rounds: pd.DataFrame,
    *,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    rank: Rank = "best",
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return a row a run of a `rounds_table`, or a group (by the names of runs), the best of each data set first.

    Where every group is a single run, its rows are those of the runs, paired by seed, under the groups' names.
    Runs on different data under one name are ranked apart, as those of different data sets are.
    Columns: run ("" for a group), label, dataset, task, objective, data, model, method, color, runs, seeds; for
    `dense`, `best` (the pruned round with the highest mean validation score) and `sparsest` (the extreme ticket at this
    margin, NaN without one): _round, _mean, _low, _high (95% t interval over seeds, each once in a group),
    _graph_sparsity, _weight_sparsity, _macs; then place ("leads", "tie", "behind", "open" where too few seeds tell),
    compared ("paired", "intervals", ""), behind with behind_low, behind_high and p_value (leader minus this row,
    paired, at the round ranked by), and shared_seeds.
    """
    entries = _entries(rounds, score, macs, margin).assign(runs=1)
    if groups is not None:
        entries = _in_groups(entries[entries["run"].isin(groups)], groups)
    if groups is None or not entries.duplicated(["label", *SUBJECT]).any():
        table = entries.assign(**{f"{part}_runs": entries[f"{part}_mean"].notna().astype(int) for part in PARTS})
        verdicts = _paired_verdicts(table, rounds, score, rank)
    else:
        table = _of_groups(entries, rounds, score)
        verdicts = _interval_verdicts(table, rank)
    table = table.join(verdicts).sort_values(f"{rank}_mean", ascending=False, kind="stable")
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
        for name in ("graph_sparsity", "weight_sparsity", "macs"):
            table[f"{part}_{name}"] = parts[f"{part}_{name}"].mean()
        # Rounds of several runs have no mean; where all agree, it is that round.
        table[f"{part}_round"] = parts[f"{part}_round"].agg(_shared, np.nan)
    return table.reset_index().assign(run="", color="")


def _shared(values: pd.Series, other: Any = "") -> Any:
    """Return the one value that all have, else `other`."""
    found = values.unique()
    return found[0] if len(found) == 1 else other


def _paired_verdicts(table: pd.DataFrame, rounds: pd.DataFrame, score: Score, rank: Rank) -> pd.DataFrame:
    verdicts = _interval_verdicts(table, rank)
    for _, rows in table.groupby(SUBJECT, sort=False):
        if rows[f"{rank}_mean"].notna().any():
            leader = rows.loc[rows[f"{rank}_mean"].idxmax(), "run"]
            _pair(verdicts, rows, _at_round(rows, rounds, score, rank), leader)
    return verdicts


def _pair(verdicts: pd.DataFrame, rows: pd.DataFrame, scores: pd.DataFrame, leader: str) -> None:
    """Let differences paired by seed decide where the leader shares three seeds or more, in place."""
    ahead = scores[scores["run"] == leader].set_index("seed")["score"]
    paired = scores.assign(gap=scores["seed"].map(ahead) - scores["score"]).dropna(subset=["gap"])
    groups = paired.groupby("run")["gap"]
    found = mean_and_interval(groups).assign(p=lambda each: p_value(each["mean"], groups.std(), each["count"]))
    found = found.reindex(rows["run"]).set_axis(rows.index)
    verdicts.loc[rows.index, "shared_seeds"] = found["count"].fillna(0)
    enough = (found["count"] >= FEWEST) & (rows["run"] != leader)
    told = found[enough]
    verdicts.loc[told.index, ["behind", "behind_low", "behind_high", "p_value"]] = told[
        ["mean", "low", "high", "p"]
    ].to_numpy()
    verdicts.loc[told.index, "place"] = np.where(told["low"] > 0, BEHIND, TIE)
    verdicts.loc[told.index, "compared"] = PAIRED


def _at_round(rows: pd.DataFrame, rounds: pd.DataFrame, score: Score, part: str) -> pd.DataFrame:
    """Return the score of every seed of these runs in their round of this part: run, seed, score."""
    at = rows.set_index("run")[f"{part}_round"]
    chosen = rounds[rounds["round"] == rounds["run"].map(at)]
    return chosen[["run", "seed"]].assign(score=chosen[score])


def _interval_verdicts(table: pd.DataFrame, rank: Rank) -> pd.DataFrame:
    """Say who leads each data set, who is clear of its interval, and where there is none to say so."""
    verdicts = pd.DataFrame(np.nan, index=table.index, columns=VERDICT).astype({"place": object, "compared": object})
    mean, low, high = (table[f"{rank}_{name}"] for name in ("mean", "low", "high"))
    for _, rows in table.groupby(SUBJECT, sort=False):
        here = rows.index
        verdicts.loc[here, "place"] = OPEN
        verdicts.loc[here, "compared"] = NOTHING
        if mean[here].isna().all():
            continue
        leader = mean[here].idxmax()
        known = here[(high[here].notna() & low[here].notna()).to_numpy()] if pd.notna(low[leader]) else here[:0]
        verdicts.loc[known, "place"] = np.where(high[known] < low[leader], BEHIND, TIE)
        verdicts.loc[known, "compared"] = INTERVALS
        verdicts.loc[leader, ["place", "compared"]] = [LEADS, NOTHING]
    return verdicts
