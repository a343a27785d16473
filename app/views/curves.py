"""Curves: the test score of every round against sparsity, with a table."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis.drawing.description import Description
from analysis.figures.accuracy import accuracy_curves
from analysis.tables.captions import caption, metric_words
from analysis.tables.curves import Score, XAxis
from analysis.tables.tickets import late_words, ticket_words, with_diagnoses
from app.components import controls, frame, run_select
from app.components.downloads import drawn, show_number_table, show_rounds
from app.data import cache
from glt import formats
from glt.store import MacConvention, Run
from glt.verdicts import below_whole

CHANGED = "Edges changed by the solver"
PERCENT = (
    "Graph sparsity",
    "Edges kept, either way",
    "Edges kept, both ways",
    "Weight sparsity",
    "95% interval",
)

ABOUT_VERDICT = (
    "ticket: loses significantly less than the margin against dense; no ticket: loses significantly more; open: "
    "neither is significant; no verdict: a single seed, or no spread between seeds."
)
ABOUT_P = "One-sided, in the direction of the mean, corrected for all rounds shown"
ABOUT_DETECTABLE = (
    "Smallest distance from the margin that these seeds detect with 80 % power, "
    "corrected for all rounds; empty above 100"
)
ABOUT_NEEDED = "Seeds needed to settle an open round, if mean and spread stay the same"
ABOUT_CHANGED = "ADMM: kept edges that a projection of the solver's initial values would remove; mean over seeds"
CUTS, AT_CHANCE = "Cuts without gradient", "Search at chance by epoch"
ABOUT_CUTS = (
    "Share of the edge entries removed in the round whose mask had no effect on the training loss: initial noise "
    "decided their rank. Mean over seeds; empty for methods that train no masks."
)
ABOUT_CHANCE = (
    "Epoch from which the validation score of the search stays at chance, the earliest over seeds. Masks may have been "
    "read before it."
)


@dataclass(frozen=True)
class View:
    """The choices of the controls."""

    x: XAxis
    macs: MacConvention
    score: Score
    margin: float
    paper: bool
    each_seed: bool
    whole: bool


def page() -> None:
    """Show the page."""
    with frame.page("Curves", "Test score of every round against sparsity or MACs."):
        finished = run_select.finished_runs(
            "runs",
            "No finished rounds yet",
            "A curve appears as soon as a run has finished its dense round.",
            "show_chart",
        )
        if not finished:
            return
        chosen, view = _controls(finished)
        runs = run_select.chosen_runs(chosen, "stacked_line_chart")
        if not runs:
            return
        show_rounds(_figure(runs, view), "accuracy", "Test score of every round against sparsity")
        tickets = cache.tickets_of(runs, view.score, view.macs, view.margin)
        finding = "No pruned rounds yet." if tickets.empty else ticket_words(tickets)
        about = caption(cache.rounds_of(runs), view.score, view.macs, view.margin, view.paper)
        frame.caption(frame.plain(finding), frame.plain(about))
        frame.results_note(runs)
        table = _table(runs, view)
        for sentence in late_words(table):
            st.warning(frame.plain(sentence), icon=":material/warning:")
        _show_numbers(table)


def _controls(finished: list[Run]) -> tuple[list[Run], View]:
    with frame.row("controls"):
        runs = run_select.pick_runs(finished, run_select.together(finished))
        x, macs = run_select.pick_axis(), run_select.pick_macs()
        score, margin = run_select.pick_score(), run_select.pick_margin()
        with frame.row("switches", "center", width="content"):
            paper = controls.switch("paper", "Paper's points")
            each_seed = controls.switch("each_seed", "Each seed", default=True)
            whole = controls.switch("whole", "Full range")
    return runs, View(x, macs, score, margin, paper, each_seed, whole)


def _table(runs: list[Run], view: View) -> pd.DataFrame:
    curve = cache.curve_of(runs, view.score, view.x, view.macs, view.margin)
    return with_diagnoses(curve, cache.diagnoses_of(runs))


@drawn()
def _figure(runs: list[Run], view: View) -> Description:
    return accuracy_curves(
        _table(runs, view),
        cache.rounds_of(runs),
        x=view.x,
        score=view.score,
        macs=view.macs,
        paper=view.paper,
        near=not view.whole,
        seeds=view.each_seed,
    )


def _show_numbers(table: pd.DataFrame) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    columns = dict.fromkeys([*PERCENT, f"Test {metric_words(table)}"], number(format="%.1f %%")) | {
        "95% interval": number(format="± %.1f"),
        "MACs": number(format=f"%.{1 if table['macs'].max() < 1e8 else 0}f M"),
        "Against dense": number(format="%+.1f points", help="Paired by seed"),
        "Verdict": text(help=ABOUT_VERDICT),
        "Holm-adjusted p": number(format="%.4f", help=ABOUT_P),
        "Detectable": number(format="%.1f points", help=ABOUT_DETECTABLE),
        "Seeds needed": number(format="about %d", help=ABOUT_NEEDED),
        "Paper's criterion": text(help="Mean at least the dense mean; not a test"),
        CHANGED: number(format="%.0f", help=ABOUT_CHANGED),
        CUTS: number(format="%.1f %%", help=ABOUT_CUTS),
        AT_CHANCE: number(format="%d", help=ABOUT_CHANCE),
    }
    show_number_table(shown_columns(table), columns, key="numbers", height=320, placeholder=formats.MISSING)


def shown_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return `curve_table` with the page's column names, in percent and millions."""
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
            "Detectable": 100 * below_whole(table["detectable"]),
            "Seeds": table["seeds"],
            "Seeds needed": table["seeds_needed"],
            "Paper's criterion": ["met" if met else "" for met in table["paper_criterion"]],
            CHANGED: table["solver_edges_changed"],
        }
    )
    return shown if shown[CHANGED].notna().any() else shown.drop(columns=CHANGED)


def _diagnosed(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns of training diagnostics, without empty ones."""
    known = {CUTS: ("cuts_without_gradient", 100), AT_CHANCE: ("search_at_chance", 1)}
    return {name: scale * table[of] for name, (of, scale) in known.items() if of in table and table[of].notna().any()}
