"""Tickets and training diagnoses of runs.

`tickets_table` has the sparsest ticket of every run, or the round closest to one; `diagnosis_table` has removals
without a gradient and searches that end at chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables.curves import Score, curve_table
from glt import formats, verdicts
from glt.lottery.diagnosis import SEARCH, diagnoses, of_notes, rounds_words
from glt.store import MacConvention, Run, SeedRun
from glt.verdicts import DELTA

# Further runs are counted, not named.
MOST_NAMED = 5


def tickets_table(
    rounds: pd.DataFrame, score: Score = "test", macs: MacConvention = "dense_features", margin: float = DELTA
) -> pd.DataFrame:
    """Return one row per run: its sparsest ticket in `curve_table`, with its MACs against dense and its cost.

    A run without a ticket is shown by the pruned round with the highest mean paired difference in validation score
    (ties: the sparsest), with is_ticket False; the test score never chooses a round. A run without a pruned round has
    no row. Further columns: open_rounds (rounds of the run with an open verdict), macs_dense (of the dense round),
    macs_removed (the share of them that this round saves), macs_saved (the same for tickets, else NaN), search_seconds
    (of all rounds up to this one, mean over seeds).
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
    """Summarise a `tickets_table`: rounds that are tickets, open rounds, and runs without a verdict."""
    margin, family = table["margin"].iloc[0], int(table["family"].iloc[0])
    if not family:
        return "No verdict: it needs two or more seeds whose differences from dense vary."
    sentences = []
    shown, single = table[table["is_ticket"]], table["paired_seeds"] < 2
    counts = sorted({int(count) for count in table.loc[~single, "paired_seeds"]})
    seeds = f"{counts[0]} to {counts[-1]} seeds, " if len(counts) > 1 else f"{counts[0]} seeds, " if counts else ""
    among = f"{seeds}one-sided paired t test at 5 %, Holm over {formats.number_of(family, 'round')}"
    claim = verdicts.shown_words("ticket", margin) + (" against dense" if margin else "")
    if shown.empty:
        sentences.append(f"No round is shown to {claim} ({among}).")
    else:
        named = _joined([f"{row['label']} round {row['round']}" for row in shown.to_dict("records")])
        sentences.append(f"Sparsest round shown to {claim} ({among}): {named}.")
    is_open = table[table["open_rounds"].map(len) > 0]
    if not is_open.empty:
        spans = [
            f"{label} {'rounds' if len(rounds) > 1 else 'round'} {formats.spans(rounds)}"
            for label, rounds in zip(is_open["label"], is_open["open_rounds"], strict=True)
        ]
        sentences.append(f"Open, undecided with these seeds: {_joined(spans)}.")
    if single.any():
        sentences.append(f"No verdict, one seed: {_joined(list(table.loc[single, 'label']))}.")
    equal = table[~single & (table["verdict"] == "no verdict")]
    if not equal.empty:
        named = _joined([f"{row['label']} round {row['round']}" for row in equal.to_dict("records")])
        sentences.append(f"No verdict, all seeds have the same difference: {named}.")
    return " ".join(sentences)


def _joined(words: Sequence[str]) -> str:
    more = len(words) - MOST_NAMED
    return "; ".join(words[:MOST_NAMED]) + (f"; and {formats.number_of(more, 'more run')}" if more > 0 else "")


def search_seconds(rounds: pd.DataFrame) -> pd.Series:
    """Return the seconds of all rounds up to each one, by run and round, mean over seeds."""
    ordered = rounds.sort_values("round", kind="stable")
    total = ordered.groupby(["run", "seed"])["seconds"].cumsum()
    return total.groupby([ordered["run"], ordered["round"]]).mean().rename("search_seconds")


# Diagnoses

COLUMNS = ("run", "seed", "round", "cuts_without_gradient", "search_at_chance", "read_late", "masks_at_zero")
KEYS = ["run", "round"]


def diagnosis_table(runs: Sequence[Run], derived: bool = True) -> pd.DataFrame:
    """Return a row per run, seed and finished round.

    Columns: run, seed, round, cuts_without_gradient (the share of the round's removed edge entries whose mask had no
    gradient; NaN where none was removed or it is unknown), search_at_chance (the epoch, from 1, from which the search's
    validation score stays at chance; NaN where it does not), read_late (whether masks were read after that) and
    masks_at_zero (the larger share, of edge and weight masks, at or below zero when they were read; NaN where not
    recorded). Without `derived`, only recorded values are used, which older runs lack.
    """
    rows = [row for run in runs for seed in run.seeds() for row in _rows(run, run.seed(seed), derived)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(run: Run, seed_run: SeedRun, derived: bool) -> Iterator[dict[str, Any]]:
    records = seed_run.rounds()
    of_rounds = diagnoses(seed_run, records) if derived else [of_notes(record.notes) for record in records]
    for record, diagnosis in zip(records, of_rounds, strict=True):
        share, epoch = diagnosis.cuts_without_gradient, (diagnosis.at_chance_from or {}).get(SEARCH)
        yield {
            "run": run.reference,
            "seed": seed_run.seed,
            "round": record.round,
            "cuts_without_gradient": np.nan if share is None else share,
            "search_at_chance": np.nan if epoch is None else epoch + 1,
            "read_late": diagnosis.is_read_late,
            "masks_at_zero": max(diagnosis.masks_at_zero.values(), default=np.nan),
        }


def with_diagnoses(curve: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return a `curve_table` with the `diagnosis_table` of its runs summarised over the seeds of each round.

    Columns: cuts_without_gradient (mean), search_at_chance (earliest epoch), seeds_at_chance and seeds_read_late
    (numbers of seeds), masks_at_zero (largest share).
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
    """Return one sentence per run on rounds whose masks were read at chance, from `with_diagnoses`."""
    late = curve[curve["seeds_read_late"] > 0]
    return [
        f"{label}, {rounds_words(rows['round'].tolist())}: masks were read while the search's validation score was "
        "at chance."
        for label, rows in late.groupby("label", sort=False)
    ]
