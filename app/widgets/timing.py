"""Measured time and memory of a round: the command that measures, in a process of its own because it needs torch."""

from __future__ import annotations

from typing import Any

import pandas as pd
import psutil
import streamlit as st

from app.widgets import commands, computing, frame
from glt import formats
from glt.store import Run

ABOUT = (
    "Runs the network with masks multiplied in, with edges removed, and with sparse matrices, in turns on one "
    "thread. Sparse features alone, which take no pruning, are a row of their own."
)
EXAMPLES_CANNOT = "Examples keep no weights, so they cannot be timed: run the same settings in a store of your own."
# Of a network that took a minute on two cores at work; from the second measurement on, the last one tells.
USUAL_SECONDS = 60


def panel(run: Run, number: int, seed: int) -> None:
    """Show how to measure a round of a seed, and do it on request."""
    with st.popover("Latency", icon=":material/timer:", key=f"latency-{run.reference}", width="content"):
        st.markdown(ABOUT)
        if run.is_example:
            st.caption(EXAMPLES_CANNOT)
            return
        arguments = commands.line("latency", run, number, seed, "--json")
        st.code(commands.shown(arguments), language="bash", wrap_lines=True)
        what = f"round {number} of seed {seed}"
        if busy := busy_words():
            st.caption(f":material/speed: {busy}")
        task = computing.Task(f"Measure {what}", f"Measuring {what}", f"latency {run.reference}", USUAL_SECONDS)
        done = computing.ask(f"latency {run.path} {number} {seed}", task, commands.begin([*arguments, "--progress"]))
        if done is not None:
            report(done.answer())


def busy_words() -> str:
    """Say that other work would be measured too, where the machine has more of it than cores; "" where it has not."""
    load, cores = psutil.getloadavg()[0], psutil.cpu_count() or 1
    if load <= cores:
        return ""
    busy = f"{formats.fixed(load, 0)} at work on {formats.number_of(cores, 'core')}"
    return f"This machine is busy ({busy}): intervals will be wide."


def report(found: dict[str, Any]) -> None:
    """Show what `latency --json` printed."""
    if "error" in found:
        frame.failure(str(found["error"]))
        return
    st.table(as_read(found), border="horizontal", hide_index=True)
    st.markdown("\n".join(f"- {_sentence(frame.plain(compared['words']))}" for compared in found["compared"]))
    for note in found["notes"]:
        st.caption(frame.plain(note))
    disk = found["disk_bytes"]
    st.caption(
        f"Round {found['round']} of seed {found['seed']}: median of {found['repeats']} passes after "
        f"{found['warm_up']} for warm-up, {found['threads']} thread, "
        f"{frame.plain(found['machine'])}, PyTorch {frame.plain(found['torch'])}. Memory: what stays, plus the peak of "
        f"a pass. On disk the round takes {formats.file_size(disk['round'])}, the dense one "
        f"{formats.file_size(disk['dense'])}."
    )


def as_read(found: dict[str, Any]) -> pd.DataFrame:
    """Return one row an execution, as people read it."""
    rows = found["executions"]
    return pd.DataFrame(
        {
            "Execution": [_sentence(row["label"]) for row in rows],
            "Median": [formats.duration(row["median"]) for row in rows],
            "p10 to p90": [f"{formats.duration(row['p10'])} to {formats.duration(row['p90'])}" for row in rows],
            "Memory": [formats.file_size(row["memory"]) for row in rows],
        }
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
