"""Tickets: for each run the sparsest round that matches the dense baseline, what it saves, and its audit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from analysis import marks, names
from analysis.marks.axes import MAC_NAMES
from analysis.tables import Score, XAxis, metric_words
from app.widgets import controls, frame, importing, pareto, pickers, reading, scoring, ticket_cards
from app.widgets.opened import opened
from app.widgets.readable import readable
from glt import formats
from glt.store import MAC_CONVENTIONS, Run

VIEWS = {"runs": "Of runs", "file": "From a file"}
NO_BREAK = "\N{NO-BREAK SPACE}"

Row = Mapping[Hashable, Any]


def page() -> None:
    """Show the page."""
    with frame.page("Tickets", "The sparsest round of each run that still matches its dense baseline."):
        if controls.segments("view", "View", VIEWS, label_visibility="collapsed") == "file":
            importing.show()
        else:
            _of_runs()


def _of_runs() -> None:
    found = pickers.with_rounds(opened().results)
    if not found:
        frame.empty(
            "No tickets yet",
            "Tickets are looked for as soon as a run has finished its first pruning round.",
            "confirmation_number",
            "launch",
            "Launch a run",
        )
        return
    chosen, x, score, tolerance = _controls(found)
    runs = readable(chosen)
    table = reading.tickets_of(runs, score, "dense_features", tolerance)
    if table.empty:
        frame.empty("No pruned rounds", "The chosen runs have no finished round after the dense one.", "hourglass")
        return
    _verdict(table, tolerance)
    pareto.picture(runs, x, score, tolerance)
    ticket_cards.show({run.name: run for run in runs}, table)
    with st.container(key="figures-tickets"):
        st.table(as_read(runs, score, tolerance), border="horizontal", hide_index=True)
    st.caption(_caption(table, tolerance))


def _controls(found: list[Run]) -> tuple[list[Run], XAxis, Score, float]:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        runs = pickers.pick_runs(found, pickers.together(found))
        return runs, scoring.pick_axis(), scoring.pick_score(), scoring.pick_tolerance()


def _verdict(table: pd.DataFrame, tolerance: float) -> None:
    """Say it plainly when no run has a ticket, and why that may be."""
    if table["is_ticket"].any():
        return
    row = table.iloc[0]
    paper = next(iter(marks.paper_baselines(table)), None)
    told = (
        f" The paper prints {formats.percent(paper)} for its dense network; here every round is held against a dense "
        f"network trained exactly as the pruned ones, which reaches {formats.percent(row['dense'])}."
        if paper is not None and paper < row["dense"]
        else ""
    )
    st.info(
        f"No round reaches its dense baseline{_allowance(tolerance)}, so under this protocol there is no ticket; below "
        f"stands the round of each run that comes closest.{told}",
        icon=":material/info:",
    )


def as_read(runs: Sequence[Run], score: Score, tolerance: float) -> pd.DataFrame:
    """Return one row a run, as people read it: the round, its score, its paired difference, MACs three ways."""
    tables = {name: reading.tickets_of(runs, score, name, tolerance) for name in MAC_CONVENTIONS}
    table = tables["dense_features"]
    read = {
        "Method": list(map(frame.plain, table["label"])),
        "Round": [f"★ {row['round']}" if row["is_ticket"] else str(row["round"]) for row in table.to_dict("records")],
        f"Test {metric_words(table)}": [
            formats.percent_interval(mean, high - mean) for mean, high in zip(table["mean"], table["high"], strict=True)
        ],
        "Dense": [formats.percent(value) for value in table["dense"]],
        "Paired difference (95% interval)": [difference(row) for row in table.to_dict("records")],
        "p": [
            formats.p_value(value).removeprefix("p ").removeprefix("= ") or formats.MISSING
            for value in table["p_value"]
        ],
        "Seeds": [str(count) for count in table["seeds"]],
    }
    for name, counted in tables.items():
        read[f"MACs, {MAC_NAMES[name]}"] = [
            f"{formats.macs(macs)} ({formats.MINUS}{formats.percent(saved)})"
            for macs, saved in zip(counted["macs"], counted["macs_saved"], strict=True)
        ]
    return pd.DataFrame(read).map(lambda text: text.replace(" %", f"{NO_BREAK}%"))


def difference(row: Row) -> str:
    """Write a paired difference with its interval; without one where a single seed gives none."""
    text = formats.points(row["difference"])
    low, high = row["difference_low"], row["difference_high"]
    return text if math.isnan(low) else f"{text} ({_signed(low)} to {_signed(high)})"


def _signed(value: float) -> str:
    return formats.points(value).removesuffix(" points")


def _allowance(tolerance: float) -> str:
    return f" minus {100 * tolerance:g} points" if tolerance else ""


def _caption(table: pd.DataFrame, tolerance: float) -> str:
    settings = table[["dataset", "task", "objective", "model"]].drop_duplicates()
    where = " and ".join(
        f"{names.dataset(dataset)} {names.task(task, objective)} with {names.model(model)}"
        for dataset, task, objective, model in settings.itertuples(index=False)
    )
    return (
        f"{where}. A ticket is a round whose mean test {metric_words(table)} is at least the dense mean of the same "
        f"seeds{_allowance(tolerance)}; shown is each run's ticket with the highest graph sparsity, then weight "
        "sparsity. Differences are paired by seed. Cards count MACs with dense features, as the paper does."
    )
