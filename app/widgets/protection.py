"""The server settings that SECURITY.md promises, and the refusal to serve anything without them.

Streamlit reads `.streamlit/config.toml` beside the main script, from whatever folder it is started. It does not find
that file through a link to the script or through another script that calls it; its defaults then hold, which listen on
every network address and collect statistics.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit import config

SETTINGS = Path(__file__).resolve().parents[1] / ".streamlit" / "config.toml"
# What keeps the app to this machine, its pages to themselves and uploads bounded.
OPTIONS = (
    "server.address",
    "server.allowedHosts",
    "server.corsAllowedOrigins",
    "server.enableCORS",
    "server.enableXsrfProtection",
    "server.enableStaticServing",
    "server.maxUploadSize",
    "server.maxMessageSize",
    "browser.gatherUsageStats",
    "client.showErrorDetails",
)
REFUSAL = (
    "GLT Studio was started without its protection, so it shows nothing: stop this server and start it with "
    "`make app`, `glt studio`, or `streamlit run` and the path of `app/main.py` itself, not a link to it or a copy."
)
# How Streamlit names options that the person who started it gave.
_CHOSEN = frozenset({"command-line argument or environment variable", "environment variable"})


def require() -> None:
    """End this run of the script with one sentence where the server lacks a protective setting."""
    if missing():
        st.error(REFUSAL, icon=":material/error:")
        st.stop()


def missing() -> list[str]:
    """Return the protective options that neither app/.streamlit/config.toml nor the start's own options set.

    An option on the command line or in an environment variable (`STREAMLIT_SERVER_ADDRESS`) is a choice and stays.
    Settings files of other folders are no such choice: they may be meant for another app.
    """
    return [option for option in OPTIONS if not _is_set(config.get_where_defined(option))]


def _is_set(source: str) -> bool:
    return source in _CHOSEN or (Path(source).is_absolute() and Path(source).resolve() == SETTINGS)
