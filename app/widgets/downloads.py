"""Taking a round away: the sparse graph for other programs, and the ticket file that runs without this one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from app.widgets import commands, computing, frame
from glt import formats
from glt.export.graph_formats import GRAPH_FORMATS
from glt.export.sparse_graph import SparseGraph
from glt.store import Run

TICKET = "ticket.zip"
EXAMPLES_CANNOT = (
    "Examples keep no weights, so there is no ticket file of this one: run the same settings in a store of your own, "
    "then it can be had here."
)


def panel(run: Run, number: int, seed: int) -> None:
    """Offer a round of a seed in every format."""
    with st.popover("Download", icon=":material/download:", key=f"download-{run.reference}"):
        st.markdown(
            f"**Sparse graph** of round {number}, seed {seed}: what is left of the edges, with ids and classes."
        )
        graph_buttons(partial(graph_bytes, run, number, seed), file_stem(run, number, seed), run.reference)
        st.caption("GraphML for Gephi and NetworkX, an edge list as CSV, a sparse matrix for SciPy.")
        st.markdown("**Ticket file**: weights, masks, theta_0, graph, settings and scores in one .zip.")
        if run.is_example:
            st.caption(EXAMPLES_CANNOT)
        else:
            _ticket(run, number, seed)


def graph_buttons(make: Callable[[str], bytes], stem: str, key: str) -> None:
    """Offer a sparse graph in every format: `make` writes it in the one that is asked for."""
    with st.container(horizontal=True, gap="small"):
        for name, form in GRAPH_FORMATS.items():
            st.download_button(
                form.label,
                data=partial(make, name),
                file_name=f"{stem}{form.ending}",
                mime=form.media_type,
                on_click="ignore",
                key=f"download-{name}-{key}",
            )


def graph_bytes(run: Run, number: int, seed: int, name: str) -> bytes:
    """Return the sparse graph after a round of a seed in a format of GRAPH_FORMATS."""
    return GRAPH_FORMATS[name].write(SparseGraph.of(run.seed(seed), number))


def file_stem(run: Run, number: int, seed: int) -> str:
    """Return what a file of a round is called, without its ending."""
    return f"{run.reference.replace('/', '-')}-seed-{seed}-round-{number:02d}"


def _ticket(run: Run, number: int, seed: int) -> None:
    what = f"round {number} of seed {seed}"
    task = computing.Task("Make the ticket file", f"Computing the outputs of {what}", f"export {run.reference}", 8)
    done = computing.ask(f"ticket {run.path} {number} {seed}", task, lambda: ticket_file(run, number, seed))
    if done is not None and done.failure:
        frame.failure(done.failure)
    elif done is not None:
        st.download_button(
            f"Download, {formats.file_size(len(done.made))}",
            data=done.made,
            file_name=f"{file_stem(run, number, seed)}.zip",
            mime="application/zip",
            on_click="ignore",
            key=f"download-ticket-{run.reference}",
            type="primary",
        )
    st.caption("It runs in plain PyTorch Geometric (docs/ticket-file.md); From a file, above, checks one.")


def ticket_file(run: Run, number: int, seed: int) -> computing.Computation:
    """Begin to make the ticket file of a round of a seed."""
    folder = tempfile.TemporaryDirectory(prefix="glt-ticket-")
    arguments = commands.line("export", run, number, seed, "--out", str(Path(folder.name, TICKET)))
    return computing.Computation(["glt", *arguments], folder, TICKET)
