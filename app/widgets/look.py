"""Which theme the reader sees, and the words and colours of states."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from glt.store import State

BadgeColor = Literal["gray", "blue", "green", "orange", "red", "violet"]

STATE_LOOKS: dict[State, tuple[BadgeColor, str]] = {
    "queued": ("gray", ":material/schedule:"),
    "running": ("blue", ":material/play_arrow:"),
    "done": ("green", ":material/check:"),
    "stopped": ("orange", ":material/pause:"),
    "failed": ("red", ":material/error:"),
    "lost": ("red", ":material/link_off:"),
}


def is_dark() -> bool:
    """Say whether the reader sees the dark theme."""
    return st.context.theme.type == "dark"


def state_chip(state: State) -> None:
    """Show a state as a small coloured chip with its word and icon."""
    color, icon = STATE_LOOKS[state]
    st.badge(state, color=color, icon=icon)
