"""A store that the session saw and that is gone: pages would change to the examples without a word."""

from __future__ import annotations

import streamlit as st

from app.widgets import frame, opened
from glt.errors import ConfigError

_SEEN = "store: seen"


def tell() -> None:
    """Say so where the store that this session saw is gone; a store that no run has made yet is none of these."""
    try:
        root = opened.store_root().absolute()
    except ConfigError:
        # The page says itself that the folder cannot be used.
        return
    if root.is_dir():
        st.session_state[_SEEN] = str(root)
    elif st.session_state.get(_SEEN) == str(root):
        frame.failure(f"The store {root} is no longer there: put it back, or go on with the examples alone.")
