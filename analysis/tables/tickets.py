"""The winning ticket of every run: its extreme one, or, when there is none, the round that came closest."""

from __future__ import annotations

import pandas as pd

from analysis.tables.curve import Score, curve_table
from glt.store import MacConvention


def tickets_table(
    rounds: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    tolerance: float = 0.0,
) -> pd.DataFrame:
    """Return one row per run: curve_table's row of its extreme ticket, with dense MACs, the share saved and its search.

    search_seconds is what all rounds up to this one took, the mean over seeds.

    A run without a ticket gives its closest round, the pruned one with the highest paired difference (ties: the
    sparsest), and is_ticket says False. A run without a pruned round gives no row.
    """
    curve = curve_table(rounds, score, "graph", macs, tolerance)
    dense = curve.loc[curve["round"] == 0].set_index("run")["macs"].rename("macs_dense")
    ranked = curve[curve["round"] > 0].sort_values(["is_extreme", "difference", "graph_sparsity", "weight_sparsity"])
    best = ranked.groupby("run").tail(1).sort_index().drop(columns="x").join(dense, on="run")
    best = best.join(search_seconds(rounds), on=["run", "round"])
    return best.assign(macs_saved=1 - best["macs"] / best["macs_dense"]).reset_index(drop=True)


def search_seconds(rounds: pd.DataFrame) -> pd.Series:
    """Return, by run and round, the seconds of this round and all before it, the mean over seeds."""
    ordered = rounds.sort_values("round", kind="stable")
    total = ordered.groupby(["run", "seed"])["seconds"].cumsum()
    return total.groupby([ordered["run"], ordered["round"]]).mean().rename("search_seconds")
