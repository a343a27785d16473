"""Taking a round away: the sparse graph for other programs, and the ticket file that runs without this one."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from app.widgets import commands, frame
from glt import formats
from glt.export.graph_formats import GRAPH_FORMATS, GraphFormat
from glt.export.sparse_graph import SparseGraph
from glt.store import Run

SECONDS_AT_MOST = 300
EXAMPLES_CANNOT = (
    "Examples keep no weights, so there is no ticket file of this one: run the same settings in a store of your own, "
    "then it can be had here."
)


def panel(run: Run, number: int) -> None:
    """Offer a round of a run's first seed in every format."""
    with st.popover("Download", icon=":material/download:", key=f"download-{run.name}"):
        seed = run.first_seed().seed
        st.markdown(
            f"**Sparse graph** of round {number}, seed {seed}: what is left of the edges, with ids and classes."
        )
        with st.container(horizontal=True, gap="small"):
            for name, form in GRAPH_FORMATS.items():
                _graph(run, number, seed, name, form)
        st.caption("GraphML for Gephi and NetworkX, an edge list as CSV, a sparse matrix for SciPy.")
        st.markdown("**Ticket file**: weights, masks, theta_0, graph, settings and scores in one .zip.")
        if run.is_example:
            st.caption(EXAMPLES_CANNOT)
        else:
            _ticket(run, number, seed)


def _graph(run: Run, number: int, seed: int, name: str, form: GraphFormat) -> None:
    st.download_button(
        form.label,
        data=partial(graph_bytes, run, number, seed, name),
        file_name=f"{file_stem(run, number, seed)}{form.ending}",
        mime=form.media_type,
        on_click="ignore",
        key=f"download-{name}-{run.name}",
    )


def graph_bytes(run: Run, number: int, seed: int, name: str) -> bytes:
    """Return the sparse graph after a round of a seed in a format of GRAPH_FORMATS."""
    return GRAPH_FORMATS[name].write(SparseGraph.of(run.seed(seed), number))


def file_stem(run: Run, number: int, seed: int) -> str:
    """Return what a file of a round is called, without its ending."""
    return f"{run.name}-seed-{seed}-round-{number:02d}"


def _ticket(run: Run, number: int, seed: int) -> None:
    key = f"ticket {run.path} {number} {seed}"
    if st.button("Make the ticket file", key=f"make-ticket-{run.name}", icon=":material/inventory_2:"):
        with st.spinner("Computes its outputs once more; the first time takes some seconds to load torch"):
            st.session_state[key] = ticket_file(run, number, seed)
    made = st.session_state.get(key)
    if isinstance(made, str):
        frame.failure(made)
    elif made is not None:
        st.download_button(
            f"Download, {formats.file_size(len(made))}",
            data=made,
            file_name=f"{file_stem(run, number, seed)}.zip",
            mime="application/zip",
            on_click="ignore",
            key=f"download-ticket-{run.name}",
            type="primary",
        )
    st.caption("It runs in plain PyTorch Geometric (docs/ticket-file.md); `python -m glt import FILE` checks it.")


def ticket_file(run: Run, number: int, seed: int) -> bytes | str:
    """Return the ticket file of a round of a seed, or the sentence that says why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ticket.zip"
        arguments = commands.line("export", run, number, seed, "--out", str(path))
        return commands.fault(arguments, "export", SECONDS_AT_MOST) or path.read_bytes()
