"""Launch's choice of whose masks are taken, for methods that read a finished run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app.widgets import controls, pickers
from app.widgets.opened import Opened, setting
from glt.methods import METHODS
from glt.store import Run

FIELD = "masks_of"


def pick(found: Opened, wanted: Mapping[str, str], methods: Sequence[str]) -> dict[str, str]:
    """Show the choice where a chosen method needs it and return it as a filled setting; empty while none is chosen."""
    reading = [name for name in methods if FIELD in METHODS.get(name).Options.model_fields]
    if not reading:
        return {}
    offered = _offered(found, wanted)
    words = {"": "Choose a run", **pickers.run_words(offered)}
    if gone := pickers.gone_from(FIELD, words):
        # What was asked for stays asked for, so that no run starts otherwise than it was meant to.
        pickers.tell_gone(FIELD)
        return {FIELD: gone[0]}
    if not offered:
        st.caption("Random tickets need a finished run of your own on this data set, task and network.")
        return {}
    chosen = controls.optional(FIELD, "Masks of", words, help="The finished run whose masks are trained anew.")
    return {FIELD: chosen} if chosen else {}


def _offered(found: Opened, wanted: Mapping[str, str]) -> list[Run]:
    subject = (wanted["dataset"], wanted["task"], wanted["model"])
    alike = [run for run in pickers.with_rounds(found.own) if setting(run.config) == subject]
    return [run for run in alike if not METHODS.get(run.config.method).reads_runs]
