"""The leader table on the screen: its controls, its rows as numbers that sort, and how they were compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from zlib import crc32

import numpy as np
import pandas as pd
import streamlit as st

from analysis.comparing import RANKS, UNGROUPED, Rank, comparison_words, group_fields, grouped_by, leader_table
from analysis.comparing.leaders import PAIRED, SUBJECT
from analysis.tables import Score, data_words, metric_words
from analysis.tables.caption import MAC_WORDS
from analysis.tables.curve import family_size
from analysis.tables.scores import score_words
from app.widgets import controls, files, frame, pickers, reading
from glt import formats
from glt.store import MacConvention, Run
from glt.verdicts import rule_words

# Reading so many runs for the first time takes seconds.
MANY = 200
# Pixels.
ROW, MOST_HEIGHT, HEAD, RUN_WIDTH = 35, 460, 38, 280
ROUND = {"best": "Round", "sparsest": "Ticket's round"}
INTERVAL = {"dense": "± dense", "best": "± best", "sparsest": "± ticket"}
ABOUT_ROWS = " Choose two rows to compare them below."


@dataclass(frozen=True)
class Board:
    """What the controls say of the table; `by` is the setting that runs are grouped by, "" for a row a run."""

    by: str
    rank: Rank
    score: Score
    macs: MacConvention
    margin: float


def pick_group(runs: Sequence[Run]) -> str:
    """Choose the setting whose values the runs are put together by, or none."""
    fields = group_fields(runs)
    words = {name: f"{name} ({formats.number_of(count, 'value')})" for name, count in fields.items()}
    options = {UNGROUPED: "nothing: a row a run", **words}
    return controls.optional("by", "Group by", options, width=190) or UNGROUPED


def pick_rank() -> Rank:
    """Choose the round at which runs are compared."""
    words = {str(name): text for name, text in RANKS.items()}
    return cast(Rank, controls.select("rank", "Compared at", words, "best", width=160))


def show(runs: list[Run], board: Board) -> list[str]:
    """Show the table with its caption and download, and return the two runs to look at first, none of groups.

    Two rows that are chosen become the pair below.
    """
    with st.spinner(f"Reading {formats.number_of(len(runs), 'run')}", show_time=len(runs) > MANY):
        table = _table(reading.stamps(runs), board, runs)
    if not board.by:
        table = table.assign(label=table["run"].map(pickers.run_words(runs)))
    height = min(HEAD + ROW * len(table), MOST_HEIGHT)
    event = st.dataframe(
        files.cells(numbers(table, board), _columns(table, board)),
        hide_index=True,
        # Chosen rows are kept by their places: other rows must be another table.
        key=f"leaders-{board.by}-{crc32(' '.join(table['run']).encode())}",
        height=height,
        column_config=_columns(table, board),
        on_select="rerun" if not board.by else "ignore",
        selection_mode="multi-row",
        placeholder=formats.MISSING,
    )
    if not board.by:
        _choose(table, cast(Any, event).selection.rows)
    st.caption(frame.plain(_caption(table, board, reading.rounds_of(runs))))
    files.csv_button(table, "leaders.csv")
    return first_pair(table) if not board.by else []


def first_pair(table: pd.DataFrame) -> list[str]:
    """Return the reference of a `leader_table` and the next run that is paired with it."""
    rivals = table[(table[SUBJECT] == table[SUBJECT].iloc[0]).all(axis="columns")]
    paired = rivals[rivals["compared"] == PAIRED]
    return [str(table["run"].iloc[0]), *map(str, paired["run"].iloc[:1])]


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs={Board: repr})
def _table(stamps: tuple[reading.Stamp, ...], board: Board, _runs: list[Run]) -> pd.DataFrame:
    groups = grouped_by(_runs, board.by) if board.by else None
    rounds = reading.rounds_of(_runs)
    return leader_table(rounds, score=board.score, macs=board.macs, margin=board.margin, rank=board.rank, groups=groups)


def _choose(table: pd.DataFrame, rows: Sequence[int]) -> None:
    """Make the two chosen rows the pair, once for each choice, so that the pickers can change it afterwards."""
    chosen = [str(table["run"].iloc[row]) for row in sorted(rows) if row < len(table)]
    if len(chosen) == 2 and st.session_state.get("leaders: chosen") != chosen:
        st.session_state["leaders: chosen"] = chosen
        st.session_state["one"], st.session_state["other"] = chosen


def numbers(table: pd.DataFrame, board: Board) -> pd.DataFrame:
    """Return `leader_table` under the words of the page: percent and millions, so that they sort."""
    metric = metric_words(table)
    shown = {"Run" if not board.by else board.by: table["label"]}
    shown["Against the reference"] = [comparison_words(row) for row in table.to_dict("records")]
    for part, words in (("dense", f"Dense {metric}"), ("best", f"Best pruned {metric}"), ("sparsest", "Ticket")):
        if part != "dense":
            shown[ROUND[part]] = table[f"{part}_round"]
        shown[words] = 100 * table[f"{part}_mean"]
        shown[INTERVAL[part]] = 100 * (table[f"{part}_high"] - table[f"{part}_mean"])
    shown["Ticket's graph sparsity"] = 100 * table["sparsest_graph_sparsity"]
    shown["Ticket's weight sparsity"] = 100 * table["sparsest_weight_sparsity"]
    shown["Ticket's MACs"] = table["sparsest_macs"] / 1e6
    if board.by:
        shown["Runs"] = table["runs"]
        shown["With a ticket"] = table["sparsest_runs"]
    shown["Seeds"] = table["seeds"]
    frame_ = pd.DataFrame(shown)
    return frame_.drop(columns=[name for name in frame_ if str(name).startswith("±") and frame_[name].isna().all()])


def _columns(table: pd.DataFrame, board: Board) -> dict[str, Any]:
    metric = metric_words(table)
    percent, half = "%.1f %%", "± %.1f"
    scores = (f"Dense {metric}", f"Best pruned {metric}", "Ticket")
    columns = {name: st.column_config.NumberColumn(format=percent) for name in scores}
    columns |= {INTERVAL[part]: st.column_config.NumberColumn(format=half) for part in INTERVAL}
    columns |= {
        f"Ticket's {what} sparsity": st.column_config.NumberColumn(f"{what.capitalize()} sparsity", format=percent)
        for what in ("graph", "weight")
    }
    decimals = 1 if np.nan_to_num(table["sparsest_macs"]).max() < 1e8 else 0
    columns["Ticket's MACs"] = st.column_config.NumberColumn("MACs", format=f"%.{decimals}f M")
    columns["Ticket's round"] = st.column_config.NumberColumn("Round", format="%d")
    columns["Round"] = st.column_config.NumberColumn(format="%d")
    wide = st.column_config.TextColumn(width=RUN_WIDTH, pinned=True)
    return columns | {"Run" if not board.by else board.by: wide}


def _caption(table: pd.DataFrame, board: Board, rounds: pd.DataFrame) -> str:
    together = bool(board.by) and not table["run"].all()
    over = "the different seeds of a group (each the mean over its runs)" if together else "seeds"
    parts = [
        f"{formats.opening(score_words(rounds, board.score))}; means and 95% t intervals over {over}, from three on",
        f"best pruned: the round with the highest mean validation {metric_words(table)}",
        f"ticket: the sparsest round {rule_words(board.margin, family_size(rounds, board.score))}",
        f"MACs count {MAC_WORDS[board.macs]}",
    ]
    if mixed := data_words(rounds):
        parts.append(f"{mixed} and runs are compared on each")
    told = (
        "The reference has the highest mean validation score (of rows with two seeds or more, where there are any). "
        "Differences are of test scores: paired t tests over shared seeds, Welch's where fewer than two are shared, "
        'Holm over all rows compared with it; "detects" is the smallest difference that these seeds show with 80 % '
        "power."
        f"{'' if board.by else ABOUT_ROWS}"
    )
    return f"{'; '.join(parts)}. {told}"
