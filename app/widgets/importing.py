"""A ticket file that somebody brings: it is checked in a process of its own, and nothing of it is kept."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from app.widgets import computing, frame, imported
from glt import formats

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_MB, MOST_UNPACKED_MB = 200, 1000
FILE, GRAPH = "ticket.zip", "graph.npz"
UPLOADER, BROUGHT, NAME = "ticket-upload", "ticket file: check", "ticket file: name"
ABOUT = (
    f"A .zip as Download on a ticket's card and `python -m glt export` write it, up to {MOST_MB} MB "
    f"({formats.file_size(MOST_UNPACKED_MB * 10**6)} unpacked). Its checksums are compared, its network runs once more "
    "on the edges that are left, and every number that can be found again is held against what is found. Nothing in it "
    "is unpickled; it is forgotten when you close it or this tab."
)
TASK = computing.Task("Check it again", "Running the network", "import", 15)


def show() -> None:
    """Take a file, check it, and show what it is."""
    st.file_uploader("Ticket file", key=UPLOADER, max_upload_size=MOST_MB, on_change=_brought)
    st.caption(ABOUT)
    computation: computing.Computation | None = st.session_state.get(BROUGHT)
    name: str = st.session_state.get(NAME, "")
    if computation is None:
        return
    if computation.is_running:
        with st.container(border=True, key="checking"):
            computing.watch(computation, "import", f"Checking {frame.plain(name)}", TASK.expected)
    elif computation.stopped:
        st.caption("Stopped: give the file once more to check it.")
    else:
        _result(computation, name)


def _brought() -> None:
    """Begin to check a file that was just given; forget the one before."""
    file: UploadedFile | None = st.session_state.get(UPLOADER)
    close()
    if file is not None:
        st.session_state[BROUGHT], st.session_state[NAME] = checking(file.getvalue()), file.name


def close() -> None:
    """Forget the file that is open."""
    computation: computing.Computation | None = st.session_state.pop(BROUGHT, None)
    if computation is not None and computation.is_running:
        computation.stop()


def checking(content: bytes) -> computing.Computation:
    """Begin to check a ticket file; its sparse graph is what the check makes."""
    folder = tempfile.TemporaryDirectory(prefix="glt-import-")
    path, graph = Path(folder.name, FILE), Path(folder.name, GRAPH)
    path.write_bytes(content)
    limit = ["--most-mb", str(MOST_UNPACKED_MB)]
    return computing.Computation(["glt", "import", str(path), "--json", "--graph", str(graph), *limit], folder, GRAPH)


def _result(computation: computing.Computation, name: str) -> None:
    found = computation.answer()
    if "error" in found:
        frame.failure(said_of(str(found["error"]), name))
        return
    TASK.took(computation.seconds)
    imported.show(found, computation.made, name, close)


def said_of(sentence: str, name: str) -> str:
    """Return a sentence about the file as we keep it with the name under which it was brought.

    >>> said_of("/tmp/glt-import-x/ticket.zip is damaged.", "mine.zip")
    'mine.zip is damaged.'
    """
    return " ".join(name if word.endswith(f"/{FILE}") else word for word in sentence.split(" "))
