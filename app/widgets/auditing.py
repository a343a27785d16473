"""The audit of a round: the command that does it, run in a process of its own because it needs torch."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.widgets import commands, computing, frame
from glt import formats
from glt.store import Run

EXAMPLES_CANNOT = "Examples keep no weights, so they cannot be audited: run the same settings in a store of your own."


def panel(run: Run, number: int, seed: int) -> None:
    """Show how to audit a round of a seed, and do it on request."""
    with st.popover("Audit", icon=":material/fact_check:", key=f"audit-{run.reference}"):
        st.markdown(
            "Deletes the pruned edges and weights for good, computes the network again and compares its outputs."
        )
        if run.is_example:
            st.caption(EXAMPLES_CANNOT)
            return
        arguments = commands.line("audit", run, number, seed, "--json")
        st.code(commands.shown(arguments), language="bash", wrap_lines=True)
        what = f"round {number} of seed {seed}"
        task = computing.Task(f"Audit {what}", f"Auditing {what}", f"audit {run.reference}", 10)
        done = computing.ask(f"audit {run.path} {number} {seed}", task, commands.begin(arguments))
        if done is not None:
            _report(done.answer(), what)


def _report(found: dict[str, Any], what: str) -> None:
    if "error" in found:
        frame.failure(str(found["error"]))
        return
    words = f"largest difference between outputs: {found['max_logit_difference']:.1e}"
    if found["passed"]:
        st.success(f"{what.capitalize()} passed; {words}.", icon=":material/check:")
    else:
        frame.failure(f"{what.capitalize()} failed; {words}, {found.get('why') or 'more than rounding explains'}.")
    edges, weights = (formats.count(found[f"{part}_deleted"]) for part in ("edge_entries", "weights"))
    scores = " and ".join(formats.percent(found[name]) for name in ("recorded_test", "test"))
    st.caption(f"{edges} edge entries and {weights} weights deleted; test score before and after: {scores}.")
