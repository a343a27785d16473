"""Scores against sparsity: the mean over seeds of every round, held against the same seeds' dense model."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from analysis.tables.statistics import half_width, p_value
from glt.store import MacConvention

Score = Literal["test", "test_last"]
XAxis = Literal["graph", "weight", "macs"]

RUN_KEYS = ["run", "label", "dataset", "task", "objective", "model", "method", "color", "data"]
ROUND_KEYS = [*RUN_KEYS, "round"]
INTERVAL = ["mean", "low", "high"]
X_COLUMNS = {"graph": "graph_sparsity", "weight": "weight_sparsity", "macs": "macs"}
AVERAGED = ["graph_sparsity", "weight_sparsity", "edges_kept_either_way", "edges_kept_both_ways", "macs"]

# Means of equal scores may differ in the last bit; no two scores on fewer than 10^8 nodes or pairs lie this close.
ROUNDING = 1e-9


def curve_table(
    rounds: pd.DataFrame,
    score: Score = "test",
    x: XAxis = "graph",
    macs: MacConvention = "dense_features",
    tolerance: float = 0.0,
) -> pd.DataFrame:
    """Return one row per run and round with means over the seeds that finished it.

    Columns: the run's, round, x (a fraction, or a count of MACs), mean, low, high (95% t interval, NaN below
    three seeds), seeds, dense (round 0 of the same seeds), difference, difference_low, difference_high and p_value
    (paired with those), is_ticket (mean >= dense - tolerance, round 0 never), is_extreme (the run's ticket with the
    highest graph sparsity, then weight sparsity), macs, graph_sparsity, weight_sparsity and both counts of kept edges.
    """
    paired = with_dense(rounds, score).assign(macs=rounds[f"macs_{macs}"])
    groups = paired.groupby(ROUND_KEYS, sort=False)
    table = mean_and_interval(groups["score"]).rename(columns={"count": "seeds"})
    table["dense"] = groups["dense"].mean()
    table[["difference", "difference_low", "difference_high"]] = mean_and_interval(groups["difference"])[INTERVAL]
    table["p_value"] = p_value(table["difference"], groups["difference"].std(), groups["difference"].count())
    table[AVERAGED] = groups[AVERAGED].mean()
    table = table.reset_index()
    table["is_ticket"] = (table["round"] > 0) & (table["difference"] >= -tolerance - ROUNDING)
    table["is_extreme"] = _extreme(table)
    table.insert(len(ROUND_KEYS), "x", table[X_COLUMNS[x]])
    order = np.lexsort((table["round"], pd.factorize(table["run"])[0]))
    return table.iloc[order].reset_index(drop=True)


def dense_table(rounds: pd.DataFrame, score: Score = "test") -> pd.DataFrame:
    """Return one row per run: mean, low, high and seeds of its dense model (round 0) over all its seeds."""
    dense = rounds[rounds["round"] == 0].assign(score=lambda rows: rows[score])
    table = mean_and_interval(dense.groupby(RUN_KEYS, sort=False)["score"])
    return table.rename(columns={"count": "seeds"}).reset_index()


def with_dense(rounds: pd.DataFrame, score: Score) -> pd.DataFrame:
    """Return the rounds with the columns score, dense (the seed's own round 0, NaN if it has none) and difference."""
    first = rounds.loc[rounds["round"] == 0].set_index(["run", "seed"])[score].rename("dense")
    joined = rounds.join(first, on=["run", "seed"])
    return joined.assign(score=joined[score], difference=joined[score] - joined["dense"])


def mean_and_interval(groups: pd.api.typing.SeriesGroupBy) -> pd.DataFrame:
    """Return mean, low, high (95% t interval, NaN below three values) and count of every group's values."""
    table = groups.agg(["mean", "std", "count"])
    half = half_width(table["std"], table["count"])
    return table.assign(low=table["mean"] - half, high=table["mean"] + half)[["mean", "low", "high", "count"]]


def _extreme(table: pd.DataFrame) -> pd.Series:
    tickets = table[table["is_ticket"]].sort_values(["graph_sparsity", "weight_sparsity"])
    return pd.Series(table.index.isin(tickets.groupby("run").tail(1).index), index=table.index, dtype=np.bool_)
