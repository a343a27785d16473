"""Compare: every run beside the one that validates best, and two runs paired by seed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.settings import unusual
from app.widgets import controls, frame, leader_board, pair, pickers, run_filter, scoring
from app.widgets.leader_board import Board
from app.widgets.opened import opened
from app.widgets.readable import readable
from glt import formats
from glt.store import Run

# More rows than this are read only when they are asked for.
MOST_ROWS = 30


def page() -> None:
    """Show the page."""
    with frame.page("Compare", "Significant differences between runs, and the settings in which two of them differ."):
        found = pickers.with_rounds(opened().runs)
        if not found:
            pickers.tell_none_left("one")
            frame.empty(
                "Nothing to compare yet",
                "Runs are compared as soon as one has finished its dense round.",
                "leaderboard",
                "launch",
                "Launch a run",
            )
            return
        alike, chosen, board = _controls(found)
        first: list[str] = []
        with frame.or_why():
            first = _leaders(chosen, board)
        with frame.or_why():
            _pair(alike, board, first)


def _controls(found: Sequence[Run]) -> tuple[list[Run], list[Run], Board]:
    """Return the runs on the chosen data set, those of them that fit the words, and what the table holds."""
    subjects: dict[str, list[Run]] = {}
    for run in found:
        subjects.setdefault(pickers.scores_of(run), []).append(run)
    usual = pickers.scores_of(pickers.together(found)[0])
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        on = controls.select("on", "Scores of", {words: words for words in subjects}, usual, width=270)
        alike = subjects[on]
        by = leader_board.pick_group(alike)
        rank = leader_board.pick_rank()
        score, macs, margin = scoring.pick_score(), scoring.pick_macs(), scoring.pick_margin()
        words = run_filter.pick_words(len(found))
    chosen = run_filter.matching(alike, words)
    if not words and not by:
        chosen = _usual(chosen)
    sound = readable(chosen)
    alike = [run for run in alike if run in sound or run not in chosen]
    return alike, sound, Board(by, rank, score, macs, margin)


def _usual(alike: list[Run]) -> list[Run]:
    """Return the runs nearest to the usual settings where there are very many, unless the reader wants them all."""
    if len(alike) <= MOST_ROWS or controls.switch("all", f"All {formats.count(len(alike))} runs"):
        return alike
    nearest = set(sorted(alike, key=lambda run: unusual(run.config))[:MOST_ROWS])
    chosen = [run for run in alike if run in nearest]
    st.caption(
        f"{len(chosen)} of {formats.count(len(alike))} runs: those nearest to the usual settings. Words of the filter, "
        "or a setting to group by, choose others."
    )
    return chosen


def _leaders(chosen: list[Run], board: Board) -> list[str]:
    if not chosen:
        st.caption("No run fits all these words.")
        return []
    first = leader_board.show(chosen, board)
    frame.results_note(chosen)
    return first


def _pair(alike: list[Run], board: Board, first: Sequence[str]) -> None:
    st.subheader("Two runs, paired by seed", anchor=False)
    if len(alike) < 2:
        st.caption("Only one run has these scores: there is none to compare it with.")
        return
    pair.show(alike, board.score, first)
