"""What rounds say of their own training, as a tidy table: cuts without a gradient, searches that end at chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from glt.lottery.diagnosis import SEARCH, Diagnosis, diagnoses, of_notes, rounds_words
from glt.store import Run, SeedRun

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
