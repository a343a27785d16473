"""Tickets: for each run the sparsest round that is shown to be a ticket, its cost, and its audit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from analysis import marks, names
from analysis.marks.axes import MAC_NAMES
from analysis.tables import Score, XAxis, metric_words, ticket_words
from app.widgets import controls, frame, importing, pareto, pickers, reading, scoring, ticket_cards
from app.widgets.opened import opened
from app.widgets.readable import readable
from glt import formats
from glt.store import MAC_CONVENTIONS, Run
from glt.verdicts import rule_words

VIEWS = {"runs": "Of runs", "file": "From a file"}
NO_BREAK = "\N{NO-BREAK SPACE}"

Row = Mapping[Hashable, Any]


def page() -> None:
    """Show the page."""
    with frame.page(
        "Tickets", "The sparsest round of each run that is shown to lose less than a margin against dense."
    ):
        if controls.segments("view", "View", VIEWS, label_visibility="collapsed") == "file":
            importing.show()
        else:
            _of_runs()


def _of_runs() -> None:
    found = pickers.with_rounds(opened().runs)
    if not found:
        pickers.tell_none_left("runs")
        frame.empty(
            "No tickets yet",
            "Tickets are looked for as soon as a run has finished its first pruning round.",
            "confirmation_number",
            "launch",
            "Launch a run",
        )
        return
    chosen, x, score, margin = _controls(found)
    pickers.tell_gone("runs")
    if not chosen:
        frame.empty("No runs chosen", "Choose at least one run in the row above.", "confirmation_number")
        return
    runs = readable(chosen)
    table = reading.tickets_of(runs, score, "dense_features", margin)
    if table.empty:
        frame.empty("No pruned rounds", "The chosen runs have no finished round after the dense one.", "hourglass")
        return
    _finding(table)
    pareto.picture(runs, x, score, margin)
    ticket_cards.show({run.reference: run for run in runs}, table)
    with st.container(key="figures-tickets"):
        st.table(as_read(runs, score, margin), border="horizontal", hide_index=True)
    st.caption(_caption(table, margin))
    frame.results_note(runs)


def _controls(found: list[Run]) -> tuple[list[Run], XAxis, Score, float]:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        runs = pickers.pick_runs(found, pickers.together(found))
        return runs, scoring.pick_axis(), scoring.pick_score(), scoring.pick_margin()


def _finding(table: pd.DataFrame) -> None:
    """Say which rounds are shown to be tickets, or that none is, and which are open."""
    paper = next(iter(marks.paper_baselines(table)), None)
    dense = table["dense"].iloc[0]
    told = (
        f" The paper prints {formats.percent(paper)} for its dense network; here every round is compared with a dense "
        f"network trained as the pruned ones are, which reaches {formats.percent(dense)}."
        if paper is not None and paper < dense and not table["is_ticket"].any()
        else ""
    )
    icon = "star" if table["is_ticket"].any() else "info"
    st.info(frame.plain(f"{ticket_words(table)}{told}"), icon=f":material/{icon}:")


def as_read(runs: Sequence[Run], score: Score, margin: float) -> pd.DataFrame:
    """Return one row a run, as people read it: the round, its verdict, its paired difference, MACs three ways."""
    tables = {name: reading.tickets_of(runs, score, name, margin) for name in MAC_CONVENTIONS}
    table = tables["dense_features"]
    read = {
        "Method": list(map(frame.plain, table["label"])),
        "Round": [f"★ {row['round']}" if row["is_ticket"] else str(row["round"]) for row in table.to_dict("records")],
        "Verdict": list(table["verdict"]),
        f"Test {metric_words(table)}": [
            formats.percent_interval(mean, high - mean) for mean, high in zip(table["mean"], table["high"], strict=True)
        ],
        "Dense": [formats.percent(value) for value in table["dense"]],
        "Paired difference (95% interval)": [difference(row) for row in table.to_dict("records")],
        "Holm-adjusted p": [
            formats.p_value(value).removeprefix("p ").removeprefix("= ") or formats.MISSING
            for value in table["p_adjusted"]
        ],
        "Seeds": [str(count) for count in table["seeds"]],
        "Paper's criterion": ["met" if met else "not met" for met in table["paper_criterion"]],
    }
    for name, counted in tables.items():
        read[f"MACs, {MAC_NAMES[name]}"] = [
            f"{formats.macs(macs)} ({formats.percent(-removed)})"
            for macs, removed in zip(counted["macs"], counted["macs_removed"], strict=True)
        ]
    return pd.DataFrame(read).map(lambda text: text.replace(" %", f"{NO_BREAK}%"))


def difference(row: Row) -> str:
    """Write a paired difference with its interval; without one where a single seed gives none."""
    text = formats.points(row["difference"])
    low, high = row["difference_low"], row["difference_high"]
    return text if math.isnan(low) else f"{text} ({_signed(low)} to {_signed(high)})"


def _signed(value: float) -> str:
    return formats.points(value).removesuffix(" points")


def _caption(table: pd.DataFrame, margin: float) -> str:
    settings = table[["dataset", "task", "objective", "model"]].drop_duplicates()
    where = " and ".join(
        f"{names.dataset(dataset)} {names.task(task, objective)} with {names.model(model)}"
        for dataset, task, objective, model in settings.itertuples(index=False)
    )
    family = int(table["family"].max())
    return (
        f"{where}. A ticket is {rule_words(margin, family)}, in mean test {metric_words(table)}; a round that is shown "
        "to lose more is no ticket, any other is open. Each run shows its sparsest ticket, else the round closest by "
        "validation score. Differences are paired by seed. Paper's criterion: mean at least the dense mean, without a "
        "test. Cards count MACs with dense features, as the paper does."
    )
