"""A card for every run's ticket: its numbers, and what can be asked for of one of its seeds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st

from analysis import names
from app.widgets import auditing, controls, costing, downloads, frame, links, timing
from glt import formats
from glt.errors import StoreError
from glt.store import Run
from glt.verdicts import detectable_words

Row = Mapping[Hashable, Any]
ACROSS = 3
ABOUT_SEED = "Cards show means over seeds; audit, MACs, latency, files and bytes on disk are of this one."


def show(runs: Mapping[str, Run], table: pd.DataFrame) -> None:
    """Show the rows of a `tickets_table`, and which seed is asked about."""
    rows = table.to_dict("records")
    asked = _pick_seed([runs[row["run"]] for row in rows])
    for start in range(0, len(rows), ACROSS):
        for column, row in zip(st.columns(ACROSS, gap="small"), rows[start : start + ACROSS], strict=False):
            with column, st.container(border=True, key=f"ticket-{row['run']}"):
                _card(runs[row["run"]], row, asked)


def _pick_seed(runs: Sequence[Run]) -> int:
    """Choose a seed that any of these runs has a round of."""
    seeds = sorted({seed for run in runs for seed in run.seeds() if run.seed(seed).whole_rounds()})
    options = {str(seed): str(seed) for seed in seeds}
    return int(controls.select("seed", "Cards act on seed", options, width=150, help=ABOUT_SEED))


def seed_of(run: Run, number: int, asked: int) -> int:
    """Return the seed that is asked about, or the run's first one with this round where that one has not got it."""
    able = [seed for seed in run.seeds() if run.seed(seed).whole_rounds() > number]
    return asked if asked in able else able[0]


def _card(run: Run, row: Row, asked: int) -> None:
    number = int(row["round"])
    seed = seed_of(run, number, asked)
    with st.container(gap="xsmall"):
        st.subheader(frame.plain(str(row["label"])), anchor=False)
        if row["is_ticket"]:
            st.badge(f"ticket, round {number}", color="green", icon=":material/star:")
        else:
            color: Literal["orange", "gray"] = "orange" if row["verdict"] == "open" else "gray"
            st.badge(f"{row['verdict']}; closest by validation: round {number}", color=color)
    _numbers(row)
    st.caption("  \n".join(_sentences(run, row, number, seed)))
    if seed != asked:
        st.caption(f":material/info: This run has no seed {asked} with that round: what follows is of seed {seed}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        auditing.panel(run, number, seed)
        costing.panel(run, number, seed)
        timing.panel(run, number, seed)
        downloads.panel(run, number, seed)
        view = {"run": run.reference, "seed": str(seed), "round": str(number)}
        links.link("subgraphs", "Subgraph", ":material/hub:", **view)


def _numbers(row: Row) -> None:
    left, right = st.columns(2, gap="small")
    left.metric(f"Test {names.metric(row['dataset'], row['task'])}", formats.percent(row["mean"]))
    right.metric("Against dense", formats.points(row["difference"]))
    left.metric("Graph sparsity", formats.percent(row["graph_sparsity"]))
    right.metric("Weight sparsity", formats.percent(row["weight_sparsity"]))
    left.metric("MACs", formats.macs(row["macs"]))
    # Only a round that is shown to be as good saves anything.
    if row["is_ticket"]:
        right.metric("MACs saved", formats.percent(row["macs_saved"]))
    else:
        right.metric("MACs removed", formats.percent(row["macs_removed"]))


def _sentences(run: Run, row: Row, number: int, seed: int) -> list[str]:
    kept, both = formats.percent(row["edges_kept_either_way"]), formats.percent(row["edges_kept_both_ways"])
    return [
        frame.plain(row["verdict_sentence"]),
        *_detectable(row),
        f"Undirected edges kept: {kept} either way, {both} both ways.",
        f"Search up to this round: {formats.duration(row['search_seconds'])} a seed.",
        f"{_disk(run, number, seed)}.",
    ]


def _detectable(row: Row) -> list[str]:
    words = detectable_words(int(row["paired_seeds"]), row["detectable"])
    return [f"{words}."] if words else []


def _disk(run: Run, number: int, seed: int) -> str:
    if run.is_example:
        return "On disk: an example keeps masks alone"
    try:
        round_, dense = (formats.file_size(run.seed(seed).bytes_on_disk(each)) for each in (number, 0))
    except StoreError as error:
        return f"On disk: {frame.plain(str(error)).removesuffix('.')}"
    return f"On disk: {round_}, the dense round {dense} (seed {seed})"
