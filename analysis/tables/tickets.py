"""The sparsest round of every run that is shown to be a ticket or, where none is, the one closest by validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables.curves import Score, curve_table
from glt import formats, verdicts
from glt.lottery.diagnosis import SEARCH, Diagnosis, diagnoses, of_notes, rounds_words
from glt.store import MacConvention, Run, SeedRun
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
        told.append(f"Open, undecided with these seeds: {_joined(spans)}.")
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


# What rounds say of their own training, as a tidy table: cuts without a gradient, searches that end at chance.


COLUMNS = ("run", "seed", "round", "cuts_without_gradient", "search_at_chance", "read_late", "masks_at_zero")
KEYS = ["run", "round"]


def diagnosis_table(runs: Sequence[Run], derived: bool = True) -> pd.DataFrame:
    """Return a row per run, seed and finished round.

    Columns: run, seed, round, cuts_without_gradient (the share of the edge entries removed in the round whose mask had
    no gradient; NaN where there is none or it is not known), search_at_chance (the epoch, from 1, from which the
    search's validation is at chance to the end; NaN where it is not), read_late (whether masks were read after that)
    and masks_at_zero (the larger share, of edge and of weight masks, at or below zero when they were read; NaN where it
    is not recorded). Without `derived`, rounds say what their records say, which of older runs is nothing.
    """
    rows = [row for run in runs for seed in run.seeds() for row in _rows(run, run.seed(seed), derived)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(run: Run, seed_run: SeedRun, derived: bool) -> Iterator[dict[str, Any]]:
    records = seed_run.rounds()
    found = diagnoses(seed_run, records) if derived else [of_notes(record.notes) for record in records]
    for record, each in zip(records, found, strict=True):
        yield {"run": run.reference, "seed": seed_run.seed, "round": record.round, **_numbers(each)}


def _numbers(found: Diagnosis) -> dict[str, Any]:
    share, fell = found.cuts_without_gradient, (found.at_chance_from or {}).get(SEARCH)
    return {
        "cuts_without_gradient": np.nan if share is None else share,
        "search_at_chance": np.nan if fell is None else fell + 1,
        "read_late": found.is_read_late,
        "masks_at_zero": max(found.masks_at_zero.values(), default=np.nan),
    }


def with_diagnoses(curve: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return a `curve_table` with columns of a `diagnosis_table` of its runs, over the seeds of each round.

    cuts_without_gradient is the mean; search_at_chance the earliest epoch, seeds_at_chance and seeds_read_late say of
    how many seeds; masks_at_zero is the largest share.
    """
    groups = found.groupby(KEYS)
    columns = {
        "cuts_without_gradient": groups["cuts_without_gradient"].mean(),
        "search_at_chance": groups["search_at_chance"].min(),
        "seeds_at_chance": groups["search_at_chance"].count(),
        "seeds_read_late": groups["read_late"].sum(),
        "masks_at_zero": groups["masks_at_zero"].max(),
    }
    return curve.join(pd.DataFrame(columns), on=KEYS)


def late_words(curve: pd.DataFrame) -> list[str]:
    """Say of which rounds masks were read after their search had collapsed, a sentence a run, from `with_diagnoses`."""
    late = curve[curve["seeds_read_late"] > 0]
    return [
        f"{label}, {rounds_words(rows['round'].tolist())}: masks were read while the search's validation score was "
        "at chance."
        for label, rows in late.groupby("label", sort=False)
    ]
