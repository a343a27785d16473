"""Two runs compared: paired differences over the rounds, and the settings in which the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import palette
from analysis.comparing import (
    AT_WORDS,
    At,
    Side,
    few_seeds_words,
    paired_figure,
    paired_seeds,
    paired_table,
    paired_words,
    shared_seeds,
)
from analysis.tables import Score, metric_words
from analysis.tables.caption import averaged_over
from app.widgets import config_difference, controls, files, frame, look, pickers, reading, round_chart
from glt import formats
from glt.printable import cell
from glt.store import Run

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
    "The smallest difference in points that these seeds show with 80 % power, corrected like the p-value."
)


def show(runs: list[Run], score: Score, first: Sequence[str]) -> None:
    """Choose two of the runs, at first those named `first`, and show what their seeds show and in what they differ."""
    one, other, at = _pick(runs, first)
    rounds = reading.rounds_of([one, other])
    labels = dict(zip(rounds["run"], rounds["label"], strict=True))
    seeds = shared_seeds(rounds, one.reference, other.reference)
    table = paired_table(rounds, one.reference, other.reference, score, at)
    if too_few := few_seeds_words(seeds):
        st.info(frame.plain(too_few), icon=":material/info:")
    if len(table):
        st.markdown(frame.plain(paired_words(table, labels[one.reference], labels[other.reference])))
        _chart(one, other, at, score)
        st.caption(frame.plain(_caption(table, labels[one.reference], labels[other.reference], at, rounds)))
    elif not too_few:
        st.caption(f"The two runs have no round at {AT_WORDS[at]}.")
    numbers, differences = st.columns([1.35, 1], gap="medium")
    with numbers:
        _numbers(table, labels, one, other)
    with differences:
        config_difference.show(one, other, labels[one.reference], labels[other.reference])


def _pick(runs: list[Run], first: Sequence[str]) -> tuple[Run, Run, At]:
    words, by_name = pickers.run_words(runs), {run.reference: run for run in runs}
    usual = list(dict.fromkeys([*first, *(run.reference for run in pickers.together(runs)), *by_name]))
    with st.container(key="pair-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        one = pickers.select_run("one", "Run", words, usual[0])
        others = {name: text for name, text in words.items() if name != one}
        default = next(name for name in usual if name != one)
        other = pickers.select_run("other", "minus", others, default)
        at = controls.segments("at", "Paired at", {str(name): text for name, text in AT_WORDS.items()}, "round")
    return by_name[one], by_name[other], cast(At, at)


def _chart(one: Run, other: Run, at: At, score: Score) -> None:
    stamps = (reading.stamp(one), reading.stamp(other))
    figure = _figure(stamps, at, score, look.is_dark(), one, other)
    round_chart.show(figure, "paired", "Difference of the two runs over the rounds, with its interval")


@st.cache_resource(max_entries=32, show_spinner=False)
def _figure(stamps: tuple[reading.Stamp, ...], at: At, score: Score, dark: bool, _one: Run, _other: Run) -> go.Figure:
    rounds = reading.rounds_of([_one, _other])
    labels = dict(zip(rounds["run"], rounds["label"], strict=True))
    one, other = (
        Side(run.reference, labels[run.reference], palette.painted(run.config.method, run.annotation.color))
        for run in (_one, _other)
    )
    table = paired_table(rounds, _one.reference, _other.reference, score, at)
    seeds = paired_seeds(rounds, _one.reference, _other.reference, score, at)
    return paired_figure(table, seeds, one, other, at, dark)


def _caption(table: pd.DataFrame, one: str, other: str, at: At, rounds: pd.DataFrame) -> str:
    between = " (between two rounds of the second, its score is taken to lie on a straight line)"
    return (
        f"{one} minus {other} at {AT_WORDS[at]}{between if at != 'round' else ''}: test {metric_words(rounds)}, paired "
        f"by seed; {averaged_over(map(int, table['seeds']))}. Significant: two-sided paired t test "
        f"at 5 %, Holm over all rounds shown; intervals are not corrected."
    )


def _numbers(table: pd.DataFrame, labels: dict[str, str], one: Run, other: Run) -> None:
    if table.empty:
        return
    first, second = (str(cell(heading(labels[run.reference]))) for run in (one, other))
    shown = numbers(table, first, second)
    percent = st.column_config.NumberColumn(format="%.1f %%")
    columns = {name: percent for name in shown if name in (first, second, "Graph sparsity", "Weight sparsity")}
    columns["Difference"] = st.column_config.NumberColumn(format="%+.1f")
    columns["95% interval"] = st.column_config.NumberColumn(format="± %.1f")
    columns["Holm p"] = st.column_config.NumberColumn(format="%.4f", help=f"Corrected over {_family(table)}.")
    columns["Detectable"] = st.column_config.NumberColumn(format="%.1f", help=ABOUT_DETECTABLE)
    st.dataframe(
        files.cells(shown, columns),
        hide_index=True,
        key="paired-numbers",
        placeholder=formats.MISSING,
        height="content",
        column_config=columns,
    )
    files.csv_button(table, f"{one.reference}-minus-{other.reference}.csv".replace("/", "-"))


def _family(table: pd.DataFrame) -> str:
    return formats.number_of(int(table["family"].max()), "round")


def heading(label: str) -> str:
    """Return a run's label as the heading of a column, which a title like "Round" must not take from another.

    >>> heading("UGS"), heading("Round")
    ('UGS', 'Round (run)')
    """
    return f"{label} (run)" if label in COLUMNS else label


def numbers(table: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """Return `paired_table` under the words of the page, in percent and points; empty columns are left out."""
    shown = pd.DataFrame(
        {
            "Round": table["round"],
            "Difference": 100 * table["difference"],
            "95% interval": 100 * (table["high"] - table["difference"]),
            "Significant": table["verdict"].map(SIGNIFICANT),
            "Holm p": table["p_adjusted"],
            "Detectable": 100 * table["detectable"],
            one: 100 * table["one"],
            other: 100 * table["other"],
            "Graph sparsity": 100 * table["graph_sparsity"],
            "Weight sparsity": 100 * table["weight_sparsity"],
            "Seeds": table["seeds"],
        }
    )
    return shown.dropna(axis="columns", how="all")
