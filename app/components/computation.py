"""A command run in a process of its own: progress, answer, failure, and a way to stop it."""

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

SECONDS_BETWEEN_LOOKS = 0.7
# A bar that only follows the clock stops below 100 %.
MOST_BY_CLOCK = 0.95
MOST_KEPT = 64


class Computation:
    """`python -m ARGUMENTS` in a process; its standard error holds shares done, or a sentence if it fails.

    What it writes as `made` into `folder` is kept as bytes; the folder is gone when it ends, however it ends.
    """

    def __init__(
        self, arguments: Sequence[str], folder: tempfile.TemporaryDirectory[str] | None = None, made: str = ""
    ) -> None:
        self.share, self.words, self.stopped, self.made = 0.0, "", False, b""
        self._begun, self._told, self._ended = time.monotonic(), 0.0, 0.0
        self._folder, self._file, self._printed = folder, made, ""
        # A pipe that nobody reads would block the command; a file takes any answer.
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
        """Why it failed, as a sentence; "" while it runs, when it is done or was stopped."""
        if self.is_running or self.stopped or self._process.returncode == 0:
            return ""
        return self.words or "The computation ended early: start it again."

    @property
    def seconds(self) -> float:
        """The time it took, or has taken so far."""
        return (self._ended or time.monotonic()) - self._begun

    def answer(self) -> dict[str, Any]:
        """Return the JSON document it printed, or {"error": sentence} if it printed none."""
        try:
            found: dict[str, Any] = json.loads(self._printed)
        except ValueError:
            return {"error": self.failure or "The computation printed nothing: start it again."}
        return found

    def progress(self, expected: float) -> tuple[float, float]:
        """Return the share done and the seconds left: as reported, else from the seconds that are `expected`."""
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
    """Offer to compute, show the progress, or say why it failed; rerun the page at the end.

    `key` names the result, so that all tabs look at one computation; `seconds` is about what it takes.
    """
    at_work = known(key)
    with st.container(key="computing", border=True, horizontal_alignment="center", gap="small"):
        if at_work is not None and at_work.is_running:
            watch(at_work, key, what, seconds)
            return
        if at_work is not None and at_work.failure:
            frame.failure(at_work.failure)
        st.subheader(f"{what} is not computed yet", anchor=False, width="content", text_alignment="center")
        st.caption(
            f"It takes about {formats.duration(seconds)} of one core, and is kept for the next time.", width="content"
        )
        if controls.pressed("Compute", "start-computing", key, type="primary", icon=":material/play_arrow:"):
            start(key, Computation(arguments))


@dataclass(frozen=True)
class Task:
    """A computation to offer: the words of its button and progress bar, and how long it usually takes.

    `kind` names tasks that take about equally long: after the first, one is expected to take what the last one took.
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
    """Offer a task and return its computation once it has ended.

    While it runs there are its progress and a way to stop it, and the rest of the page goes on.
    """
    at_work = known(key)
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
    """Keep a computation under a key that all tabs share, and rerun the page."""
    found = _computations()
    ended = [name for name, each in found.items() if not each.is_running]
    for name in ended[: -MOST_KEPT + 1]:
        found.pop(name, None)
    found[key] = computation
    st.rerun()


def known(key: str) -> Computation | None:
    """Return the computation under a key, running or ended."""
    return _computations().get(key)


def watch(computation: Computation, key: str, what: str, expected: float) -> None:
    """Show the progress of a computation, and rerun the page at its end; `key` names its widgets."""
    st.fragment(_watch, run_every=SECONDS_BETWEEN_LOOKS)(computation, key, what, expected)


def _watch(computation: Computation, key: str, what: str, expected: float) -> None:
    if not computation.is_running:
        st.rerun()
    share, left = computation.progress(expected)
    told = f"about {formats.duration(max(round(left), 1))} left" if left > 0 else "nearly there"
    st.progress(share, f"{what}: {formats.percent(share, 0)}, {told}")
    if st.button("Stop", icon=":material/stop:", key=f"stop-{key}"):
        computation.stop()
        computation.wait()
        st.rerun()


@st.cache_resource(show_spinner=False)
def _computations() -> dict[str, Computation]:
    """Return the computations of all sessions by the name of their result."""
    return {}


@st.cache_resource(show_spinner=False)
def _durations() -> dict[str, float]:
    """Return how many seconds the last command of each kind took on this machine."""
    return {}
