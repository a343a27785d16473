"""Compare: rank runs, compare any two of them paired by seed, compare methods at an equal budget, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from zlib import crc32

import numpy as np
import pandas as pd
import streamlit as st

from analysis import palette
from analysis.compare import (
    AT_WORDS,
    UNGROUPED,
    At,
    environment_differences,
    group_fields,
    grouped_by,
    paired_seeds,
    paired_table,
    setting_differences,
    setting_text,
    shared_seeds,
)
from analysis.drawing.description import Description
from analysis.figures.seed_pairs import Side, paired_differences
from analysis.labels import changed_settings
from analysis.leaderboard import (
    BOARD_KEYS,
    PAIRED,
    RANKS,
    Rank,
    comparison_words,
    few_seeds_words,
    leader_table,
    paired_words,
)
from analysis.tables.captions import MAC_WORDS, averaged_over, data_words, metric_words, score_words
from analysis.tables.curves import Score, family_size
from app.components import controls, downloads, frame, run_select
from app.components.downloads import drawn, show_number_table, show_rounds
from app.components.run_select import readable
from app.data import cache
from app.views.budget import show_budget
from app.views.masks import show_stability, show_transfer
from glt import formats
from glt.formats import cell
from glt.store import MacConvention, Run
from glt.verdicts import below_whole, rule_words

VIEWS = {
    "leaders": "Leaders and pairs",
    "budget": "Equal budget",
    "stability": "Stability of masks",
    "transfer": "Transfer of masks",
}
# Rows of the table unless the user asks for all.
MOST_ROWS = 30


def page() -> None:
    """Show the page."""
    with frame.page("Compare", "Rank runs and compare any two."):
        finished = run_select.finished_runs(
            "one",
            "Nothing to compare yet",
            "Runs appear as soon as they have finished their dense round.",
            "leaderboard",
        )
        if not finished:
            return
        show = {
            "leaders": _leaders_and_pair,
            "budget": show_budget,
            "stability": show_stability,
            "transfer": show_transfer,
        }
        show[controls.segments("what", "View", VIEWS, label_visibility="collapsed")](finished)


def _leaders_and_pair(finished: Sequence[Run]) -> None:
    alike, chosen, board = _controls(finished)
    first: list[str] = []
    with frame.or_why():
        first = show_leaders(chosen, board)
    with frame.or_why():
        show_pair(alike, board.score, first)


# Reading this many runs for the first time takes seconds.
MANY = 200
# Pixels.
ROW, MOST_HEIGHT, HEAD, RUN_WIDTH = 35, 460, 38, 280
ROUND = {"best": "Round", "sparsest": "Ticket's round"}
INTERVAL = {"dense": "± dense", "best": "± best", "sparsest": "± ticket"}
ABOUT_LEADERS = "The reference has the highest mean validation score; differences are of test scores."


@dataclass(frozen=True)
class Board:
    """The choices of the table; `by` is the grouping setting, "" for none."""

    by: str
    rank: Rank
    score: Score
    macs: MacConvention
    margin: float


def _controls(finished: Sequence[Run]) -> tuple[list[Run], list[Run], Board]:
    """Return the runs with the chosen scores, the filtered ones, and the table's choices."""
    subjects: dict[str, list[Run]] = {}
    for run in finished:
        subjects.setdefault(run_select.scores_of(run), []).append(run)
    usual = run_select.scores_of(run_select.together(finished)[0])
    with frame.row("controls"):
        on = controls.select("on", "Scores of", {words: words for words in subjects}, usual, width=270)
        alike = subjects[on]
        values = {name: f"{name} ({formats.number_of(n, 'value')})" for name, n in group_fields(alike).items()}
        by = controls.optional("by", "Group by", {UNGROUPED: "No grouping", **values}, width=190) or UNGROUPED
        ranks = {str(name): text for name, text in RANKS.items()}
        rank = cast(Rank, controls.select("rank", "Compared at", ranks, "best", width=160))
        score, macs, margin = run_select.pick_score(), run_select.pick_macs(), run_select.pick_margin()
        words = run_select.pick_filter(len(finished))
    chosen = run_select.matching(alike, words)
    if not words and not by:
        chosen = _usual(chosen)
    sound = readable(chosen)
    alike = [run for run in alike if run in sound or run not in chosen]
    return alike, sound, Board(by, rank, score, macs, margin)


def _usual(alike: list[Run]) -> list[Run]:
    if len(alike) <= MOST_ROWS or controls.switch("all", f"All {formats.count(len(alike))} runs"):
        return alike
    nearest = set(sorted(alike, key=lambda run: changed_settings(run.config))[:MOST_ROWS])
    chosen = [run for run in alike if run in nearest]
    every = formats.count(len(alike))
    st.caption(f"{len(chosen)} of {every} runs, nearest to the default settings. Filter or group to see others.")
    return chosen


def show_leaders(runs: list[Run], board: Board) -> list[str]:
    """Show the table; return the default pair of runs, none for groups.

    Two selected rows become the pair below.
    """
    if not runs:
        st.caption("No run matches all these words.")
        return []
    with st.spinner(f"Reading {formats.number_of(len(runs), 'run')}", show_time=len(runs) > MANY):
        table = _leaders_of(runs, board)
    if not board.by:
        table = table.assign(label=table["run"].map(run_select.run_words(runs)))
    height = min(HEAD + ROW * len(table), MOST_HEIGHT)
    event = show_number_table(
        leader_numbers(table, board),
        _leader_columns(table, board),
        # Streamlit keeps a selection by row number, so other rows need another key.
        key=f"leaders-{board.by}-{crc32(' '.join(table['run']).encode())}",
        height=height,
        on_select="rerun" if not board.by else "ignore",
        selection_mode="multi-row",
        placeholder=formats.MISSING,
    )
    if not board.by:
        _choose_pair(table, cast(Any, event).selection.rows)
    hint = "" if board.by else " Select two rows to compare them."
    frame.caption(f"{ABOUT_LEADERS}{hint}", _leader_details(table, board, cache.rounds_of(runs)))
    downloads.csv_button(table, "leaders.csv")
    frame.results_note(runs)
    return first_pair(table) if not board.by else []


def first_pair(table: pd.DataFrame) -> list[str]:
    """Return the reference of a `leader_table` and the first run paired with it."""
    rivals = table[(table[BOARD_KEYS] == table[BOARD_KEYS].iloc[0]).all(axis="columns")]
    paired = rivals[rivals["compared"] == PAIRED]
    return [str(table["run"].iloc[0]), *map(str, paired["run"].iloc[:1])]


@cache.cached(32)
def _leaders_of(runs: list[Run], board: Board) -> pd.DataFrame:
    groups = grouped_by(runs, board.by) if board.by else None
    rounds = cache.rounds_of(runs)
    return leader_table(rounds, score=board.score, macs=board.macs, margin=board.margin, rank=board.rank, groups=groups)


def _choose_pair(table: pd.DataFrame, rows: Sequence[int]) -> None:
    """Make two selected rows the pair, once per selection: controls may change it later."""
    chosen = [str(table["run"].iloc[row]) for row in sorted(rows) if row < len(table)]
    if len(chosen) == 2 and st.session_state.get("leaders: chosen") != chosen:
        st.session_state["leaders: chosen"] = chosen
        st.session_state["one"], st.session_state["other"] = chosen


def leader_numbers(table: pd.DataFrame, board: Board) -> pd.DataFrame:
    """Return `leader_table` with the page's column names, in percent and millions.

    Scores, intervals and costs that no run has are left out.
    """
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
    return pd.DataFrame(shown).dropna(axis="columns", how="all")


def _leader_columns(table: pd.DataFrame, board: Board) -> dict[str, Any]:
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


def _leader_details(table: pd.DataFrame, board: Board, rounds: pd.DataFrame) -> str:
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
    return frame.plain(
        f"{'; '.join(parts)}. The reference is chosen among rows with two seeds or more, where there are any. "
        "Differences: paired t tests over shared seeds (Welch's t test if fewer than two are shared), Holm over all "
        'rows compared with the reference. "detects": the smallest difference that these seeds detect with 80 % power.'
    )


COLUMNS = (
    "Round",
    "Difference",
    "95% interval",
    "Significant",
    "Holm p",
    "Detectable",
    "Graph sparsity",
    "Weight sparsity",
    "Seeds",
)


SIGNIFICANT = {"higher": "higher", "lower": "lower", "none": "no", "no test": "no test"}
ABOUT_DETECTABLE = (
    "Smallest difference (points) that these seeds detect with 80 % power, corrected like the p-value; empty above 100."
)


def show_pair(runs: list[Run], score: Score, first: Sequence[str]) -> None:
    """Choose two of the runs (default: `first`) and show how they differ."""
    st.subheader("Two runs, paired by seed", anchor=False)
    if len(runs) < 2:
        st.caption("Only one run has these scores: there is no other to compare with.")
        return
    one, other, at = _pick_pair(runs, first)
    rounds = cache.rounds_of([one, other])
    labels = dict(zip(rounds["run"], rounds["label"], strict=True))
    seeds = shared_seeds(rounds, one.reference, other.reference)
    table = paired_table(rounds, one.reference, other.reference, score, at)
    if too_few := few_seeds_words(seeds):
        st.info(frame.plain(too_few), icon=":material/info:")
    if len(table):
        st.markdown(frame.plain(paired_words(table, labels[one.reference], labels[other.reference])))
        title = "Difference of the two runs by round, with its interval"
        show_rounds(_paired(one, other, at, score), "paired", title)
        between = "" if at == "round" else "Scores of the second run are interpolated between its rounds. "
        pair = f"{labels[one.reference]} minus {labels[other.reference]}"
        frame.caption(
            frame.plain(f"{pair} at {AT_WORDS[at]}: test {metric_words(rounds)}, paired by seed."),
            f"{formats.opening(averaged_over(map(int, table['seeds'])))}. {between}Significant: two-sided paired t "
            "test at 5 %, Holm over all rounds shown; intervals are not corrected.",
        )
    elif not too_few:
        st.caption(f"The two runs share no round at {AT_WORDS[at]}.")
    with st.container(key="pair-tables"):
        numbers, differences = st.columns([1.8, 1], gap="medium")
    with numbers:
        _show_paired(table, labels, one, other)
    with differences:
        show_differences(one, other, labels[one.reference], labels[other.reference])


def _pick_pair(runs: list[Run], first: Sequence[str]) -> tuple[Run, Run, At]:
    words, by_name = run_select.run_words(runs), {run.reference: run for run in runs}
    usual = list(dict.fromkeys([*first, *(run.reference for run in run_select.together(runs)), *by_name]))
    with frame.row("pair-controls"):
        one = run_select.select_run("one", "Run", words, usual[0])
        others = {name: text for name, text in words.items() if name != one}
        default = next(name for name in usual if name != one)
        other = run_select.select_run("other", "Minus", others, default)
        at = controls.segments("at", "Paired at", {str(name): text for name, text in AT_WORDS.items()}, "round")
    return by_name[one], by_name[other], cast(At, at)


@drawn()
def _paired(one: Run, other: Run, at: At, score: Score) -> Description:
    rounds = cache.rounds_of([one, other])
    labels = dict(zip(rounds["run"], rounds["label"], strict=True))
    first, second = (
        Side(run.reference, labels[run.reference], palette.painted(run.config.method, run.annotation.color))
        for run in (one, other)
    )
    table = paired_table(rounds, one.reference, other.reference, score, at)
    seeds = paired_seeds(rounds, one.reference, other.reference, score, at)
    return paired_differences(table, seeds, first, second, at)


def _show_paired(table: pd.DataFrame, labels: dict[str, str], one: Run, other: Run) -> None:
    if table.empty:
        return
    first, second = (str(cell(heading(labels[run.reference]))) for run in (one, other))
    shown = paired_numbers(table, first, second)
    number = st.column_config.NumberColumn
    family = formats.number_of(int(table["family"].max()), "round")
    columns = dict.fromkeys((first, second, "Graph sparsity", "Weight sparsity"), number(format="%.1f %%")) | {
        "Difference": number(format="%+.1f"),
        "95% interval": number(format="± %.1f"),
        "Holm p": number(format="%.4f", help=f"Corrected over {family}."),
        "Detectable": number(format="%.1f", help=ABOUT_DETECTABLE),
    }
    show_number_table(shown, columns, key="paired-numbers", placeholder=formats.MISSING, height="content")
    downloads.csv_button(table, f"{one.reference}-minus-{other.reference}.csv".replace("/", "-"))


def heading(label: str) -> str:
    """Return a run's label as a unique column heading.

    >>> heading("UGS"), heading("Round")
    ('UGS', 'Round (run)')
    """
    return f"{label} (run)" if label in COLUMNS else label


def paired_numbers(table: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """Return `paired_table` with the page's column names, in percent and points.

    Without empty columns.
    """
    shown = pd.DataFrame(
        {
            "Round": table["round"],
            "Difference": 100 * table["difference"],
            "95% interval": 100 * (table["high"] - table["difference"]),
            "Significant": table["verdict"].map(SIGNIFICANT),
            "Holm p": table["p_adjusted"],
            "Detectable": 100 * below_whole(table["detectable"]),
            one: 100 * table["one"],
            other: 100 * table["other"],
            "Graph sparsity": 100 * table["graph_sparsity"],
            "Weight sparsity": 100 * table["weight_sparsity"],
            "Seeds": table["seeds"],
        }
    )
    return shown.dropna(axis="columns", how="all")


def show_differences(one: Run, other: Run, first: str, second: str) -> None:
    """Show differing settings and environments; `first` and `second` are labels."""
    differences = setting_differences(one.config, other.config)
    st.markdown("**Settings that differ**")
    if differences.rows:
        rows = [[row.setting, *row.words()] for row in differences.rows]
        _difference_table("settings", rows, first, second)
    else:
        st.caption("None of the settings that both use.")
    equal = formats.number_of(differences.same, "setting")
    st.caption(f"{equal} that both use {'is' if differences.same == 1 else 'are'} equal.")
    for label, used in ((first, differences.only_one), (second, differences.only_other)):
        if used:
            listed = ", ".join(f"{name} = {setting_text(name, value)}" for name, value in used.items())
            st.caption(frame.plain(f"Used by {label} only: {listed}."))
    environments = environment_differences(one, other)
    if not environments:
        st.caption("Computed with the same versions, threads, device and data.")
        return
    st.markdown("**Environments that differ**")
    rows = [[row.what, *(", ".join(side) or "not recorded" for side in (row.one, row.other))] for row in environments]
    _difference_table("environments", rows, first, second)


def _difference_table(key: str, rows: Sequence[Sequence[str]], first: str, second: str) -> None:
    columns = ["", first, second if second != first else f"{second} "]
    cells = [[frame.plain(cell) for cell in row] for row in rows]
    with st.container(key=f"differences-{key}"):
        st.table(pd.DataFrame(cells, columns=list(map(frame.plain, columns))), border="horizontal", hide_index=True)
