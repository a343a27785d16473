"""A ticket file from elsewhere: its check, its numbers, and its views beside the runs here."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.drawing import screen
from analysis.figures.curves import MAC_NAMES
from analysis.figures.pareto import GUEST, pareto_front
from analysis.labels import dataset_label, model_label, task_label
from analysis.measures import compute, descriptions
from analysis.style import palette
from analysis.tables import Score, XAxis
from analysis.tables.curves import with_front
from app.components import computation, controls, frame, graph_select, run_select, url_state
from app.components.computation import Computation
from app.components.downloads import draw_table, show_rounds
from app.data import cache
from app.data.runs import opened, setting
from app.views import measurements, ticket_actions
from glt import formats
from glt.config import RunConfig
from glt.datasets import DATASETS, Graph
from glt.formats import as_typed
from glt.masks import EdgeMask
from glt.store import Run
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph, read_adjacency
from glt.training.tasks import message_graph
from glt.user_text import MOST_SAID, brief
from glt.verdicts import DELTA

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_MB, MOST_UNPACKED_MB = 200, 1000
FILE, GRAPH = "ticket.zip", "graph.npz"
UPLOADER, BROUGHT, NAME = "ticket-upload", "ticket file: check", "ticket file: name"
ABOUT_FILE = (
    f"A .zip as Download on a ticket's card and `{as_typed('export')}` write it, up to {MOST_MB} MB "
    f"({formats.file_size(MOST_UNPACKED_MB * 10**6)} unpacked). Its checksums are compared, its network runs once more "
    "on the edges that are left, and every number that can be computed again is compared. Nothing in it is unpickled; "
    "it is forgotten when you close it or this tab."
)
TASK = computation.Task("Check it again", "Running the network", "import", 15)


def show_import() -> None:
    """Take a file, check it, and show its report."""
    st.file_uploader("Ticket file", key=UPLOADER, max_upload_size=MOST_MB, on_change=_take)
    st.caption(ABOUT_FILE)
    check: Computation | None = st.session_state.get(BROUGHT)
    name: str = st.session_state.get(NAME, "")
    if check is None:
        return
    if check.is_running:
        with st.container(border=True, key="checking"):
            computation.watch(check, "import", f"Checking {frame.plain(name)}", TASK.expected)
    elif check.stopped:
        st.caption("Stopped: upload the file again to check it.")
    elif "error" in (found := check.answer()):
        frame.failure(said_of(str(found["error"]), name))
    else:
        TASK.took(check.seconds)
        show_report(found, check.made, name, close)


def _take() -> None:
    """Start to check a file that was just uploaded; forget the one before."""
    file: UploadedFile | None = st.session_state.get(UPLOADER)
    close()
    if file is not None:
        st.session_state[BROUGHT], st.session_state[NAME] = check_file(file.getvalue()), file.name


def close() -> None:
    """Forget the open file."""
    check: Computation | None = st.session_state.pop(BROUGHT, None)
    if check is not None and check.is_running:
        check.stop()


def check_file(content: bytes) -> Computation:
    """Start to check a ticket file; the check writes its sparse graph."""
    folder = tempfile.TemporaryDirectory(prefix="glt-import-")
    path, graph = Path(folder.name, FILE), Path(folder.name, GRAPH)
    path.write_bytes(content)
    limit = ["--most-mb", str(MOST_UNPACKED_MB)]
    return Computation(["glt", "import", str(path), "--json", "--graph", str(graph), *limit], folder, GRAPH)


def said_of(sentence: str, name: str) -> str:
    """Return a sentence about the file as we keep it with the name under which it was brought.

    >>> said_of("/tmp/glt-import-x/ticket.zip is damaged.", "mine.zip")
    'mine.zip is damaged.'
    """
    return " ".join(name if word.endswith(f"/{FILE}") else word for word in sentence.split(" "))


VIEWS = {"beside": "Beside the runs here", "subgraph": "Subgraph", "measures": "Measurements"}
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


def show_report(found: Report, graph: bytes, name: str, close: Callable[[], None]) -> None:
    """Show a file's report; `graph` is its sparse graph as a matrix for SciPy."""
    with st.container(border=True, key="imported", gap="small"):
        _head(found, name, close)
        _verdict(found)
        draw_table("stated", report_as_read(found))
        st.caption(_report_caption(found))
        sparse = sparse_graph(found, graph)
        st.markdown("**Its sparse graph**")
        ticket_actions.graph_buttons(partial(_written, sparse), _stem(found), "imported")
    view = controls.segments("of_file", "View", VIEWS, label_visibility="collapsed")
    with frame.or_why():
        if view == "beside":
            show_beside(found)
        else:
            show_graph(found, sparse, view)


def sparse_graph(found: Report, content: bytes) -> SparseGraph:
    """Return the sparse graph of a file, which needs no data set to be here."""
    title = f"{found['run']}, seed {found['seed']}, round {found['round']}"
    return read_adjacency(content, title, found["edge_mask"] == "directed", found["class_names"])


def _written(sparse: SparseGraph, form: str) -> bytes:
    return GRAPH_FORMATS[form].write(sparse)


def _stem(found: Report) -> str:
    name = re.sub(r"[^\w.-]", "-", f"{found['dataset']}-{found['model']}")
    return f"{name}-seed-{found['seed']}-round-{found['round']:02d}"


def _head(found: Report, name: str, close: Callable[[], None]) -> None:
    config = RunConfig.model_validate(found["config"])
    title = f"{palette.label(config.method)} · {dataset_label(found['dataset'])} {model_label(config.model)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(
            frame.plain(f"{title}, round {found['round']}, seed {found['seed']}"), anchor=False, width="content"
        )
        if found["passed"]:
            st.badge("verified", color="green", icon=":material/verified:")
        else:
            st.badge("check failed", color="red", icon=":material/close:")
        st.button("Close", icon=":material/close:", key="close-imported", on_click=close, type="tertiary")
    st.caption(frame.plain(f"{name}, made from {found['run']}; {task_label(config.task)}."))


def _verdict(found: Report) -> None:
    if not found["passed"]:
        frame.failures(faults(found))
        return
    st.success(
        f"Verified: run on its surviving edges alone the network gives the outputs the file states (largest "
        f"difference {_off(found)}), and every number that can be found again is as it says. Only stated: "
        f"{_unchecked(found)}; and in ticket.json {frame.plain(brief(', '.join(found['unchecked']), MOST_SAID))}.",
        icon=":material/verified:",
    )


def faults(found: Report) -> list[str]:
    """Return a sentence for everything that fails the check, the outputs first."""
    told = list(found["contradictions"])
    if found["impossible"]:
        told.insert(0, f"No run can have what it states as {_listed(found['impossible'])}.")
    if found["differs"]:
        told.insert(0, f"It states other numbers than those found: {_listed(found['differs'])}.")
    if not found["outputs_agree"]:
        told.insert(0, _other_outputs(found))
    return told


def _other_outputs(found: Report) -> str:
    if found["not_numbers"]:
        many = formats.number_of(found["not_numbers"], "output")
        return f"{many}, in the file or computed here, cannot be told: not a number."
    return (
        f"Run on its surviving edges the network gives other outputs than the file states: they differ by up to "
        f"{_off(found)}, more than {found['tolerance']:.0e}."
    )


def _off(found: Report) -> str:
    return f"{found['max_output_difference']:.1e}" if found["max_output_difference"] else "0"


def _unchecked(found: Report) -> str:
    return _listed([each["name"] for each in found["stated"] if each["found"] is None])


def _listed(told: list[str]) -> str:
    return ", ".join(formats.inside(quantity(name)) for name in told)


def quantity(name: str) -> str:
    """Return the words for a number that a file states.

    >>> quantity("weight_sparsity"), quantity("edges_kept_either_way")
    ('Weight sparsity', 'Edges kept, either way')
    """
    if name.startswith("macs."):
        return f"MACs, {MAC_NAMES.get(name.removeprefix('macs.'), 'another convention')}"  # type: ignore[call-overload]
    return QUANTITIES.get(name) or descriptions.label(name)


def report_as_read(found: Report) -> pd.DataFrame:
    """Return one row a number that the file states: there, found here, and whether they agree."""
    rows = [
        (
            quantity(each["name"]),
            _written_number(each["name"], each["in_file"]),
            formats.MISSING if each["found"] is None else _written_number(each["name"], each["found"]),
            _agreement(each),
        )
        for each in found["stated"]
    ]
    return pd.DataFrame(rows, columns=["Quantity", "In the file", "Found", ""])


def _agreement(each: Report) -> str:
    if not each["possible"]:
        return ":orange[cannot be]"
    if each["found"] is None:
        return ":gray[stated, cannot be checked here]"
    return ":orange[differs]" if each["differs"] else ":green[same]"


def _written_number(name: str, value: float) -> str:
    if name.startswith("macs."):
        return formats.macs(value)
    if name == "best_epoch":
        # Epochs are counted from 1 where people read them.
        return formats.count(value + 1)
    if name.endswith("seconds"):
        return formats.duration(value) if value >= 0 else f"{value:g} s"
    return formats.percent(value)


def _report_caption(found: Report) -> str:
    told = [
        f"{formats.count(found['nodes'])} nodes",
        f"{formats.count(found['entries_kept'])} of {formats.count(found['entries'])} edge entries",
        f"{formats.count(found['weights_kept'])} of {formats.count(found['weights'])} weights left",
    ]
    links = (
        ""
        if found["test"] is not None
        else " A link file holds no held-out edges, so its scores cannot be found again."
    )
    return f"{', '.join(told)}. Found: counted on its masks, and read off the outputs computed here.{links}"


SCORE: Score = "test"


def show_beside(found: Mapping[str, Any]) -> None:
    """Draw the file among the rounds of the runs with its data set, task and network."""
    config = RunConfig.model_validate(found["config"])
    alike = [run for run in run_select.with_rounds(opened().runs) if setting(run.config) == setting(config)]
    runs = run_select.together(alike) if alike else []
    if not runs:
        frame.empty(
            "No run to compare with",
            "No run here, example or yours, has this data set, task and network.",
            "stacked_line_chart",
            "launch",
            "Launch one",
        )
        return
    x = run_select.pick_axis()
    show_rounds(_beside_figure(runs, found, x), "guest", "The ticket file's test score and cost among the rounds here")
    curve = cache.curve_of(runs, SCORE, "graph", "dense_features", DELTA)
    draw_table("guest", beside_as_read(found, curve))
    st.caption(
        "The ring and the first row are the file's (one seed). Other rows: the round of each run nearest in graph "
        "sparsity, mean over seeds. MACs with dense features."
    )
    if source := next((run for run in runs if run.name == found["run"]), None):
        view = {"run": source.reference, "round": str(found["round"])}
        url_state.link("subgraphs", "The run it was made from is here", ":material/hub:", **view)


def file_numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Return what a file's masks and outputs give, by name; what cannot be found is as the file states it."""
    return {each["name"]: each["in_file"] if each["found"] is None else each["found"] for each in found["stated"]}


def _beside_figure(runs: list[Run], found: Mapping[str, Any], x: XAxis) -> go.Figure:
    table = cache.curve_of(runs, SCORE, x, "dense_features", DELTA)
    mine, rounds = file_numbers(found), cache.rounds_of(runs)
    described = pareto_front(with_front(table, x), rounds, x=x, score=SCORE, guest=(mine, mine["test"]))
    return screen.draw(described, frame.is_dark())


def beside_as_read(found: Mapping[str, Any], curve: pd.DataFrame) -> pd.DataFrame:
    """Return the file's row, then each run's round that is nearest to it in graph sparsity."""
    mine = file_numbers(found)
    pruned = curve.assign(apart=(curve["graph_sparsity"] - mine["graph_sparsity"]).abs())
    nearest = pruned.sort_values("apart", kind="stable").groupby("run", sort=False).head(1).sort_index()
    rows = [_beside_row(GUEST, found["round"], mine["test"], mine, mine["macs.dense_features"], 1)]
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


def show_graph(found: Mapping[str, Any], sparse: SparseGraph, view: str) -> None:
    """Show the view, or why it cannot be: the data set is unknown here, or another version of it.

    Raises DataError where the data set cannot be read.
    """
    config = RunConfig.model_validate(found["config"])
    if config.dataset not in DATASETS.names():
        frame.empty(
            "An unknown data set",
            f"{frame.plain(brief(config.dataset))} is no data set of this version: its sparse graph can be downloaded "
            "above, but there is no original to compare it with.",
            "database_off",
        )
        return
    with st.spinner("Reading the data set", show_time=True):
        graph = message_graph(config)
        mask = sparse.mask(graph)
    if not graph.has_content(found["graph_hash"]):
        st.caption(":material/info: Labels or the order of edges are not those of the data set here.")
    if view == "subgraph":
        graph_select.show_beside_original(graph, mask, f"Ticket file, round {found['round']}")
        st.caption("The nodes of a random walk, in the same places; dashed: removed.")
    else:
        _measures(graph, mask)


def _measures(graph: Graph, mask: EdgeMask) -> None:
    bar = st.progress(0.0, "Measuring the original")
    try:
        before = _measured(graph, EdgeMask.full(mask.kind, mask.num_edges))
        bar.progress(0.5, "Measuring the ticket")
        after = _measured(graph, mask)
    finally:
        bar.empty()
    draw_table("guest-measures", measures_as_read(before, after))
    st.caption(
        "An edge counts when it survives in at least one direction; NetworkX's definitions, isolated nodes kept."
    )


@cache.cached(16)
def _measured(graph: Graph, mask: EdgeMask) -> compute.Numbers:
    return compute.measure_mask(graph, mask)


def measures_as_read(before: Mapping[str, float], after: Mapping[str, float]) -> pd.DataFrame:
    """Return one row a measure of the Measurements page's first table: the original, the ticket, the change."""
    shown = [name for name in measurements.HEADLINE if name in before]
    return pd.DataFrame(
        {
            "Measure": [descriptions.label(name) for name in shown],
            "Original": [descriptions.value(name, before[name]) for name in shown],
            "Ticket file": [descriptions.value(name, after[name]) for name in shown],
            "Change": [descriptions.change(before[name], after[name]) for name in shown],
        }
    )
