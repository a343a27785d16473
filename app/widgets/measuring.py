"""Measuring with a bar that shows how far it is; a table is kept until one of its runs changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from analysis.measures import At, measurement_table, trend_table
from app.widgets import reading
from glt.store import Run

KEPT = 64

Advance = Callable[[float], None]


def table_of(
    runs: Sequence[Run],
    rounds: int | Sequence[int],
    null: bool,
    printed: Mapping[str, Mapping[str, float]] | None = None,
    slow: bool = False,
) -> pd.DataFrame:
    """Return `measurement_table` of one or several rounds with the `printed` values, measured now or known before."""
    numbers = (rounds,) if isinstance(rounds, int) else tuple(rounds)
    ats = [At(round=number) for number in numbers]

    def measure(advance: Advance) -> pd.DataFrame:
        return measurement_table(runs, ats, null=null, published=printed, slow=slow, on_progress=advance)

    return _kept(("table", reading.stamps(runs), numbers, null, printed is None, slow), measure)


def trend_of(runs: Sequence[Run], name: str, null: bool) -> pd.DataFrame:
    """Return `trend_table` of a measure, measured now or known before."""

    def measure(advance: Advance) -> pd.DataFrame:
        return trend_table(runs, name, null=null, on_progress=advance)

    return _kept(("trend", reading.stamps(runs), name, null), measure)


def _kept(key: object, measure: Callable[[Advance], pd.DataFrame]) -> pd.DataFrame:
    known = _known()
    if key not in known:
        bar = st.progress(0.0, "Measuring")

        def advance(share: float) -> None:
            bar.progress(share, "Measuring")

        try:
            known[key] = measure(advance)
        finally:
            bar.empty()
        for old in list(known)[:-KEPT]:
            known.pop(old, None)
    return known[key]


@st.cache_resource(show_spinner=False)
def _known() -> dict[object, pd.DataFrame]:
    """Return the tables of all sessions, oldest first."""
    return {}
