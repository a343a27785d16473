"""Pages come whole: Streamlit alone loses parts of one when a live part asks while the server is busy sending it.

Both losses leave a page that its next live part breaks ("Cannot set a node at a delta path"). They were seen with
twenty people on live pages. A third loss, of messages that a browser has forgotten, is prevented by
`app/.streamlit/config.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

# Seconds until a run that has ended is looked at again, whether what it said has been taken.
AGAIN = 0.02
# Streamlit's own, which stay asked. Which of its names this goes by is pinned by tests/app/test_whole_pages.py.
_clear: Callable[..., None] = ForwardMsgQueue.clear
_create: Callable[..., None] = AppSession._create_scriptrunner


def keep() -> None:
    """Have every session of this server send all that a page consists of."""
    setattr(ForwardMsgQueue, _clear.__name__, _drop_nothing_of_others)
    setattr(AppSession, _create.__name__, _begin_after_the_last)


def _drop_nothing_of_others(
    queue: Any, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
) -> None:
    """Keep what waits to be sent when a live part begins.

    Streamlit would drop that part's elements, which are the page's own where the whole page still waits, and send
    that the page is complete: the browser then moves what follows into their places.
    """
    if retain_lifecycle_msgs and fragment_ids_this_run:
        # What comes now is of another run: it must follow what waits, not take its place in the row.
        queue._delta_index_map = {}
    else:
        _clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)


def _begin_after_the_last(session: Any, wanted: Any) -> None:
    """Begin a run once all that the last one said has been taken.

    A run whose thread has ended can still have messages on their way; Streamlit would no longer take them when a live
    part asks in this moment. A run of the whole page has let go of the last one before, and begins at once.
    """
    if session._state == AppSessionState.SHUTDOWN_REQUESTED:
        return
    if session._scriptrunner is None:
        _create(session, wanted)
    elif not session._scriptrunner.request_rerun(wanted):
        session._event_loop.call_later(AGAIN, _begin_after_the_last, session, wanted)
