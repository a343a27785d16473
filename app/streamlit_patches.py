"""Streamlit internals: four patches, the check of server settings, a preload.

A patch replaces a function of Streamlit in this process only. Each names the upstream behaviour it works around;
`tests/app/test_streamlit_patches.py` shows every fault on the installed version and fails once Streamlit fixes it.
Patches apply to the versions in `VERSIONS`. With any other version the app runs unpatched and logs one warning.
The environment variable `GLT_STREAMLIT_PATCHES` overrides this: 0 applies none, 1 applies all to any version.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit import config, net_util
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.web.server.starlette import starlette_websocket

# The two pins of requirements.txt.
VERSIONS = ("1.65.0", "1.67.0")
SWITCH = "GLT_STREAMLIT_PATCHES"
LOCAL = "127.0.0.1"
_LOCAL_NAMES = ("localhost", LOCAL, "::1", "0.0.0.0")  # noqa: S104  (compared with, not listened to)
# Seconds until a script run that has ended is checked again for messages on their way.
RETRY = 0.02
_log = logging.getLogger(__name__)

# Streamlit's own functions, which the patches call.
_origin_allowed: Callable[..., bool] | None = getattr(starlette_websocket, "_is_origin_allowed", None)
_external_ip, _internal_ip = net_util.get_external_ip, net_util.get_internal_ip
_clear: Callable[..., None] = ForwardMsgQueue.clear
_create: Callable[..., None] = getattr(AppSession, "_create_scriptrunner", lambda *_: None)


@cache
def apply_patches() -> bool:
    """Apply all patches once for this process; return whether they were applied."""
    switch = os.environ.get(SWITCH, "")
    if switch == "0" or (switch != "1" and st.__version__ not in VERSIONS):
        _log.warning(
            "Streamlit %s runs unpatched (%s); patches are for %s. See app/streamlit_patches.py.",
            st.__version__,
            f"{SWITCH}=0" if switch == "0" else "unknown version",
            " and ".join(VERSIONS),
        )
        return False
    for patch in (patch_addresses, patch_origins, patch_message_queue, patch_script_runs):
        patch()
    return True


def patch_addresses() -> None:
    """Answer "127.0.0.1" for the addresses of this machine.

    Upstream: before it refuses a foreign origin, Streamlit asks checkip.amazonaws.com for this machine's address, so
    any page in the browser can make the server send a request.
    """
    net_util.get_external_ip = net_util.get_internal_ip = lambda: LOCAL


def patch_origins() -> None:
    """Refuse sessions opened by pages of other ports of this machine.

    Upstream: Streamlit accepts every origin whose host is local, whatever its port.
    """
    if (allowed := _origin_allowed) is not None:

        def both(origin: str | None, host: str | None) -> bool:
            return allowed(origin, host) and is_own_origin(origin, host)

        setattr(starlette_websocket, "_is_origin_allowed", both)  # noqa: B010  (private, so no plain assignment)


def patch_message_queue() -> None:
    """Keep the messages that wait to be sent when a fragment reruns.

    Upstream: the rerun drops the fragment's queued elements, which belong to the page where the whole page is still
    queued. The browser then moves later elements into their places, and the next rerun fails with "Cannot set a node
    at a delta path".
    """

    def clear(queue: Any, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None) -> None:
        if retain_lifecycle_msgs and fragment_ids_this_run:
            # New messages follow the queued ones instead of replacing them.
            queue._delta_index_map = {}
        else:
            _clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)

    setattr(ForwardMsgQueue, "clear", clear)  # noqa: B010


def patch_script_runs() -> None:
    """Start a script run only after all messages of the last one are sent.

    Upstream: a fragment that reruns just after a run has ended replaces the script runner; messages of the old runner
    that are still on their way are then ignored. With twenty users this broke live pages.
    """
    setattr(AppSession, "_create_scriptrunner", _create_when_free)  # noqa: B010


def _create_when_free(session: Any, rerun: Any) -> None:
    if session._state == AppSessionState.SHUTDOWN_REQUESTED:
        return
    # A run of the whole page has released the last runner already, and begins at once.
    if session._scriptrunner is None:
        _create(session, rerun)
    elif not session._scriptrunner.request_rerun(rerun):
        session._event_loop.call_later(RETRY, _create_when_free, session, rerun)


def require_own_origin() -> None:
    """Stop this script run if a page of another port opened the session; needs no patch."""
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


# Relative to the page's own script, wherever that is served.
_PRELOAD = """<script>{{
  const own = [...document.scripts].find(script => script.type === "module" && script.src);
  if (own) import(new URL({name}, own.src).href).catch(() => {{}});
}}</script>"""


def preload_charts() -> None:
    """Load Streamlit's chart script in the browser while the server imports."""
    scripts = Path(st.__file__).parent / "static" / "static" / "js"
    for script in scripts.glob("PlotlyChart.*.js"):
        st.html(_PRELOAD.format(name=json.dumps(script.name)), unsafe_allow_javascript=True)
