"""One damaged run does not take a picture of several away: it is left out, and said to be."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.widgets import frame
from glt.errors import StoreError
from glt.store import Run


def readable(runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose rounds can be read, with a sentence on each that cannot; all of them when none can."""
    damage = {run.reference: _damage(run) for run in runs}
    sound = [run for run in runs if not damage[run.reference]]
    if not sound:
        return list(runs)
    for sentence in filter(None, damage.values()):
        st.warning(frame.plain(f"Left out: {sentence}"), icon=":material/warning:")
    return sound


def _damage(run: Run) -> str:
    try:
        for seed in run.seeds():
            run.seed(seed).last_round()
    except StoreError as error:
        return str(error)
    return ""
