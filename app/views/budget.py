"""Methods at an equal budget: the same directed entries, undirected edges, MACs or round, on the page Compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pandas as pd
import streamlit as st

from analysis.budget import (
    EQUALS,
    TOLERANCE,
    USUAL,
    Budget,
    Equal,
    budget_caption,
    budget_table,
    budget_words,
    result_words,
    target_words,
    usual_equal,
)
from analysis.drawing.description import Description
from analysis.figures.budget import budget_marks
from analysis.figures.pareto import FRONT_WORDS, pareto_front
from analysis.palette import DENSE
from analysis.tables.captions import MAC_WORDS, metric_words, score_words
from analysis.tables.curves import Score, XAxis, with_front
from app.components import controls, downloads, frame, run_select
from app.components.downloads import drawn, show_number_table, show_rounds
from app.data import cache
from glt import formats
from glt.errors import ConfigError
from glt.store import MacConvention, Run
from glt.verdicts import DELTA

SHOWN = {"targets": "Targets", "front": "Pareto front"}
EQUAL_WORDS: dict[str, str] = {
    "round": "Round",
    "entries": "Directed entries",
    "edges": "Undirected edges",
    "macs": "MACs",
}
# The axis of the Pareto view; equal rounds have equal entries where they are the usual choice.
AXES: dict[Equal, XAxis] = {"round": "graph", "entries": "graph", "edges": "edges", "macs": "macs"}
ABOUT_ROUNDS = "The targets are what the reference keeps in these rounds. Empty: 4, 9, 13, 16, as far as it has them."
ABOUT_SHARES = "Targets as percent kept, such as 80, 60, in place of rounds."
ABOUT_WITHIN = "How far from a target, in percent of it, a run's nearest round may be. Scores are not interpolated."


def show_budget(finished: Sequence[Run]) -> None:
    """Show the chosen runs at an equal budget: at targets, or all rounds with their Pareto front."""
    with frame.row("controls"):
        chosen = run_select.pick_runs(finished, run_select.together(finished))
        form = controls.segments("shown", "Show", SHOWN)
        score, macs = run_select.pick_score(), run_select.pick_macs()
    runs = run_select.chosen_runs(chosen, "leaderboard")
    if not runs:
        return
    with frame.or_why():
        if form == "front":
            _show_front(runs, _pick_equal(runs), score, macs)
            return
        with frame.row("targets"):
            budget = pick_budget(runs)
        _show_targets(runs, budget, score, macs)


def _pick_equal(runs: Sequence[Run]) -> Equal:
    usual = usual_equal(cache.rounds_of(runs))
    return cast(Equal, controls.segments("equal", "Equal", EQUAL_WORDS, usual))


def pick_budget(runs: Sequence[Run]) -> Budget:
    """Choose where these runs are compared; raises ConfigError for targets that are no numbers."""
    equal = _pick_equal(runs)
    words = {DENSE: "Dense, same seeds", **run_select.run_words(runs)}
    reference = controls.select("reference", "Reference", words, DENSE, width=280)
    rounds = controls.text("rounds", "Rounds", placeholder="4, 9, 13, 16", help=ABOUT_ROUNDS, width=150)
    budget = replace(
        USUAL, at=equal, reference=reference, rounds=tuple(map(int, _numbers(rounds, "Rounds", whole=True)))
    )
    if equal == "round":
        return budget
    shares = controls.text("shares", "Shares (%)", placeholder="80, 60", help=ABOUT_SHARES, width=150)
    within = controls.number(
        "within", "Within (%)", 100 * TOLERANCE, 0.0, 50.0, 0.5, format="%.1f", width=120, help=ABOUT_WITHIN
    )
    found = tuple(share / 100 for share in _numbers(shares, "Shares (%)"))
    return replace(budget, shares=found, tolerance=within / 100)


def _numbers(text: str, label: str, whole: bool = False) -> list[float]:
    """Read numbers with commas or spaces between them; raises ConfigError.

    >>> _numbers("4, 9 13", "Rounds", whole=True)
    [4.0, 9.0, 13.0]
    """
    words = text.replace(",", " ").split()
    if not all(word.isascii() and (word if whole else word.replace(".", "", 1)).isdigit() for word in words):
        example = "4, 9, 13" if whole else "80, 62.5"
        raise ConfigError(f"“{label}” is not a list of numbers: write them as {example}.")
    return [float(word) for word in words]


def _show_targets(runs: list[Run], budget: Budget, score: Score, macs: MacConvention) -> None:
    table = _table_of(runs, budget, score, macs)
    st.markdown(frame.plain(budget_words(table)))
    title = f"Test score of every run at {EQUALS[table['equal'].iloc[0]]}"
    show_rounds(_marks(runs, budget, score, macs), "budget", title)
    counted = f" MACs count {MAC_WORDS[macs]}." if table["equal"].iloc[0] == "macs" else ""
    frame.caption(
        "Full marks: a significant difference from the reference. Dashed: dense.",
        frame.plain(
            f"{formats.opening(score_words(table, score))}, mean and 95% t interval over seeds, from three on. "
            f"{formats.opening(budget_caption(table))}.{counted} Differences are paired by seed; Holm's correction is "
            "over all comparisons shown. Intervals of means are not corrected."
        ),
    )
    number = st.column_config.NumberColumn
    metric = f"Test {metric_words(table)}"
    columns = {
        metric: number(format="%.1f %%"),
        "95% interval": number(format="± %.1f"),
        "Kept": number(format="%.1f %%"),
        "Round": number(format="%d"),
        "Seeds": number(format="%d"),
        "Against the reference": st.column_config.TextColumn(width=420),
    }
    show_number_table(budget_numbers(table, metric), columns, key="budget-numbers", placeholder=formats.MISSING)
    with st.container(horizontal=True, gap="small", key="budget-files"):
        downloads.csv_button(table, "budget.csv")
        downloads.file_button("LaTeX", "budget.tex", "application/x-tex", lambda: _latex(table, score, macs))
    frame.results_note(runs)


def budget_numbers(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a `budget_table` with the page's column names, in percent, without empty columns."""
    rows = table.to_dict("records")
    shown: dict[str, Any] = {
        "Target": list(map(target_words, rows)),
        "Run": table["label"],
        "Round": table["round"],
        "Kept": 100 * table["kept"],
        metric: 100 * table["mean"],
        "95% interval": 100 * (table["high"] - table["mean"]),
        "Against the reference": list(map(result_words, rows)),
        "Seeds": table["seeds"],
    }
    return pd.DataFrame(shown).dropna(axis="columns", how="all")


def _latex(table: pd.DataFrame, score: Score, macs: MacConvention) -> bytes:
    # Imported late: loads the paper's tables.
    from analysis.latex import budget_latex

    return budget_latex(table, score, macs).encode()


@cache.cached(32)
def _table_of(runs: list[Run], budget: Budget, score: Score, macs: MacConvention) -> pd.DataFrame:
    return budget_table(cache.rounds_of(runs), budget, score, macs)


@drawn()
def _marks(runs: list[Run], budget: Budget, score: Score, macs: MacConvention) -> Description:
    return budget_marks(_table_of(runs, budget, score, macs), cache.rounds_of(runs), score, macs)


def _show_front(runs: list[Run], equal: Equal, score: Score, macs: MacConvention) -> None:
    show_rounds(_front(runs, AXES[equal], score, macs), "front", "Test score of every round against what it keeps")
    frame.caption("Filled marks: the Pareto front of means, which nothing tests. Strokes: 95% intervals.", FRONT_WORDS)
    frame.results_note(runs)


@drawn()
def _front(runs: list[Run], x: XAxis, score: Score, macs: MacConvention) -> Description:
    table = cache.curve_of(runs, score, x, macs, DELTA)
    return pareto_front(with_front(table, x), cache.rounds_of(runs), x=x, score=score, macs=macs)
