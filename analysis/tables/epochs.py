"""The epochs of one round as a tidy table."""

from __future__ import annotations

import pandas as pd

from glt.store import Epochs

COLUMNS = ["stage", "epoch", "at", "loss", "val", "test"]


def epochs_table(epochs: Epochs) -> pd.DataFrame:
    """Return a row an epoch of a round, in order; an epoch computed anew after a resume stands once.

    Columns: `stage`, `epoch` (from 1, of the stage), `at` (from 1, of the round), `loss`, `val` and `test` (fractions).
    """
    columns = {name: getattr(epochs, name) for name in ("epoch", "loss", "val", "test")}
    stage = pd.Categorical.from_codes(epochs.stage, list(epochs.stages))
    rows = pd.DataFrame({"stage": stage, **columns}).drop_duplicates(["stage", "epoch"], keep="last")
    rows["epoch"] += 1
    lengths = rows.groupby("stage", sort=False, observed=True)["epoch"].max()
    before = (lengths.cumsum() - lengths).reindex(epochs.stages).to_numpy()
    at = rows["epoch"] + before[rows["stage"].cat.codes.to_numpy()] if len(rows) else rows["epoch"]
    return rows.assign(at=at.astype(int), stage=rows["stage"].astype(object))[COLUMNS].reset_index(drop=True)
