"""The sparsest round of every run that is shown to be a ticket or, where none is, the one closest by validation."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.tables.curves import Score, curve_table
from glt import formats, verdicts
from glt.store import MacConvention
from glt.verdicts import DELTA

# More runs than this are counted, not named.
MOST_NAMED = 5


def tickets_table(
    rounds: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
) -> pd.DataFrame:
    """Return one row per run: curve_table's row of its sparsest ticket, with its MACs against dense and its search.

    A run that is shown no ticket gives the pruned round with the highest mean paired difference in validation score
    (ties: the sparsest), and is_ticket says False; the test score chooses nothing. A run without a pruned round gives
    no row. open_rounds holds the rounds of the run whose verdict is open, macs_dense the MACs of its dense round,
    macs_removed the share of them that this round does without, macs_saved the same where it is a ticket, else NaN.
    search_seconds is what all rounds up to this one took, the mean over seeds.
    """
    curve = curve_table(rounds, score, "graph", macs, margin)
    dense = curve.loc[curve["round"] == 0].set_index("run")["macs"].rename("macs_dense")
    pruned = curve[curve["round"] > 0]
    # Means of equal scores may differ in the last bit.
    ranked = pruned.assign(closeness=pruned["val_difference"].div(verdicts.ROUNDING).round()).sort_values(
        ["is_extreme", "closeness", "graph_sparsity", "weight_sparsity"], na_position="first"
    )
    best = ranked.groupby("run").tail(1).sort_index().drop(columns=["x", "closeness"]).join(dense, on="run")
    best = best.join(search_seconds(rounds), on=["run", "round"])
    is_open = pruned[pruned["verdict"] == "open"].groupby("run")["round"].agg(tuple)
    removed = 1 - best["macs"] / best["macs_dense"]
    return best.assign(
        open_rounds=[is_open.get(run, ()) for run in best["run"]],
        macs_removed=removed,
        macs_saved=removed.where(best["is_ticket"]),
    ).reset_index(drop=True)


def ticket_words(table: pd.DataFrame) -> str:
    """Say of a `tickets_table` which rounds are shown to be tickets, or that none is, and which are open."""
    margin, family = table["margin"].iloc[0], int(table["family"].iloc[0])
    if not family:
        return "No verdict: one needs two seeds or more whose differences from dense vary."
    told = []
    shown, single = table[table["is_ticket"]], table["paired_seeds"] < 2
    counts = sorted({int(count) for count in table.loc[~single, "paired_seeds"]})
    seeds = f"{counts[0]} to {counts[-1]} seeds, " if len(counts) > 1 else f"{counts[0]} seeds, " if counts else ""
    among = f"{seeds}one-sided paired t test at 5 %, Holm over {formats.number_of(family, 'round')}"
    claim = verdicts.shown_words("ticket", margin) + (" against dense" if margin else "")
    if shown.empty:
        told.append(f"No round is shown to {claim} ({among}).")
    else:
        named = _joined([f"{row['label']} round {row['round']}" for row in shown.to_dict("records")])
        told.append(f"Sparsest round shown to {claim} ({among}): {named}.")
    is_open = table[table["open_rounds"].map(len) > 0]
    if not is_open.empty:
        each = zip(is_open["label"], is_open["open_rounds"], strict=True)
        spans = [
            f"{label} {'rounds' if len(rounds) > 1 else 'round'} {formats.spans(rounds)}" for label, rounds in each
        ]
        told.append(f"Open, these seeds cannot tell: {_joined(spans)}.")
    if single.any():
        told.append(f"No verdict, one seed: {_joined(list(table.loc[single, 'label']))}.")
    equal = table[~single & (table["verdict"] == "no verdict")]
    if not equal.empty:
        named = _joined([f"{row['label']} round {row['round']}" for row in equal.to_dict("records")])
        told.append(f"No verdict, all seeds have the same difference: {named}.")
    return " ".join(told)


def _joined(words: Sequence[str]) -> str:
    more = len(words) - MOST_NAMED
    return "; ".join(words[:MOST_NAMED]) + (f"; and {formats.number_of(more, 'more run')}" if more > 0 else "")


def search_seconds(rounds: pd.DataFrame) -> pd.Series:
    """Return, by run and round, the seconds of this round and all before it, the mean over seeds."""
    ordered = rounds.sort_values("round", kind="stable")
    total = ordered.groupby(["run", "seed"])["seconds"].cumsum()
    return total.groupby([ordered["run"], ordered["round"]]).mean().rename("search_seconds")
