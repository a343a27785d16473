"""A command that computes in a process of its own: how far it is, what went wrong, and how to stop it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence

import streamlit as st

from app.widgets import frame
from glt import formats

SECONDS_BETWEEN_LOOKS = 0.7


class Computation:
    """`python -m ARGUMENTS`, whose lines on standard error are shares done, or a sentence when it fails."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.share, self.words, self.stopped = 0.0, "", False
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Whether it is still at work."""
        return self._reader.is_alive()

    @property
    def failure(self) -> str:
        """The sentence that says why it ended early; "" while it runs, when it is done or was stopped."""
        if self.is_running or self.stopped or self._process.returncode == 0:
            return ""
        return self.words or "The computation ended early: start it again."

    def stop(self) -> None:
        """End it."""
        self.stopped = True
        self._process.terminate()

    def wait(self) -> None:
        """Wait for its end."""
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._note(line)
        self._process.wait()

    def _note(self, line: str) -> None:
        try:
            self.share = min(max(float(line), 0.0), 1.0)
        except ValueError:
            self.words = line.strip() or self.words


def panel(key: str, arguments: Sequence[str], what: str, seconds: float) -> None:
    """Offer to compute, show a computation at work with its end in sight, or say why it failed; then run again.

    `key` names the result, so that all tabs look at one computation; `seconds` is about what it takes.
    """
    known = _computations()
    with st.container(key="computing", border=True, horizontal_alignment="center", gap="small"):
        if key in known and known[key].is_running:
            st.fragment(_watch, run_every=SECONDS_BETWEEN_LOOKS)(known[key], what)
            return
        if key in known and known[key].failure:
            frame.failure(known[key].failure)
        st.subheader(f"{what} is not computed yet", anchor=False, width="content", text_alignment="center")
        st.caption(
            f"It takes about {formats.duration(seconds)} of one core, and is kept for the next time.", width="content"
        )
        if st.button("Compute", type="primary", icon=":material/play_arrow:", key="start-computing"):
            known[key] = Computation(arguments)
            st.rerun()


def _watch(computation: Computation, what: str) -> None:
    if not computation.is_running:
        st.rerun()
    st.progress(computation.share, f"{what}: {formats.percent(computation.share, 0)}")
    if st.button("Stop", icon=":material/stop:", key="stop-computing"):
        computation.stop()
        computation.wait()
        st.rerun()


@st.cache_resource(show_spinner=False)
def _computations() -> dict[str, Computation]:
    """Return the computations of all sessions by the name of their result."""
    return {}
