"""Curves: the score of every round against what is left, with its numbers under it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.curves import accuracy_figure
from analysis.tables import Score, XAxis, caption, late_words, metric_words, ticket_words, with_diagnoses
from app.components import charts, controls, frame, run_select
from app.components.run_select import readable
from app.data import cache
from app.data.runs import opened
from glt import formats
from glt.store import MacConvention, Run

OFF_START = "Edges off the start"
PERCENT = (
    "Graph sparsity",
    "Edges kept, either way",
    "Edges kept, both ways",
    "Weight sparsity",
    "95% interval",
)

ABOUT_VERDICT = (
    "ticket: shown to lose less than the margin against dense; no ticket: shown to lose more; open: these seeds show "
    "neither; no verdict: one seed, or no spread."
)
ABOUT_P = "Of the direction in which the mean lies, one-sided, corrected for all rounds shown"
ABOUT_DETECTABLE = "The smallest distance from the margin that these seeds show at 80 % power, among all rounds shown"
ABOUT_NEEDED = "About how many seeds would settle an open round, if mean and spread stay"
CUTS, AT_CHANCE = "Cuts without gradient", "Search at chance by epoch"
ABOUT_CUTS = (
    "Share of the edge entries removed in the round on whose mask the training loss did not depend: their rank is the "
    "noise of the start. Mean over seeds; empty for methods that train no masks."
)
ABOUT_CHANCE = (
    "The earliest epoch, over seeds, from which the search's validation score is at chance to the end. Masks may have "
    "been read before."
)


@dataclass(frozen=True)
class View:
    """What the controls say."""

    x: XAxis
    macs: MacConvention
    score: Score
    margin: float
    paper: bool
    each_seed: bool
    whole: bool


def page() -> None:
    """Show the page."""
    with frame.page("Curves", "The test score of every round against what was removed."):
        found = run_select.with_rounds(opened().runs)
        if not found:
            run_select.tell_none_left("runs")
            frame.empty(
                "No finished rounds yet",
                "A curve appears as soon as a run has finished its dense round.",
                "show_chart",
                "launch",
                "Launch a run",
            )
            return
        runs, view = _controls(found)
        run_select.tell_gone("runs")
        if not runs:
            frame.empty("No runs chosen", "Choose at least one run in the row above.", "stacked_line_chart")
            return
        _picture(readable(runs), view)


def _controls(found: list[Run]) -> tuple[list[Run], View]:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        runs = run_select.pick_runs(found, run_select.together(found))
        x, macs = run_select.pick_axis(), run_select.pick_macs()
        score, margin = run_select.pick_score(), run_select.pick_margin()
        with st.container(width="content", horizontal=True, gap="small", vertical_alignment="center", key="switches"):
            paper = controls.switch("paper", "Paper's points")
            each_seed = controls.switch("each_seed", "Each seed", default=True)
            whole = controls.switch("whole", "Full range")
    return runs, View(x, macs, score, margin, paper, each_seed, whole)


def _picture(runs: list[Run], view: View) -> None:
    rounds = cache.rounds_of(runs)
    table = cache.curve_of(runs, view.score, view.x, view.macs, view.margin)
    table = with_diagnoses(table, cache.diagnoses_of(runs))
    figure = _figure(cache.stamps(runs), view, frame.is_dark(), table, rounds)
    charts.show_rounds(figure, "accuracy", "Test score of every round against sparsity")
    tickets = cache.tickets_of(runs, view.score, view.macs, view.margin)
    finding = "" if tickets.empty else f"{ticket_words(tickets)} "
    st.caption(frame.plain(f"{finding}{caption(rounds, view.score, view.macs, view.margin, view.paper)}"))
    frame.results_note(runs)
    for sentence in late_words(table):
        st.warning(frame.plain(sentence), icon=":material/warning:")
    _numbers(table)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={View: repr})
def _figure(
    stamps: tuple[cache.Stamp, ...], view: View, dark: bool, _table: pd.DataFrame, _rounds: pd.DataFrame
) -> go.Figure:
    return accuracy_figure(
        _table,
        _rounds,
        x=view.x,
        score=view.score,
        macs=view.macs,
        paper=view.paper,
        dark=dark,
        near=not view.whole,
        seeds=view.each_seed,
    )


def _numbers(table: pd.DataFrame) -> None:
    percent = st.column_config.NumberColumn(format="%.1f %%")
    columns = dict.fromkeys([*PERCENT, f"Test {metric_words(table)}"], percent)
    columns["95% interval"] = st.column_config.NumberColumn(format="± %.1f")
    columns["MACs"] = st.column_config.NumberColumn(format=f"%.{1 if table['macs'].max() < 1e8 else 0}f M")
    columns["Against dense"] = st.column_config.NumberColumn(format="%+.1f points", help="Paired by seed")
    columns["Verdict"] = st.column_config.TextColumn(help=ABOUT_VERDICT)
    columns["Holm-adjusted p"] = st.column_config.NumberColumn(format="%.4f", help=ABOUT_P)
    columns["Detectable"] = st.column_config.NumberColumn(format="%.1f points", help=ABOUT_DETECTABLE)
    columns["Seeds needed"] = st.column_config.NumberColumn(format="about %d", help=ABOUT_NEEDED)
    columns["Paper's criterion"] = st.column_config.TextColumn(help="Mean at least the dense mean. It tests nothing.")
    columns[OFF_START] = st.column_config.NumberColumn(
        format="%.0f", help="ADMM: kept edges that the projection of the solver's start does not keep, mean over seeds"
    )
    columns[CUTS] = st.column_config.NumberColumn(format="%.1f %%", help=ABOUT_CUTS)
    columns[AT_CHANCE] = st.column_config.NumberColumn(format="%d", help=ABOUT_CHANCE)
    st.dataframe(
        charts.cells(numbers(table), columns),
        hide_index=True,
        key="numbers",
        height=320,
        placeholder=formats.MISSING,
        column_config=columns,
    )


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve_table` under the words of the page: percent and millions, so that they sort."""
    shown = pd.DataFrame(
        {
            "Method": table["label"],
            "Round": table["round"],
            "Verdict": ["★ ticket" if verdict == "ticket" else verdict for verdict in table["verdict"]],
            "Graph sparsity": 100 * table["graph_sparsity"],
            "Edges kept, either way": 100 * table["edges_kept_either_way"],
            "Edges kept, both ways": 100 * table["edges_kept_both_ways"],
            "Weight sparsity": 100 * table["weight_sparsity"],
            **_diagnosed(table),
            "MACs": table["macs"] / 1e6,
            f"Test {metric_words(table)}": 100 * table["mean"],
            "95% interval": 100 * (table["high"] - table["mean"]),
            "Against dense": 100 * table["difference"],
            "Holm-adjusted p": table["p_adjusted"],
            "Detectable": 100 * table["detectable"],
            "Seeds": table["seeds"],
            "Seeds needed": table["seeds_needed"],
            "Paper's criterion": ["met" if met else "" for met in table["paper_criterion"]],
            OFF_START: table["solver_edges_changed"],
        }
    )
    return shown if shown[OFF_START].notna().any() else shown.drop(columns=OFF_START)


def _diagnosed(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Return columns of what rounds say of their training, where any of them does."""
    known = {CUTS: ("cuts_without_gradient", 100), AT_CHANCE: ("search_at_chance", 1)}
    return {name: scale * table[of] for name, (of, scale) in known.items() if of in table and table[of].notna().any()}
