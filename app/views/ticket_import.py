"""A ticket file: its check, its numbers, and a comparison with the runs here."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis import palette
from analysis.drawing import screen
from analysis.figures.curves import MAC_NAMES
from analysis.figures.pareto import GUEST, pareto_front
from analysis.labels import dataset_label, model_label, task_label
from analysis.measures import compute, descriptions
from analysis.tables.curves import Score, with_front
from app.components import computation, controls, frame, graph_select, measurement, run_select, url_state
from app.components.computation import Computation
from app.components.downloads import show_rounds, show_text_table
from app.data import cache
from app.data.runs import open_catalog, setting
from app.views import ticket_actions
from glt import formats
from glt.config import RunConfig
from glt.datasets import DATASETS, Graph
from glt.errors import LONGEST_MESSAGE, brief
from glt.formats import as_typed
from glt.masks import EdgeMask
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph, read_adjacency
from glt.training.tasks import message_graph

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_MB, MOST_UNPACKED_MB = 200, 1000
FILE, GRAPH = "ticket.zip", "graph.npz"
UPLOADER, BROUGHT, NAME = "ticket-upload", "ticket file: check", "ticket file: name"
ABOUT_FILE = f"A .zip from Download on a ticket's card or `{as_typed('export')}`, up to {MOST_MB} MB."
ABOUT_CHECK = (
    "The check verifies the checksums, runs the network on the surviving edges, and recomputes every number it can. "
    f"Nothing is unpickled. At most {formats.file_size(MOST_UNPACKED_MB * 10**6)} unpacked. The file is discarded when "
    "you close it or this tab."
)
TASK = computation.Task("Check it again", "Running the network", "import", 15)


def show_import() -> None:
    """Take a file, check it, and show its report."""
    st.file_uploader("Ticket file", key=UPLOADER, max_upload_size=MOST_MB, on_change=_take)
    frame.caption(ABOUT_FILE, ABOUT_CHECK)
    check: Computation | None = st.session_state.get(BROUGHT)
    name: str = st.session_state.get(NAME, "")
    if check is None:
        return
    if check.is_running:
        with st.container(border=True, key="checking"):
            computation.watch(check, "import", f"Checking {frame.plain(name)}", TASK.expected)
    elif check.stopped:
        st.caption("Stopped. To check the file, upload it again.")
    elif "error" in (report := check.answer()):
        frame.failure(with_name(str(report["error"]), name))
    else:
        TASK.took(check.seconds)
        show_report(report, check.made, name, close)


def _take() -> None:
    """Start checking an uploaded file; discard the previous one."""
    file: UploadedFile | None = st.session_state.get(UPLOADER)
    close()
    if file is not None:
        st.session_state[BROUGHT], st.session_state[NAME] = check_file(file.getvalue()), file.name


def close() -> None:
    """Discard the open file."""
    check: Computation | None = st.session_state.pop(BROUGHT, None)
    if check is not None and check.is_running:
        check.stop()


def check_file(content: bytes) -> Computation:
    """Start checking a ticket file; the check also writes its sparse graph."""
    folder = tempfile.TemporaryDirectory(prefix="glt-import-")
    path, graph = Path(folder.name, FILE), Path(folder.name, GRAPH)
    path.write_bytes(content)
    limit = ["--most-mb", str(MOST_UNPACKED_MB)]
    return Computation(["glt", "import", str(path), "--json", "--graph", str(graph), *limit], folder, GRAPH)


def with_name(sentence: str, name: str) -> str:
    """Return a sentence with the user's file name in place of the temporary path.

    >>> with_name("/tmp/glt-import-x/ticket.zip is damaged.", "mine.zip")
    'mine.zip is damaged.'
    """
    return " ".join(name if word.endswith(f"/{FILE}") else word for word in sentence.split(" "))


VIEWS = {"beside": "Runs here", "subgraph": "Subgraph", "measures": "Measurements"}
QUANTITIES = {
    "test": "Test score",
    "val": "Validation score",
    "weight_sparsity": "Weight sparsity",
    "test_last": "Last epoch's test score",
    "best_epoch": "Best epoch",
    "seconds": "Time of the round",
    "search_seconds": "Time of the search",
}
Report = Mapping[str, Any]


def show_report(report: Report, graph: bytes, name: str, close: Callable[[], None]) -> None:
    """Show a file's report; `graph` is its sparse graph as a matrix for SciPy."""
    with st.container(border=True, key="imported", gap="small"):
        _head(report, name, close)
        _verdict(report)
        show_text_table("stated", report_as_read(report))
        kept = [
            f"{formats.count(report['nodes'])} nodes",
            f"{formats.count(report['entries_kept'])} of {formats.count(report['entries'])} edge entries",
            f"{formats.count(report['weights_kept'])} of {formats.count(report['weights'])} weights left",
        ]
        links = " Scores of link prediction need the held-out edges, which the file lacks."
        st.caption(
            f"{', '.join(kept)}. Recomputed from the masks and outputs.{links if report['test'] is None else ''}"
        )
        sparse = sparse_graph(report, graph)
        st.markdown("**Sparse graph**")
        ticket_actions.graph_buttons(lambda name: GRAPH_FORMATS[name].write(sparse), _stem(report), "imported")
    view = controls.segments("of_file", "View", VIEWS, label_visibility="collapsed")
    with frame.or_why():
        if view == "beside":
            show_beside(report)
        else:
            show_graph(report, sparse, view)


def sparse_graph(report: Report, content: bytes) -> SparseGraph:
    """Return the sparse graph of a file; needs no data set."""
    title = f"{report['run']}, seed {report['seed']}, round {report['round']}"
    return read_adjacency(content, title, report["edge_mask"] == "directed", report["class_names"])


def _stem(report: Report) -> str:
    name = re.sub(r"[^\w.-]", "-", f"{report['dataset']}-{report['model']}")
    return f"{name}-seed-{report['seed']}-round-{report['round']:02d}"


def _head(report: Report, name: str, close: Callable[[], None]) -> None:
    config = RunConfig.model_validate(report["config"])
    title = f"{palette.label(config.method)} · {dataset_label(report['dataset'])} {model_label(config.model)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(
            frame.plain(f"{title}, round {report['round']}, seed {report['seed']}"), anchor=False, width="content"
        )
        if report["passed"]:
            st.badge("verified", color="green", icon=":material/verified:")
        else:
            st.badge("check failed", color="red", icon=":material/close:")
        st.button("Close", icon=":material/close:", key="close-imported", on_click=close, type="tertiary")
    st.caption(frame.plain(f"{name}, exported from {report['run']}; {task_label(config.task)}."))


def _verdict(report: Report) -> None:
    if not report["passed"]:
        frame.failure(*faults(report))
        return
    unchecked = [number["name"] for number in report["stated"] if number["found"] is None]
    st.success(
        f"Verified: on the surviving edges alone, the network gives the outputs of the file (largest difference "
        f"{_off(report)}), and every number that can be recomputed agrees. Cannot be verified: {_listed(unchecked)}; "
        f"in ticket.json also {frame.plain(brief(', '.join(report['unchecked']), LONGEST_MESSAGE))}.",
        icon=":material/verified:",
    )


def faults(report: Report) -> list[str]:
    """Return a sentence per failed check, the outputs first."""
    sentences = list(report["contradictions"])
    if report["impossible"]:
        sentences.insert(0, f"The file states impossible values: {_listed(report['impossible'])}.")
    if report["differs"]:
        sentences.insert(0, f"Numbers in the file differ from the recomputed ones: {_listed(report['differs'])}.")
    if report["outputs_agree"]:
        return sentences
    if report["not_numbers"]:
        many = formats.number_of(report["not_numbers"], "output")
        return [f"{many}, in the file or recomputed, cannot be compared: not a number.", *sentences]
    outputs = (
        f"On the surviving edges, the network gives other outputs than the file states: they differ by up to "
        f"{_off(report)}, more than {report['tolerance']:.0e}."
    )
    return [outputs, *sentences]


def _off(report: Report) -> str:
    return f"{report['max_output_difference']:.1e}" if report["max_output_difference"] else "0"


def _listed(names: list[str]) -> str:
    return ", ".join(formats.inside(quantity(name)) for name in names)


def quantity(name: str) -> str:
    """Return the label of a number in a ticket file.

    >>> quantity("weight_sparsity"), quantity("edges_kept_either_way")
    ('Weight sparsity', 'Edges kept, either way')
    """
    if name.startswith("macs."):
        return f"MACs, {MAC_NAMES.get(name.removeprefix('macs.'), 'another convention')}"  # type: ignore[call-overload]
    return QUANTITIES.get(name) or descriptions.label(name)


def report_as_read(report: Report) -> pd.DataFrame:
    """Return one row per number: in the file, recomputed, agreement."""
    rows = [
        (
            quantity(number["name"]),
            _written_number(number["name"], number["in_file"]),
            formats.MISSING if number["found"] is None else _written_number(number["name"], number["found"]),
            _agreement(number),
        )
        for number in report["stated"]
    ]
    return pd.DataFrame(rows, columns=["Quantity", "In the file", "Recomputed", "Check"])


def _agreement(number: Report) -> str:
    if not number["possible"]:
        return ":orange[impossible]"
    if number["found"] is None:
        return ":gray[cannot be verified]"
    return ":orange[differs]" if number["differs"] else ":green[same]"


def _written_number(name: str, value: float) -> str:
    if name.startswith("macs."):
        return formats.macs(value)
    if name == "best_epoch":
        # Screens count epochs from 1.
        return formats.count(value + 1)
    if name.endswith("seconds"):
        return formats.duration(value) if value >= 0 else f"{value:g} s"
    return formats.percent(value)


SCORE: Score = "test"


def show_beside(report: Mapping[str, Any]) -> None:
    """Draw the file among the runs on its data set, task and network."""
    config = RunConfig.model_validate(report["config"])
    alike = [run for run in run_select.with_rounds(open_catalog().runs) if setting(run.config) == setting(config)]
    runs = run_select.together(alike) if alike else []
    if not runs:
        frame.empty(
            "No runs to compare with",
            "No run here has this data set, task and network.",
            "stacked_line_chart",
            "launch",
            "Launch a run",
        )
        return
    x = run_select.pick_axis()
    table, numbers = cache.curve_of(runs, SCORE, x), file_numbers(report)
    described = pareto_front(
        with_front(table, x), cache.rounds_of(runs), x=x, score=SCORE, guest=(numbers, numbers["test"])
    )
    show_rounds(
        screen.draw(described, frame.is_dark()), "guest", "The ticket file's test score and cost among the rounds here"
    )
    curve = cache.curve_of(runs, SCORE, "graph")
    show_text_table("guest", beside_as_read(report, curve))
    frame.caption(
        "Ring and first row: the ticket file (one seed). Other rows: each run's round nearest in graph sparsity.",
        "Scores of runs are means over seeds. MACs with dense features.",
    )
    if source := next((run for run in runs if run.name == report["run"]), None):
        view = {"run": source.reference, "round": str(report["round"])}
        url_state.link("subgraphs", "Run of this file", ":material/hub:", **view)


def file_numbers(report: Mapping[str, Any]) -> dict[str, float]:
    """Return the recomputed numbers by name, else those in the file."""
    return {
        number["name"]: number["in_file"] if number["found"] is None else number["found"] for number in report["stated"]
    }


def beside_as_read(report: Mapping[str, Any], curve: pd.DataFrame) -> pd.DataFrame:
    """Return the file's row, then each run's round nearest in graph sparsity."""
    numbers = file_numbers(report)
    pruned = curve.assign(distance=(curve["graph_sparsity"] - numbers["graph_sparsity"]).abs())
    nearest = pruned.sort_values("distance", kind="stable").groupby("run", sort=False).head(1).sort_index()
    rows = [_beside_row(GUEST, report["round"], numbers["test"], numbers, numbers["macs.dense_features"], 1)]
    rows += [
        _beside_row(
            row["label"],
            row["round"],
            row["mean"],
            {str(key): value for key, value in row.items()},
            row["macs"],
            row["seeds"],
        )
        for row in nearest.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _beside_row(
    label: str, number: int, score: float, shares: Mapping[str, Any], macs: float, seeds: int
) -> dict[str, str]:
    return {
        "": frame.plain(label),
        "Round": str(number),
        "Test": formats.percent(score),
        "Graph sparsity": formats.percent(shares["graph_sparsity"]),
        "Weight sparsity": formats.percent(shares["weight_sparsity"]),
        "Edges kept, either way": formats.percent(shares["edges_kept_either_way"]),
        "MACs": formats.macs(macs),
        "Seeds": str(seeds),
    }


def show_graph(report: Mapping[str, Any], sparse: SparseGraph, view: str) -> None:
    """Show the view; raises DataError if the data set cannot be read."""
    config = RunConfig.model_validate(report["config"])
    if config.dataset not in DATASETS.names():
        frame.empty(
            "Unknown data set",
            f"This version has no data set {frame.plain(brief(config.dataset))}, so there is no original to compare "
            "with. You can download the sparse graph above.",
            "database_off",
        )
        return
    with st.spinner("Reading the data set", show_time=True):
        graph = message_graph(config)
        mask = sparse.mask(graph)
    if not graph.has_content(report["graph_hash"]):
        st.caption(":material/info: Labels or the order of edges differ from those of the data set here.")
    if view == "subgraph":
        graph_select.show_beside_original(graph, mask, f"Ticket file, round {report['round']}")
        st.caption("Nodes of a random walk, in the same places. Dashed: removed.")
    else:
        bar = st.progress(0.0, "Measuring the original")
        try:
            before = _measured(graph, EdgeMask.full(mask.kind, mask.num_edges))
            bar.progress(0.5, "Measuring the ticket")
            after = _measured(graph, mask)
        finally:
            bar.empty()
        show_text_table("guest-measures", measures_as_read(before, after))
        st.caption(
            "An edge counts if at least one direction survives. Isolated nodes are kept. Definitions of NetworkX."
        )


@cache.cached(16)
def _measured(graph: Graph, mask: EdgeMask) -> compute.Numbers:
    return compute.measure_mask(graph, mask)


def measures_as_read(before: Mapping[str, float], after: Mapping[str, float]) -> pd.DataFrame:
    """Return one row per main measure: original, ticket, change."""
    shown = [name for name in measurement.HEADLINE if name in before]
    return pd.DataFrame(
        {
            "Measure": [descriptions.label(name) for name in shown],
            "Original": [descriptions.value(name, before[name]) for name in shown],
            "Ticket file": [descriptions.value(name, after[name]) for name in shown],
            "Change": [descriptions.change(before[name], after[name]) for name in shown],
        }
    )
