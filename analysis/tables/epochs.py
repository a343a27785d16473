"""The epochs of one round as a tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from glt.store import Event

COLUMNS = ["stage", "epoch", "at", "loss", "val", "test"]


def epochs_table(events: Sequence[Event], number: int) -> pd.DataFrame:
    """Return a row an epoch of round `number`, in order; an epoch computed anew after a resume stands once.

    Columns: `stage`, `epoch` (from 1, of the stage), `at` (from 1, of the round), `loss`, `val` and `test` (fractions).
    """
    rows = pd.DataFrame([event.model_dump() for event in events if event.round == number])
    if rows.empty:
        return pd.DataFrame(columns=COLUMNS)
    rows = rows.drop_duplicates(["stage", "epoch"], keep="last")
    rows["epoch"] += 1
    lengths = rows.groupby("stage", sort=False)["epoch"].max()
    before = lengths.cumsum() - lengths
    return rows.assign(at=rows["epoch"] + rows["stage"].map(before))[COLUMNS].reset_index(drop=True)
