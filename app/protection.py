"""What keeps the app on this machine: the server's settings, and sessions of its own pages only.

A script run asks both before it shows anything. Neither needs a patch of Streamlit.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from streamlit import config

LOCAL = "127.0.0.1"
_LOCAL_NAMES = ("localhost", LOCAL, "::1", "0.0.0.0")  # noqa: S104  (compared with, not listened to)
# What keeps the app on this machine, its pages separate from others, and uploads bounded.
SETTINGS = Path(__file__).resolve().parent / ".streamlit" / "config.toml"
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
    "GLT Studio was started without its protective settings, so it shows nothing. Stop this server and start it with "
    "`make app`, `glt studio`, or `streamlit run` and the path of `app/main.py` itself, not a link or copy."
)
# Streamlit's names for the options that were given at the start.
_GIVEN = frozenset({"command-line argument or environment variable", "environment variable"})


def require_own_origin() -> None:
    """Stop this script run if a page of another port opened the session."""
    if not is_own_origin(st.context.headers.get("Origin"), st.context.headers.get("Host")):
        st.stop()


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Return whether a request from this machine has the server's own origin.

    Streamlit itself refuses pages of other machines; programs send no origin.

    >>> is_own_origin("http://localhost:8501", "localhost:8501"), is_own_origin("http://localhost:9", "localhost:8501")
    (True, False)
    """
    if origin is None or origin in config.get_option("server.corsAllowedOrigins"):
        return True
    try:
        place = urlsplit(origin)
    except ValueError:
        return False
    return place.netloc == host or place.hostname not in _LOCAL_NAMES


def require_protection() -> None:
    """Stop this script run with one sentence if the server lacks a protective setting.

    Streamlit reads `.streamlit/config.toml` beside the main script, from any folder, but not through a link to the
    script or another script that calls it. Its defaults listen on every network address and collect statistics.
    """
    if missing_protection():
        st.error(REFUSAL, icon=":material/error:")
        st.stop()


def missing_protection() -> list[str]:
    """Return the protective options that neither app/.streamlit/config.toml nor the start itself sets.

    An option on the command line or in an environment variable (`STREAMLIT_SERVER_ADDRESS`) is a choice and stays.
    Settings files of other folders do not count: they may be meant for another app.
    """
    sources = {option: config.get_where_defined(option) for option in OPTIONS}
    return [
        option
        for option, source in sources.items()
        if source not in _GIVEN and not (Path(source).is_absolute() and Path(source).resolve() == SETTINGS)
    ]
