"""Actions on a round of a run: audit, MACs, latency, and downloads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import streamlit as st

from analysis.figures.curves import MAC_NAMES
from app.components import computation, frame
from app.data import cache
from glt import formats
from glt.cost import MacReport
from glt.cost.macs import counterfactuals
from glt.cost.search import search_cost
from glt.formats import as_typed
from glt.lottery.graph import graph_of
from glt.store import MacConvention, Run
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph

NO_WEIGHTS = "Examples keep no weights, so they cannot be {}: start a run with the same settings."


def _answer(verb: str, words: tuple[str, str], usual: float, round: tuple[Run, int, int], *more: str) -> Any:
    """Show a command, run it on request, and return its JSON answer once it has ended.

    `words` are those of the button and of the progress bar, `usual` the expected seconds of the first time.
    """
    run, number, seed = round
    arguments = command_line(verb, run, number, seed, "--json")
    st.code(as_typed(*arguments), language="bash", wrap_lines=True)
    what = f"round {number} of seed {seed}"
    task = computation.Task(f"{words[0]} {what}", f"{words[1]} {what}", f"{verb} {run.reference}", usual)
    start = partial(computation.Computation, ["glt", *arguments, *more])
    done = computation.ask(f"{verb} {run.path} {number} {seed}", task, start)
    return None if done is None else done.answer()


def command_line(verb: str, run: Run, number: int, seed: int, *more: str) -> list[str]:
    """Return the arguments of `glt VERB` on one round of one seed."""
    return [verb, str(run.path), "--round", str(number), "--seed", str(seed), *more]


def audit(run: Run, number: int, seed: int) -> None:
    """Offer to audit a round of a seed."""
    with st.popover("Audit", icon=":material/fact_check:", key=f"audit-{run.reference}"):
        st.markdown(
            "Computes the outputs without the pruned edges and weights, and compares them with the recorded ones."
        )
        if run.is_example:
            st.caption(NO_WEIGHTS.format("audited"))
        elif answer := _answer("audit", ("Audit", "Auditing"), 10, (run, number, seed)):
            _audit_report(answer, f"round {number} of seed {seed}")


def _audit_report(answer: dict[str, Any], what: str) -> None:
    if "error" in answer:
        frame.failure(str(answer["error"]))
        return
    words = f"largest difference between outputs: {answer['max_logit_difference']:.1e}"
    if answer["passed"]:
        st.success(f"{what.capitalize()} passed; {words}.", icon=":material/check:")
    else:
        frame.failure(f"{what.capitalize()} failed; {words}, {answer.get('why') or 'more than rounding errors'}.")
    edges, weights = (formats.count(answer[f"{part}_deleted"]) for part in ("edge_entries", "weights"))
    scores = " and ".join(formats.percent(answer[name]) for name in ("recorded_test", "test"))
    st.caption(f"Without {edges} edge entries and {weights} weights. Test score before and after: {scores}.")


PRUNED = {"dense": "Nothing", "graph_only": "Edges only", "weight_only": "Weights only", "both": "Edges and weights"}
CONVENTIONS: tuple[MacConvention, ...] = ("dense_features", "sparse_features")


def mac_counts(run: Run, number: int, seed: int) -> None:
    """Show the MACs of a round of a seed, counted when opened."""
    shown = st.popover("MACs", icon=":material/calculate:", key=f"macs-of-{run.reference}", on_change="rerun")
    if not shown.open:
        return
    with shown:
        st.markdown(f"**Cost of the search** :gray[MACs with {MAC_NAMES['dense_features']}]")
        st.markdown(frame.plain(search_cost(run.seed(seed), number).words()))
        st.caption("An epoch counts as three passes: forward, and backward with twice its operations.")
        counted = _counted(run, seed, number)
        for convention in CONVENTIONS:
            st.markdown(f"**MACs with {MAC_NAMES[convention]}**")
            st.table(macs_as_read(counted, convention), border="horizontal", hide_index=True)
        st.caption(
            f"Round {number} of seed {seed}. Transform: inputs times weights. Aggregate: messages, with self-loops. "
            "Edges only and Weights only ignore the other mask."
        )


def macs_as_read(counted: dict[str, MacReport], convention: MacConvention) -> pd.DataFrame:
    """Return one row per kind of pruning: transform, aggregate, total, share saved."""
    parts = {name: counted[name].by_convention()[convention] for name in PRUNED}
    dense = parts["dense"]["total"]
    return pd.DataFrame(
        {
            "Pruned": list(PRUNED.values()),
            "Transform": [formats.macs(part["transform"]) for part in parts.values()],
            "Aggregate": [formats.macs(part["aggregate"]) for part in parts.values()],
            "Total": [formats.macs(part["total"]) for part in parts.values()],
            "Saved": [formats.percent(1 - part["total"] / dense) for part in parts.values()],
        }
    )


@cache.cached(64, spinner="Counting the operations", shared=True)
def _counted(run: Run, seed: int, number: int) -> dict[str, MacReport]:
    seed_run = run.seed(seed)
    return counterfactuals(run.config, graph_of(seed_run), seed_run.masks(number))


ABOUT_LATENCY = (
    "Times the network with masks multiplied, with edges removed, and with sparse matrices, in turns on one thread. "
    "Sparse features are also timed alone: they need no pruning."
)
# Seconds on two busy cores; later measurements expect the time of the last one.
USUAL_SECONDS = 60


def latency(run: Run, number: int, seed: int) -> None:
    """Offer to measure the latency of a round of a seed."""
    with st.popover("Latency", icon=":material/timer:", key=f"latency-{run.reference}", width="content"):
        st.markdown(ABOUT_LATENCY)
        if run.is_example:
            st.caption(NO_WEIGHTS.format("timed"))
            return
        if busy := busy_words():
            st.caption(f":material/speed: {busy}")
        answer = _answer("latency", ("Measure", "Measuring"), USUAL_SECONDS, (run, number, seed), "--progress")
        if answer is not None and "error" in answer:
            frame.failure(str(answer["error"]))
        elif answer is not None:
            st.table(latency_as_read(answer), border="horizontal", hide_index=True)
            st.markdown("\n".join(f"- {formats.opening(frame.plain(row['words']))}" for row in answer["compared"]))
            st.markdown(frame.plain(answer["payback"]["words"]))
            for note in answer["notes"]:
                st.caption(frame.plain(note))
            disk = answer["disk_bytes"]
            st.caption(
                f"Round {number} of seed {seed}: median of {answer['repeats']} passes after {answer['warm_up']} for "
                f"warm-up, {answer['threads']} thread, {frame.plain(answer['machine'])}, PyTorch "
                f"{frame.plain(answer['torch'])}. Memory: resident data plus the peak of a pass. On disk: "
                f"{formats.file_size(disk['round'])}, dense round {formats.file_size(disk['dense'])}."
            )


def busy_words() -> str:
    """Return a warning if more processes run than there are cores, else ""."""
    load, cores = psutil.getloadavg()[0], psutil.cpu_count() or 1
    if load <= cores:
        return ""
    busy = f"load {formats.fixed(load, 0)} on {formats.number_of(cores, 'core')}"
    return f"This machine is busy ({busy}): intervals will be wide."


def latency_as_read(answer: dict[str, Any]) -> pd.DataFrame:
    """Return one row per execution, in words."""
    rows = answer["executions"]
    return pd.DataFrame(
        {
            "Execution": [formats.opening(row["label"]) for row in rows],
            "Median": [formats.duration(row["median"]) for row in rows],
            "p10 to p90": [f"{formats.duration(row['p10'])} to {formats.duration(row['p90'])}" for row in rows],
            "Memory": [formats.file_size(row["memory"]) for row in rows],
        }
    )


TICKET = "ticket.zip"


def download(run: Run, number: int, seed: int) -> None:
    """Offer a round of a seed in every format."""
    with st.popover("Download", icon=":material/download:", key=f"download-{run.reference}"):
        st.markdown(f"**Sparse graph** of round {number}, seed {seed}: the surviving edges with node ids and classes.")
        graph_buttons(partial(graph_bytes, run, number, seed), file_stem(run, number, seed), run.reference)
        st.caption("GraphML for Gephi and NetworkX, CSV edge list, SciPy sparse matrix.")
        st.markdown("**Ticket file**: weights, masks, theta_0, graph, settings and scores in one .zip.")
        if run.is_example:
            st.caption(NO_WEIGHTS.format("exported as a ticket file"))
        else:
            _ticket(run, number, seed)


def graph_buttons(make: Callable[[str], bytes], stem: str, key: str) -> None:
    """Offer a sparse graph in every format; `make` returns it in the named one."""
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
    """Return the sparse graph after a round in a format of GRAPH_FORMATS."""
    return GRAPH_FORMATS[name].write(SparseGraph.of(run.seed(seed), number))


def file_stem(run: Run, number: int, seed: int) -> str:
    """Return the file name of a round, without its ending."""
    return f"{run.reference.replace('/', '-')}-seed-{seed}-round-{number:02d}"


def _ticket(run: Run, number: int, seed: int) -> None:
    what = f"round {number} of seed {seed}"
    task = computation.Task("Make the ticket file", f"Computing the outputs of {what}", f"export {run.reference}", 8)
    done = computation.ask(f"ticket {run.path} {number} {seed}", task, lambda: ticket_file(run, number, seed))
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
    st.caption("Runs in plain PyTorch Geometric (docs/ticket-file.md). To check a file, choose Ticket file above.")


def ticket_file(run: Run, number: int, seed: int) -> computation.Computation:
    """Start writing the ticket file of a round of a seed."""
    folder = tempfile.TemporaryDirectory(prefix="glt-ticket-")
    arguments = command_line("export", run, number, seed, "--out", str(Path(folder.name, TICKET)))
    return computation.Computation(["glt", *arguments], folder, TICKET)
