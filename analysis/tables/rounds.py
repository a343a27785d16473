"""Saved rounds of many runs, and the epochs of one round, as tidy tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from analysis.labels import objective_label, run_labels
from analysis.tables.captions import data_of
from glt.methods.admm import EDGES_CHANGED
from glt.store import MAC_CONVENTIONS, Epochs, RoundRecord, Run, annotations_of

RUN_COLUMNS = ("run", "label", "dataset", "task", "objective", "model", "method", "color", "data", "seed")
RECORD_COLUMNS = tuple(name for name in RoundRecord.model_fields if name not in ("macs", "notes"))
MAC_COLUMNS = tuple(f"macs_{convention}" for convention in MAC_CONVENTIONS)
# Notes of methods that become columns.
NOTE_COLUMNS = (EDGES_CHANGED,)
NUMBERS = ("seed", *RECORD_COLUMNS, *MAC_COLUMNS, *NOTE_COLUMNS)
COLUMNS = (*RUN_COLUMNS, *RECORD_COLUMNS, *MAC_COLUMNS, *NOTE_COLUMNS)


def rounds_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row per run, seed and finished round, in the order of `runs`.

    Columns: run, label, dataset, task, objective ("" where the task has only one), model, method, color (the user's
    choice, else ""), data (see `data_of`), seed, the fields of RoundRecord (fractions, seconds), macs_dense_features,
    macs_sparse_features, macs_published (counts; NaN where not recorded) and solver_edges_changed (kept edges that
    ADMM's start does not keep; NaN for other methods and older runs).
    """
    labels, annotations, data = run_labels(runs), annotations_of(runs), data_of(runs)
    rows = [
        row
        for run in runs
        for row in _rows(run, labels[run.reference], annotations[run.reference].color, data[run.reference])
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table if rows else table.astype(dict.fromkeys(NUMBERS, "float64"))


def _rows(run: Run, label: str, color: str, data: str) -> Iterator[dict[str, Any]]:
    config = run.config
    same = {"dataset": config.dataset, "task": config.task, "objective": objective_label(config)}
    same |= {"model": config.model, "method": config.method, "color": color, "data": data}
    for seed in run.seeds():
        for record in run.seed(seed).rounds():
            macs = {f"macs_{convention}": count for convention, count in record.macs.items()}
            # Faster than model_dump: a thousand runs have tens of thousands of rounds.
            fields = {**vars(record), **macs}
            notes = fields.pop("notes")
            del fields["macs"]
            fields |= {name: notes.get(name, math.nan) for name in NOTE_COLUMNS}
            yield {"run": run.reference, "label": label, **same, "seed": seed, **fields}


EPOCH_COLUMNS = ["stage", "epoch", "at", "loss", "val", "test"]


def epochs_table(epochs: Epochs) -> pd.DataFrame:
    """Return one row per epoch of a round, in order; an epoch computed again after a resume appears once.

    Columns: `stage`, `epoch` (from 1, of the stage), `at` (from 1, of the round), `loss`, `val` and `test` (fractions).
    """
    columns = {name: getattr(epochs, name) for name in ("epoch", "loss", "val", "test")}
    stage = pd.Categorical.from_codes(epochs.stage, list(epochs.stages))
    rows = pd.DataFrame({"stage": stage, **columns}).drop_duplicates(["stage", "epoch"], keep="last")
    rows["epoch"] += 1
    lengths = rows.groupby("stage", sort=False, observed=True)["epoch"].max()
    before = (lengths.cumsum() - lengths).reindex(epochs.stages).to_numpy()
    at = rows["epoch"] + before[rows["stage"].cat.codes.to_numpy()] if len(rows) else rows["epoch"]
    return rows.assign(at=at.astype(int), stage=rows["stage"].astype(object))[EPOCH_COLUMNS].reset_index(drop=True)
