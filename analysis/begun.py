"""Runs with a finished round, and the one sentence for those without: a damaged table of rounds is named instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glt.errors import StoreError
from glt.store import Run, finished_rounds

if TYPE_CHECKING:
    import pandas as pd


def with_rounds(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have a finished round; raises StoreError where none has, or where none can be read."""
    found = [run for run in runs if finished_rounds(run)]
    if not found:
        for run in runs:
            for seed in run.seeds():
                run.seed(seed).rounds()
        raise _none()
    return found


def must_have_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row a round; raises StoreError for one without any."""
    if table.empty:
        raise _none()
    return table


def last_common_round(runs: Sequence[Run]) -> int:
    """Return the last round that all seeds of all runs have; raises StoreError where one has none."""
    last = [len(run.seed(seed).rounds()) - 1 for run in runs for seed in run.seeds()]
    if not last or min(last) < 0:
        raise _none()
    return min(last)


def _none() -> StoreError:
    return StoreError("These runs have no finished round yet: wait for round 0, or choose other runs.")
