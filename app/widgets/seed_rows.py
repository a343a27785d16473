"""One row a seed: state, progress, last accuracy and what can be done about it."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from app.widgets import frame, look, run_actions
from app.widgets.opened import Opened
from app.widgets.progress import SeedProgress
from glt import formats
from glt.jobs.waiting import awaited
from glt.store import AnyRun, Run
from glt.store.liveness import ACTIVE

# Of a log's end, which is far more than the lines that are shown.
MOST_BYTES = 100_000


def row(found: Opened, run: Run, seed: SeedProgress) -> None:
    """Show one seed; a failed one can be tried again alone."""
    with st.container(key=f"seed-row-{seed.seed}", gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"seed {seed.seed}", width=64)
            with st.container(width=104):
                look.state_chip(seed.state)
            st.markdown(formats.percent(seed.accuracy) if seed.accuracy is not None else formats.MISSING, width=64)
            st.caption(frame.plain(_doing(found, run, seed)), width="stretch")
            if not run.is_example:
                with st.container(width=112):
                    _action(found, run, seed)
        if seed.state != "done":
            st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def _doing(found: Opened, run: Run, seed: SeedProgress) -> str:
    """Say what a seed does; one that has no place in the line yet says which run it waits for."""
    source = awaited(found.store, run.config, seed.seed) if seed.state == "queued" else None
    return seed.doing if source is None else f"waits for {source}"


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
        st.caption("No log: nothing was written to it.")


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
        if st.button("Stop", key=f"stop-{run.name}-{seed.seed}", type="tertiary", icon=":material/stop:"):
            run_actions.stop(run, [seed.seed])
    elif seed.state != "done":
        words = "Try again" if seed.state == "failed" else "Resume"
        if st.button(words, key=f"resume-{run.name}-{seed.seed}", type="tertiary", icon=":material/refresh:"):
            run_actions.resume(found, run, [seed.seed])
