"""One row a seed: state, progress, last accuracy and what can be done about it."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from app.widgets import frame, look, run_actions, waiting_line
from app.widgets.opened import Opened
from app.widgets.progress import SeedProgress
from glt import formats
from glt.store import AnyRun, Run
from glt.store.liveness import ACTIVE

# Of a log's end, which is far more than the lines that are shown.
MOST_BYTES = 100_000


def row(found: Opened, run: Run, seed: SeedProgress) -> None:
    """Show one seed; a failed one can be tried again alone."""
    line = "seed-done" if seed.state == "done" else "seed-open"
    with st.container(key=f"seed-row-{seed.seed}", gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{line}-{seed.seed}"):
            st.markdown(f"seed {seed.seed}", width=64)
            with st.container(width=104):
                look.state_chip(seed.state)
            st.markdown(formats.percent(seed.accuracy) if seed.accuracy is not None else formats.MISSING, width=64)
            st.caption(frame.plain(waiting_line.doing(found, run, seed)), width="stretch")
            if not run.is_example:
                with st.container(width=112):
                    _action(found, run, seed)
        if seed.state != "done":
            st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def log(run: AnyRun, lines: int) -> None:
    """Show the last lines of every seed's log that has any."""
    shown = False
    for seed in run.seeds():
        text = tail(run.seed(seed).log_path, lines)
        if text:
            st.caption(f"seed {seed}")
            st.code(text, language=None, height=180)
            shown = True
    if not shown:
        at_work = any(run.seed(seed).is_at_work() for seed in run.seeds())
        st.caption("Nothing yet: a run that works well writes nothing here." if at_work else "Nothing was written.")


def tail(path: Path, lines: int) -> str:
    """Return the last lines of a text file, "" when there is none or it is no plain file; a long one from its end."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - MOST_BYTES, 0))
        content = file.read(MOST_BYTES).decode(errors="replace")
    kept = content.splitlines(keepends=True)
    # The first one may be the end of a line.
    whole = kept if size <= MOST_BYTES else kept[1:]
    return "".join((whole or kept)[-lines:])


def _action(found: Opened, run: Run, seed: SeedProgress) -> None:
    if seed.state in ACTIVE:
        if st.button("Stop", key=f"stop-{run.reference}-{seed.seed}", type="tertiary", icon=":material/stop:"):
            run_actions.stop(run, [seed.seed])
    elif seed.state != "done":
        words = "Try again" if seed.state == "failed" else "Resume"
        if st.button(words, key=f"resume-{run.reference}-{seed.seed}", type="tertiary", icon=":material/refresh:"):
            run_actions.resume(found, run, [seed.seed])
