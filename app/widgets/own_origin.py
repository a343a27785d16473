"""Only pages of this very server open a session: Streamlit alone takes those of every other port of this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from streamlit import config
from streamlit.web.server.starlette import starlette_websocket

_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104  (compared with, not listened to)
# Streamlit's own answer, which stays asked; a release that names it otherwise leaves the look at each run.
_ASKED = "_is_origin_allowed"
_streamlits = getattr(starlette_websocket, _ASKED, None)


def only() -> None:
    """Refuse sessions to pages of other ports, and end this run of the script where one has opened its session.

    The first page a server shows comes here only by a session, so that the refusal begins with it.
    """
    if _streamlits is not None:
        setattr(starlette_websocket, _ASKED, _is_allowed)
    if not is_own(st.context.headers.get("Origin"), st.context.headers.get("Host")):
        st.stop()


def is_own(origin: str | None, host: str | None) -> bool:
    """Say whether a request of a page on this machine comes from the server that it is sent to.

    Pages of other machines are Streamlit's to refuse, and programs state no origin.

    >>> is_own("http://localhost:8501", "localhost:8501"), is_own("http://localhost:9999", "localhost:8501")
    (True, False)
    """
    if origin is None or origin in config.get_option("server.corsAllowedOrigins"):
        return True
    try:
        place = urlsplit(origin)
    except ValueError:
        return False
    return place.netloc == host or place.hostname not in _LOCAL


def _is_allowed(origin: str | None, host: str | None) -> bool:
    return _streamlits is not None and bool(_streamlits(origin, host)) and is_own(origin, host)
