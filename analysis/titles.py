"""What a person calls runs and which colours they chose: it stands in place of what is computed, everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pandas as pd

from analysis import palette
from glt.store import AnyRun, Run, annotations_of


def with_titles(words: Mapping[str, str], runs: Iterable[AnyRun]) -> dict[str, str]:
    """Return the words for runs, by name, a person's titles in their place; equal ones get the end of the run's name.

    >>> with_titles({"a-1": "UGS"}, [])
    {'a-1': 'UGS'}
    """
    given = {name: said.title for name, said in annotations_of(runs).items() if said.title}
    told = {**words, **given}
    counts = Counter(told.values())
    return {name: _told_apart(name, text, name in given and counts[text] > 1) for name, text in told.items()}


def short_title(run: Run) -> str:
    """Return what to call a run where there is little room: its title, else its method."""
    return run.annotation.title or palette.label(run.config.method)


def own_styles(table: pd.DataFrame) -> dict[str, palette.Style]:
    """Return how each run looks that a person gave a colour; `table` has the columns run, method and color."""
    runs = table[["run", "method", "color"]].drop_duplicates("run").itertuples(index=False, name=None)
    return {run: palette.painted(method, color) for run, method, color in runs if color}


def _told_apart(name: str, text: str, is_double: bool) -> str:
    return f"{text} ({name.rsplit('-', 1)[-1]})" if is_double else text
