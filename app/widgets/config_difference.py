"""In what two runs differ: settings, what only one of them uses, and what they were computed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from analysis.comparing import EnvironmentDifference, environment_differences, setting_differences
from analysis.comparing.settings import setting_text
from app.widgets import frame
from glt import formats
from glt.store import Run

NOT_RECORDED = "not recorded"


def show(one: Run, other: Run, first: str, second: str) -> None:
    """Show the tables; `first` and `second` are the labels of the runs."""
    found = setting_differences(one.config, other.config)
    st.markdown("**Settings that differ**")
    if found.rows:
        rows = [[row.setting, row.one_words, row.other_words] for row in found.rows]
        _table("settings", rows, first, second)
    else:
        st.caption("None that both use.")
    st.caption(f"{formats.number_of(found.same, 'setting')} that both use {_are(found.same)} the same.")
    for label, used in ((first, found.only_one), (second, found.only_other)):
        if used:
            st.caption(frame.plain(f"Used by {label} only: {_listed(used)}."))
    _environments(environment_differences(one, other), first, second)


def _environments(found: Sequence[EnvironmentDifference], first: str, second: str) -> None:
    if not found:
        st.caption("Recorded with the same versions, threads, device and data.")
        return
    st.markdown("**Computed with**")
    rows = [[each.what, *(", ".join(side) or NOT_RECORDED for side in (each.one, each.other))] for each in found]
    _table("environments", rows, first, second)


def _table(key: str, rows: Sequence[Sequence[str]], first: str, second: str) -> None:
    columns = ["", first, second if second != first else f"{second} "]
    cells = [[frame.plain(cell) for cell in row] for row in rows]
    with st.container(key=f"differences-{key}"):
        st.table(pd.DataFrame(cells, columns=list(map(frame.plain, columns))), border="horizontal", hide_index=True)


def _listed(used: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {setting_text(name, value)}" for name, value in used.items())


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
