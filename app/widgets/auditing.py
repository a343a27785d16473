"""The audit of a round: the command that does it, run in a process of its own because it needs torch."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.widgets import commands, frame
from glt.store import Run

SECONDS_AT_MOST = 300
EXAMPLES_CANNOT = "Examples keep no weights, so they cannot be audited: run the same settings in a store of your own."


def panel(run: Run, number: int) -> None:
    """Show how to audit a round of a run's first seed, and do it on request."""
    with st.popover("Audit", icon=":material/fact_check:", key=f"audit-{run.name}"):
        st.markdown(
            "Deletes the pruned edges and weights for good, computes the network again and compares its outputs."
        )
        if run.is_example:
            st.caption(EXAMPLES_CANNOT)
            return
        seed = run.first_seed().seed
        st.code(commands.shown(_line(run, number, seed)), language="bash", wrap_lines=True)
        key = f"audited {run.path} {number} {seed}"
        if st.button(f"Audit round {number} of seed {seed}", key=f"start-audit-{run.name}", type="primary"):
            with st.spinner("Computes the network twice; the first time takes some seconds to load torch"):
                st.session_state[key] = commands.answer(_line(run, number, seed), "audit", SECONDS_AT_MOST)
        if key in st.session_state:
            _report(st.session_state[key])


def _line(run: Run, number: int, seed: int) -> list[str]:
    return commands.line("audit", run, number, seed, "--json")


def _report(found: dict[str, Any]) -> None:
    if "error" in found:
        frame.failure(str(found["error"]))
        return
    words = f"largest difference between outputs: {found['max_logit_difference']:.1e}"
    if found["passed"]:
        st.success(f"Passed; {words}.", icon=":material/check:")
    else:
        frame.failure(f"Failed; {words}, {found.get('why') or 'more than rounding explains'}.")
