"""Methods at an equal budget: the score of every run at each target, with its interval, beside the dense model."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis import palette
from analysis.budget import (
    NO_ROUND,
    USUAL,
    budget_caption,
    budget_table,
    budget_words,
    met_seeds,
    result_words,
    target_words,
)
from analysis.drawing.description import Axis, Description, Grid, Key, Layer, Marks, Panel, Ranges, Rule
from analysis.figures.base import FIGURES, Figure, FigureChoices, RunLooks
from analysis.figures.curves import score_title, score_window
from analysis.labels import dataset_label
from analysis.leaderboard import BOARD_KEYS
from analysis.palette import escape
from analysis.runs import must_have_rows
from analysis.tables.captions import MAC_WORDS, averaged_over, score_words
from analysis.tables.curves import Score
from analysis.tables.rounds import rounds_table
from glt import formats
from glt.store import MacConvention, Run

INTERVAL = "95% interval"
SIGNIFICANT, OTHER = "significant difference", "no significant difference"
# Pixels of the screen: a row, a title, what stands around all panels, a mark, the height of an interval on paper.
SCREEN_ROW, SCREEN_TITLE, SCREEN_AROUND, SIZE, BAR = 27, 26, 140, 11.0, 10.0
# Inches: a row, what stands around a panel, its foot.
ROW, AROUND, FOOT = 0.16, 0.26, 0.35


def budget(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe runs at an equal budget; raises StoreError without rounds, ConfigError as `budget_table` does."""
    rounds = must_have_rows(rounds_table(runs))
    table = budget_table(rounds, choices.budget or USUAL, choices.score, choices.macs)
    return budget_marks(table, rounds, choices.score, choices.macs)


def budget_marks(
    table: pd.DataFrame, rounds: pd.DataFrame, score: Score = "test", macs: MacConvention = "dense_features"
) -> Description:
    """Describe a `budget_table` made of these rounds with this score and these MACs: a panel a target, a row a run.

    A full mark is a significant difference from the reference. A mark's key is [run, round]. Raises ConfigError for
    several metrics, or different data of one name.
    """
    shown = score_window(table, near=False)
    x = Axis(title=score_title(table, score), limits=(shown.low, shown.high), grid=True)
    looks = RunLooks(rounds[rounds["run"].isin(set(table["run"]))])
    several = table.groupby(BOARD_KEYS, sort=False).ngroups > 1
    parts = [part for _, part in table.groupby([*BOARD_KEYS, "target", "target_round"], sort=False, dropna=False)]
    panels = [_panel(part, looks, x, several) for part in parts]
    panels[:-1] = [_unnamed(panel) for panel in panels[:-1]]
    rows = [len(part) for part in parts]
    return Description(
        panels=panels,
        keys=list(_keys(table)),
        points=table,
        caption=_caption(table, rounds, score, macs),
        grid=Grid(heights=[AROUND + ROW * count for count in rows], foot=FOOT),
        height=SCREEN_AROUND + SCREEN_ROW * sum(rows) + SCREEN_TITLE * len(rows),
    )


def _panel(part: pd.DataFrame, looks: RunLooks, x: Axis, several: bool) -> Panel:
    names = _row_names(part)
    dense = dict.fromkeys(part["dense"].dropna().round(9))
    where = f"{dataset_label(part['dataset'].iloc[0])}, " if several else ""
    return Panel(
        x=x,
        y=Axis(categories=names),
        layers=list(_layers(part.assign(place=range(len(part))), looks)),
        rules=[Rule(at=100 * mean, vertical=True, ink=palette.style(palette.DENSE), width=1.2) for mean in dense],
        title=f"{where}{target_words(part.iloc[0].to_dict())}",
    )


def _unnamed(panel: Panel) -> Panel:
    """Leave the numbers and the title of the shared axis to the last panel."""
    return replace(panel, x=replace(panel.x, title="", named=False))


def _row_names(part: pd.DataFrame) -> list[str]:
    """Return a name for every row; a category must not stand for two of them.

    >>> _row_names(pd.DataFrame({"label": ["UGS", "ADMM", "UGS"], "verdict": ["reference", "none", "none"]}))
    ['UGS (reference)', 'ADMM', 'UGS (2)']
    """
    again = part.groupby("label").cumcount()
    numbered = part["label"] + np.where(again > 0, " (" + (again + 1).astype(str) + ")", "")
    return list(numbered + np.where(part["verdict"] == "reference", " (reference)", ""))


def _layers(part: pd.DataFrame, looks: RunLooks) -> Iterator[Layer]:
    known = part.dropna(subset=["low", "high"])
    for row in known.to_dict("records"):
        low, high, ink = [100 * row["low"]], [100 * row["high"]], looks.style(row["run"], row["method"])
        where = [row["place"]]
        yield Ranges(at=where, low=low, high=high, across=True, width=BAR, ink=ink, opacity=0.28, name=INTERVAL)
    for row in part[part["verdict"] != NO_ROUND].to_dict("records"):
        look = looks.style(row["run"], row["method"])
        yield Marks(
            x=[100 * row["mean"]],
            y=[row["place"]],
            shape=look.symbol,
            size=SIZE,
            filled=row["verdict"] in ("higher", "lower"),
            ink=look,
            name=row["label"],
            keys=[[row["run"], int(row["round"])]],
            hover=[_text(row)],
        )


def _text(row: Mapping[Hashable, Any]) -> str:
    lines = [
        f"<b>{escape(row['label'])}</b>, round {int(row['round'])}",
        f"<b>{formats.percent_interval(row['mean'], row['high'] - row['mean'])}</b>",
        escape(result_words(row)),
        f"Keeps {formats.percent(1 - row['graph_sparsity'])} of directed entries, "
        f"{formats.percent(row['edges_kept_either_way'])} of undirected edges, {formats.macs(row['macs'])} MACs",
    ]
    return "<br>".join(lines)


def _keys(table: pd.DataFrame) -> Iterator[Key]:
    yield Key(label="Dense", ink=palette.style(palette.DENSE), dash="dash", width=1.2)
    if table["low"].notna().any():
        yield Key(label=INTERVAL, dash="solid", width=10.0, opacity=0.3)
    for words, filled in ((SIGNIFICANT, True), (OTHER, False)):
        yield Key(label=words, shape="circle", size=SIZE, filled=filled)


def _caption(table: pd.DataFrame, rounds: pd.DataFrame, score: Score, macs: MacConvention) -> str:
    parts = [
        f"{budget_words(table)} {formats.opening(score_words(rounds, score))}, {averaged_over(met_seeds(table))}",
        budget_caption(table),
        "full marks: a significant difference; dashed: the dense model (round 0) of the same seeds",
        *([f"MACs count {MAC_WORDS[macs]}"] if table["equal"].iloc[0] == "macs" else []),
    ]
    return "; ".join(parts) + "."


FIGURES.register(Figure("budget", "Methods at an equal budget", "curves", budget, frozenset({"score", "budget"})))
