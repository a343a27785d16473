"""A command in a process of its own: progress, answer, failure, stop."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st

from app.components import controls, frame
from glt import formats
from glt.formats import own_environment

SECONDS_BETWEEN_READINGS = 0.7
# A progress bar by elapsed time stops below 100 %.
MOST_BY_CLOCK = 0.95
MOST_KEPT = 64


class Computation:
    """`python -m ARGUMENTS` in a process.

    Standard error holds shares done, or a sentence if it fails. The file `made` in `folder` is kept as bytes; the
    folder is deleted at the end.
    """

    def __init__(
        self, arguments: Sequence[str], folder: tempfile.TemporaryDirectory[str] | None = None, made: str = ""
    ) -> None:
        self.share, self.words, self.stopped, self.made = 0.0, "", False, b""
        self._begun, self._told, self._ended = time.monotonic(), 0.0, 0.0
        self._folder, self._file, self._printed = folder, made, ""
        # A full pipe would block the command; a file takes any answer.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env=own_environment(),
            stdout=self._output,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Whether it still runs."""
        return self._reader.is_alive()

    @property
    def failure(self) -> str:
        """Why it failed, as a sentence; "" if it did not (yet) or was stopped."""
        if self.is_running or self.stopped or self._process.returncode == 0:
            return ""
        return self.words or "The computation ended unexpectedly: start it again."

    @property
    def seconds(self) -> float:
        """The time it took, or has taken so far."""
        return (self._ended or time.monotonic()) - self._begun

    def answer(self) -> dict[str, Any]:
        """Return its JSON document, or {"error": sentence} if there is none."""
        try:
            document: dict[str, Any] = json.loads(self._printed)
        except ValueError:
            return {"error": self.failure or "The computation gave no answer: start it again."}
        return document

    def progress(self, expected: float) -> tuple[float, float]:
        """Return the share done and the seconds left, as reported or `expected`."""
        if self.share:
            pace = (time.monotonic() - self._told) / self.share
            return self.share, pace * (1 - self.share)
        return min(self.seconds / expected, MOST_BY_CLOCK), max(expected - self.seconds, 0.0)

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
        self._ended = time.monotonic()
        with self._output as output:
            output.seek(0)
            self._printed = output.read().decode(errors="replace")
        if self._folder is not None:
            made = Path(self._folder.name, self._file)
            self.made = made.read_bytes() if made.is_file() else b""
            self._folder.cleanup()

    def _note(self, line: str) -> None:
        try:
            self.share = min(max(float(line), 0.0), 1.0)
        except ValueError:
            self.words = line.strip() or self.words
            return
        self._told = self._told or time.monotonic()


def panel(key: str, arguments: Sequence[str], what: str, seconds: float) -> None:
    """Offer to compute, or show progress or failure; rerun the page at the end.

    `key` names the result, so that all tabs share one computation; `seconds` is the expected time.
    """
    at_work = _computations().get(key)
    with st.container(key="computing", border=True, horizontal_alignment="center", gap="small"):
        if at_work is not None and at_work.is_running:
            watch(at_work, key, what, seconds)
            return
        if at_work is not None and at_work.failure:
            frame.failure(at_work.failure)
        st.subheader(f"{what}: not computed yet", anchor=False, width="content", text_alignment="center")
        st.caption(f"Takes about {formats.duration(seconds)} on one core. The result is kept.", width="content")
        if controls.pressed("Compute", "start-computing", key, type="primary", icon=":material/play_arrow:"):
            start(key, Computation(arguments))


@dataclass(frozen=True)
class Task:
    """A computation to offer: button, progress text, expected seconds.

    `kind` names tasks of similar duration: after the first, the last one's time is expected.
    """

    words: str
    what: str
    kind: str
    usual: float

    @property
    def expected(self) -> float:
        """The expected duration in seconds."""
        return _durations().get(self.kind, self.usual)

    def took(self, seconds: float) -> None:
        """Note how long one took."""
        _durations()[self.kind] = seconds


def ask(key: str, task: Task, begin: Callable[[], Computation]) -> Computation | None:
    """Offer a task, show its progress, and return its computation once it has ended."""
    at_work = _computations().get(key)
    if at_work is not None and at_work.is_running:
        watch(at_work, key, task.what, task.expected)
        return None
    if st.button(task.words, key=f"start-{key}", type="primary"):
        start(key, begin())
    if at_work is None or at_work.stopped:
        st.caption("Stopped." if at_work else f"Takes about {formats.duration(round(task.expected))} here.")
        return None
    task.took(at_work.seconds)
    return at_work


def start(key: str, computation: Computation) -> NoReturn:
    """Keep a computation under a key shared by all tabs, and rerun the page."""
    computations = _computations()
    ended = [name for name, other in computations.items() if not other.is_running]
    for name in ended[: -MOST_KEPT + 1]:
        computations.pop(name, None)
    computations[key] = computation
    st.rerun()


def watch(computation: Computation, key: str, what: str, expected: float) -> None:
    """Show progress, and rerun the page at the end; `key` names the widgets."""
    st.fragment(_watch, run_every=SECONDS_BETWEEN_READINGS)(computation, key, what, expected)


def _watch(computation: Computation, key: str, what: str, expected: float) -> None:
    if not computation.is_running:
        st.rerun()
    share, left = computation.progress(expected)
    remaining = f"about {formats.duration(max(round(left), 1))} left" if left > 0 else "almost done"
    st.progress(share, f"{what}: {formats.percent(share, 0)}, {remaining}")
    if st.button("Stop", icon=":material/stop:", key=f"stop-{key}"):
        computation.stop()
        computation.wait()
        st.rerun()


@st.cache_resource(show_spinner=False)
def _computations() -> dict[str, Computation]:
    return {}


@st.cache_resource(show_spinner=False)
def _durations() -> dict[str, float]:
    return {}
