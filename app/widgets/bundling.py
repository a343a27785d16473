"""Making a reproduction bundle on the Export page: on demand, kept until its runs or choices change."""

from __future__ import annotations

import io
import zipfile

import pandas as pd
import streamlit as st

from analysis.begun import with_rounds
from analysis.export import FigureChoices, bundle_bytes, lost_sources
from app.widgets import controls, frame, reading
from glt import formats
from glt.store import Run

MADE = "export: bundle"
HEIGHT = 520
ABOUT = "Figures, tables, the numbers behind them, settings, environments, and the commands that make it all again."
AT_WORK = "Draws the figures and measures the graphs; one never measured before takes up to a minute"


def made(runs: list[Run], choices: FigureChoices) -> bytes | None:
    """Return the bundle of these runs and choices, None until the reader has asked for it."""
    state = reading.stamps(runs), repr(choices)
    known, content = st.session_state.get(MADE, (None, None))
    if known == state:
        return bytes(content)
    st.caption(ABOUT)
    asked = controls.pressed(
        "Make the bundle", "make-bundle", repr(state), type="primary", icon=":material/folder_zip:"
    )
    if asked:
        with st.spinner(AT_WORK):
            st.session_state[MADE] = state, bundle_bytes(runs, choices)
        st.rerun()
    return None


def contents(bundle: bytes, runs: list[Run]) -> None:
    """Show which files are in a bundle of these runs, its README, and what its commands cannot compute anew."""
    for sentence in lost_sources(with_rounds(runs)):
        st.warning(frame.plain(sentence), icon=":material/warning:")
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        sizes = [{"File": entry.filename, "Size": formats.file_size(entry.file_size)} for entry in archive.infolist()]
        readme = archive.read("README.md").decode()
    listing, told = st.columns([1, 1.6], gap="medium")
    listing.dataframe(pd.DataFrame(sizes), hide_index=True, height=HEIGHT)
    told.code(readme, language="markdown", height=HEIGHT, wrap_lines=True)
