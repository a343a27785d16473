"""Streamlit internals: four patches and a preload.

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

import streamlit as st
from streamlit import net_util
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.web.server.starlette import starlette_websocket

from app.protection import LOCAL, is_own_origin

# The two pins of requirements.txt.
VERSIONS = ("1.65.0", "1.67.0")
SWITCH = "GLT_STREAMLIT_PATCHES"
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
