"""Shares of the causes of removals by round: the table, its mean over seeds, and sentences about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis import palette
from analysis.labels import run_labels
from glt import formats
from glt.lottery.graph import graph_of
from glt.methods.base import Cause
from glt.removal_causes import CAUSES, cuts_of, seed_source
from glt.store import Run, SeedRun

UNKNOWN = "unknown"
# From the data's own decision to no decision, as causes are stacked.
ORDER: tuple[Cause | None, ...] = ("gradient", "score", "solver", "random", "no gradient", None)
LABELS: dict[str, str] = {
    "gradient": "Gradient",
    "no gradient": "No gradient",
    "score": "Score",
    "random": "Random draw",
    "solver": "Solver",
    UNKNOWN: "Unknown",
}
# What removed all entries of a run, as the end of a sentence.
ALONE: dict[str, str] = {
    "gradient": "had a gradient",
    "no gradient": "had no gradient",
    "score": "was removed by its score",
    "random": "was drawn at random",
    "solver": "was removed by the solver",
    UNKNOWN: "has an unknown cause",
}
KEYS = ["run", "label", "method", "color", "round", "cause"]
COLUMNS = ["run", "label", "method", "color", "seed", "round", "cause", "entries", "removed", "share"]


def name_of(cause: Cause | None) -> str:
    """Return a cause in a table: its name, UNKNOWN for None."""
    return cause or UNKNOWN


def style_of(cause: str) -> palette.Style:
    """Return the look of a cause in a table."""
    return palette.cause_style(next(each for each in CAUSES if name_of(each) == cause))


def cause_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return a row per run, seed, round that removed entries, and cause that occurs in the run.

    Columns: run, label, method, color, seed, round, `cause` (UNKNOWN where it cannot be derived), `entries` (of the
    edge index, removed by this cause), `removed` (entries that the round removed), `share` (of them). Raises StoreError
    or DataError where a seed's rounds or graph cannot be read.
    """
    labels = run_labels(runs)
    parts = [_of_run(run, labels[run.reference]) for run in runs]
    # Columns of an empty table have no type of their own.
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=COLUMNS)


def _of_run(run: Run, label: str) -> pd.DataFrame:
    counts = {(seed, number): found for seed in run.seeds() for number, found in _counts(run.seed(seed))}
    occurring = [cause for cause in ORDER if any(cause in found for found in counts.values())]
    about = (run.reference, label, run.config.method, run.annotation.color)
    rows = [
        (*about, seed, number, name_of(cause), found.get(cause, 0), total, found.get(cause, 0) / total)
        for (seed, number), found in counts.items()
        for total in [sum(found.values())]
        for cause in occurring
        if total
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _counts(seed_run: SeedRun) -> Iterator[tuple[int, dict[Cause | None, int]]]:
    """Yield every pruned round with the number of entries that it removed by each cause."""
    graph = graph_of(seed_run)
    masks = map(seed_run.edge_mask, range(seed_run.whole_rounds()))
    for cuts in cuts_of(seed_run.config, graph, masks, seed_source(seed_run, graph)):
        yield cuts.round, cuts.counts()


def mean_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the means over seeds of a `cause_table`, a row per run, round and cause, in the order they are stacked.

    Columns: run, label, method, color, round, cause, `mean`, `low` and `high` (least and greatest share of a seed),
    `seeds`, `removed` (entries removed, mean), `top` (sum of the means up to this cause).
    """
    shares = table.groupby(KEYS, sort=False).agg(
        mean=("share", "mean"), low=("share", "min"), high=("share", "max"), seeds=("seed", "size"),
        removed=("removed", "mean"),
    )  # fmt: skip
    shares["top"] = shares.groupby(["run", "round"], sort=False)["mean"].cumsum()
    rows = shares.reset_index()
    order = rows["run"].map({run: place for place, run in enumerate(rows["run"].unique())})
    return rows.iloc[np.lexsort((rows["round"], order))].reset_index(drop=True)


def sentences(means: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on every run in a table of `mean_shares`."""
    for _, rows in means.groupby("run", sort=False):
        yield f"{rows['label'].iloc[0]}: {_finding(rows)}."


def _finding(rows: pd.DataFrame) -> str:
    occurring = [cause for cause in rows["cause"].unique() if (rows.loc[rows["cause"] == cause, "mean"] > 0).any()]
    if len(occurring) == 1:
        return f"every removed entry {ALONE[occurring[0]]}"
    last = rows[rows["round"] == rows["round"].max()]
    if occurring != ["gradient", "no gradient"]:
        parts = [f"{LABELS[row['cause']].lower()} {formats.percent(row['mean'])}" for row in last.to_dict("records")]
        return f"causes of the removals in round {last['round'].iloc[0]}: {', '.join(parts)}"
    noise = rows[rows["cause"] == "no gradient"].set_index("round")
    first, end = int(noise.index[noise["high"] > 0].min()), noise.iloc[-1]
    spread = f", {formats.percent(end['low'])} to {formats.percent(end['high'])}" if end["seeds"] > 1 else ""
    among = f" (mean of {end['seeds']} seeds{spread})" if end["seeds"] > 1 else " (one seed)"
    share = f"{formats.percent(end['mean'])} of the entries removed in round {noise.index[-1]} had no gradient{among}"
    return f"{share}, none before round {first}" if first > 1 else share
