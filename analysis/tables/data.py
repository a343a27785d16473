"""Which data runs were computed on: graphs that share the name of a data set give scores that do not compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis import names
from glt.errors import ConfigError
from glt.store import Run

# Contents are told apart by so many letters of their hashes.
LETTERS = 8
AND = ", "


def data_of(runs: Sequence[Run]) -> dict[str, str]:
    """Return what tells the data of each run from that of the others, "" where all on its data set have the same.

    It is the beginning of the hash of the data's content, or several with commas where seeds of one run differ. Runs
    that recorded none are left out.
    """
    recorded = {run.reference: _recorded(run) for run in runs}
    of_set: dict[str, set[str]] = {}
    for run in runs:
        of_set.setdefault(run.config.dataset, set()).update(recorded[run.reference])
    several = {dataset for dataset, found in of_set.items() if len(found) > 1}
    return {run.reference: AND.join(recorded[run.reference]) if run.config.dataset in several else "" for run in runs}


def data_words(table: pd.DataFrame) -> str:
    """Say of a table with `dataset`, `data` and `run` which runs are on other data of one name; "" where none are."""
    return "; ".join(
        f"{names.dataset(dataset)} is not the same data in all runs ({_told(found)}), so that scores do not compare"
        for dataset, found in _mixed(table).items()
    )


def check_shared_data(table: pd.DataFrame, what: str) -> None:
    """Raise ConfigError when runs of a table are on other data of one name; `what` cannot hold them."""
    for dataset, found in _mixed(table).items():
        raise ConfigError(
            f"{what} cannot hold scores on different data under the name {names.dataset(dataset)}: {_told(found)}; "
            "choose runs on one of them."
        )


def _recorded(run: Run) -> list[str]:
    found = {run.seed(seed).data_hash() for seed in run.seeds()}
    return sorted(known[:LETTERS] for known in found if known)


def _mixed(table: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Return for every data set with several contents the runs of each, in the table's order."""
    found: dict[str, dict[str, list[str]]] = {}
    known = table.loc[table["data"] != "", ["dataset", "data", "run"]].drop_duplicates()
    for dataset, data, run in known.itertuples(index=False):
        found.setdefault(dataset, {}).setdefault(data, []).append(run)
    return {dataset: runs for dataset, runs in found.items() if len(runs) > 1 or AND in next(iter(runs))}


def _told(found: Mapping[str, Sequence[str]]) -> str:
    return " and ".join(f"{_runs(runs)} on content {data}" for data, runs in found.items())


def _runs(runs: Sequence[str]) -> str:
    return runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} more"
