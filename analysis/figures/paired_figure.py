"""Differences of two runs over the rounds: the mean with its 95% interval around a line at 0, every seed faintly."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import palette, theme
from analysis.compare import SPARSITY, At
from analysis.figure_text import escape
from analysis.statistics import WORDS, seeds_words
from glt import formats

HEIGHT = 420
# An interval far beyond all seeds is cut off this far (points) from them.
MOST_BAND = 5.0
TITLES: dict[At, str] = {
    "round": "Round",
    "graph": "Graph sparsity (% of edge entries removed)",
    "weight": "Weight sparsity (% of weights removed)",
}
# So few rounds are all numbered; the share of the axis that stays free beyond the first and the last.
FEW, EDGE = 21, 0.02
HIGHER, LOWER, NOT_SIGNIFICANT = "triangle-up", "triangle-down", "circle-open"


class Side(NamedTuple):
    """One of the two runs: its name, label and look."""

    run: str
    label: str
    style: palette.Style


def paired_figure(
    table: pd.DataFrame, seeds: pd.DataFrame, one: Side, other: Side, at: At = "round", dark: bool = False
) -> go.Figure:
    """Draw a `paired_table` over the `paired_seeds` it came from, in points of the score.

    Marks point up where `one` is significantly higher, down where it is significantly lower, and are open elsewhere.
    A mark's customdata is [run of one, round].
    """
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    tone = theme.ink(dark)
    figure.add_traces([*_band(table, at, tone), *_seeds(seeds, at, tone), *_line(table, at, tone)])
    figure.add_traces(list(_marks(table, one, other, at, dark)))
    figure.add_hline(y=0, line={"color": tone.text, "width": 1.2}, layer="below")
    low, high = _window(table, seeds)
    for side, y, anchor in ((one, high, "top"), (other, low, "bottom")):
        color = side.style.dark if dark else side.style.words
        place = {"x": 1, "xref": "paper", "xanchor": "right", "y": y, "yanchor": anchor, "showarrow": False}
        figure.add_annotation(text=f"{escape(side.label)} higher", font={"color": color, "size": 13}, **place)
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.03, "yanchor": "bottom", "font": {"size": 14}}
    figure.update_layout(legend=legend, margin={"t": 60, "b": 60}, hovermode="closest")
    figure.update_xaxes(title_text=TITLES[at])
    if at == "round":
        last = float(table["round"].max())
        figure.update_xaxes(dtick=1 if last < FEW else None, range=[-EDGE * last - 0.1, (1 + EDGE) * last + 0.1])
    figure.update_yaxes(title_text="Difference (points)", range=[low, high], zeroline=False)
    return figure


def _x(rows: pd.DataFrame, at: At) -> np.ndarray:
    return np.asarray(rows["round"] if at == "round" else 100 * rows[SPARSITY[at]])


def _window(table: pd.DataFrame, seeds: pd.DataFrame) -> tuple[float, float]:
    drawn = 100 * np.concatenate([seeds["difference"], [0.0]])
    ends = 100 * np.concatenate([table["low"].dropna(), table["high"].dropna()])
    shown = np.concatenate([drawn, ends.clip(drawn.min() - MOST_BAND, drawn.max() + MOST_BAND)])
    pad = 0.12 * max(float(np.ptp(shown)), 1.0)
    return float(shown.min()) - pad, float(shown.max()) + pad


def _band(table: pd.DataFrame, at: At, tone: theme.Ink) -> Iterator[go.Scatter]:
    rows = table.dropna(subset=["low", "high"])
    if rows.empty:
        return
    place = _x(rows, at)
    yield go.Scatter(
        x=np.concatenate([place, place[::-1]]),
        y=100 * np.concatenate([rows["low"], rows["high"][::-1]]),
        fill="toself",
        fillcolor=palette.faded(tone.muted, 0.18),
        mode="none",
        name="95% interval",
        hoverinfo="skip",
    )


def _seeds(seeds: pd.DataFrame, at: At, tone: theme.Ink) -> Iterator[go.Scatter]:
    for place, (_, rows) in enumerate(seeds.groupby("seed")):
        line = {"color": palette.faded(tone.muted, 0.45), "width": 1}
        yield go.Scatter(
            x=_x(rows, at),
            y=100 * rows["difference"],
            mode="lines",
            line=line,
            name="each seed",
            legendgroup="seeds",
            showlegend=place == 1,
            hoverinfo="skip",
        )


def _line(table: pd.DataFrame, at: At, tone: theme.Ink) -> Iterator[go.Scatter]:
    line = {"color": tone.muted, "width": 1.6}
    yield go.Scatter(
        x=_x(table, at), y=100 * table["difference"], mode="lines", line=line, hoverinfo="skip", showlegend=False
    )


def _marks(table: pd.DataFrame, one: Side, other: Side, at: At, dark: bool) -> Iterator[go.Scatter]:
    muted = theme.ink(dark).muted
    kinds = (
        ("higher", HIGHER, one.style.color(dark), f"{escape(one.label)} {WORDS['higher']}"),
        ("lower", LOWER, other.style.color(dark), f"{escape(other.label)} {WORDS['higher']}"),
        ("none", NOT_SIGNIFICANT, muted, WORDS["none"]),
        ("no test", NOT_SIGNIFICANT, muted, WORDS["no test"]),
    )
    for word, symbol, ink, name in kinds:
        rows = table[table["verdict"] == word]
        if rows.empty:
            continue
        yield go.Scatter(
            x=_x(rows, at),
            y=100 * rows["difference"],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 10, "color": ink, "opacity": 1, "line": {"width": 1.4, "color": ink}},
            customdata=[[one.run, int(number)] for number in rows["round"]],
            hovertext=[_told(row, one, other) for row in rows.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
            hoverlabel={"bordercolor": ink},
        )


def _told(row: Mapping[Hashable, Any], one: Side, other: Side) -> str:
    difference = formats.points_interval(row["difference"], row["high"] - row["difference"])
    chance = formats.p_value(row["p_adjusted"])
    verdict = WORDS[row["verdict"]] + (f", {chance} (Holm over {int(row['family'])} rounds)" if chance else "")
    detectable = row["detectable"]
    detects = f"Detectable: {formats.points(detectable).lstrip('+')}" if not np.isnan(detectable) else ""
    lines = [
        f"Round {int(row['round'])}: <b>{difference}</b>",
        formats.opening(verdict),
        *([detects] if detects else []),
        f"{escape(one.label)} {formats.percent(row['one'])}, {escape(other.label)} {formats.percent(row['other'])}",
        f"Graph sparsity {formats.percent(row['graph_sparsity'])}, weight sparsity "
        f"{formats.percent(row['weight_sparsity'])}",
        f"({seeds_words(int(row['seeds']))})",
    ]
    return "<br>".join(lines)
