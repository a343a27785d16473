"""Measuring with a bar that shows how far it is; a table is kept until one of its runs changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from analysis.measures import At, measurement_table
from app.widgets import reading
from glt.store import Run

KEPT = 32


def table_of(
    runs: Sequence[Run], number: int, null: bool, printed: Mapping[str, Mapping[str, float]] | None = None
) -> pd.DataFrame:
    """Return `measurement_table` of a round with the `printed` values, measured now or known from before."""
    known = _known()
    key = (tuple(reading.stamp(run) for run in runs), number, null, printed is None)
    if key not in known:
        bar = st.progress(0.0, "Measuring")

        def advance(share: float) -> None:
            bar.progress(share, "Measuring")

        try:
            known[key] = measurement_table(runs, At(round=number), null=null, published=printed, on_progress=advance)
        finally:
            bar.empty()
        for old in list(known)[:-KEPT]:
            known.pop(old, None)
    return known[key]


@st.cache_resource(show_spinner=False)
def _known() -> dict[object, pd.DataFrame]:
    """Return the tables of all sessions, oldest first."""
    return {}
