"""A person's own words about a run: title, note, colour, and whether it is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.widgets import frame
from app.widgets.opened import Opened
from glt.errors import StudioError
from glt.store import COLORS, AnyRun

ABOUT = "Kept beside the runs; the run itself, its name and its results stay as they are."
ABOUT_COLOR = (
    "Its colour in every figure; none is its method's own. The colour of another method is drawn in a shade of its own."
)
ABOUT_HIDING = "Hidden runs stand at the end of the list and are not offered elsewhere; nothing is deleted."
FIELDS = ("title", "note", "color")


def editor(found: Opened, run: AnyRun, computed: str) -> None:
    """Offer to name a run (`computed` is what it is called without), note something, colour it, or hide it."""
    said = run.annotation
    _settle(run)
    saved = st.session_state.setdefault(_saved_key(run), 0)
    # Under another key it is another popover, which begins closed: Streamlit has no word for closing one.
    with st.popover("Annotate", icon=":material/edit_note:", key=f"annotate-{saved}-{run.reference}"):
        with st.form(f"annotation-{run.reference}", border=False):
            keys = {field: f"annotation-{field}-{run.reference}" for field in FIELDS}
            title = st.text_input("Title", key=keys["title"], placeholder=computed, width=420)
            note = st.text_area("Note", key=keys["note"], height=110, width=420)
            color = st.pills("Colour", COLORS, key=keys["color"], help=ABOUT_COLOR, width=420)
            if st.form_submit_button("Save", type="primary", key=f"save-annotation-{run.reference}"):
                _save(found, run, {"title": title or "", "note": note or "", "color": color or ""})
        st.caption(ABOUT)
        words, icon = ("Show again", "visibility") if said.hidden else ("Hide", "visibility_off")
        if st.button(words, key=f"hide-{run.reference}", icon=f":material/{icon}:", help=ABOUT_HIDING):
            _save(found, run, {"hidden": not said.hidden})


def note(run: AnyRun) -> None:
    """Show what a person noted about a run, if anything."""
    if run.annotation.note:
        with st.container(key="note"):
            st.markdown(frame.plain_lines(run.annotation.note))


def damage(found: Opened) -> None:
    """Say in one sentence what of the annotations cannot be read."""
    if told := found.store.annotations().damage:
        st.warning(frame.plain(told), icon=":material/warning:")


def _settle(run: AnyRun) -> None:
    """Have the fields begin with what is said now, whoever said it, and keep what is being typed otherwise."""
    said, key = run.annotation, f"annotation: {run.reference}"
    if st.session_state.get(key) != said:
        st.session_state[key] = said
        for field in FIELDS:
            st.session_state[f"annotation-{field}-{run.reference}"] = getattr(said, field) or (
                None if field == "color" else ""
            )


def _save(found: Opened, run: AnyRun, changes: Mapping[str, Any]) -> None:
    try:
        _, told = found.store.annotate(run.annotation_key, changes)
    except StudioError as error:
        frame.failure(str(error))
        return
    st.session_state[_saved_key(run)] += 1
    if told:
        st.toast(frame.plain(told), icon=":material/warning:", duration="long")
    else:
        st.toast("Saved", icon=":material/check:")
    st.rerun()


def _saved_key(run: AnyRun) -> str:
    return f"annotations saved: {run.reference}"
