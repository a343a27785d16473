"""Words and rules on a figure: dense baselines, feet of extreme tickets, curves that leave at the foot, legends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import marks, palette
from analysis.curves.frame import HEIGHT, Frame
from analysis.figure_text import escape
from analysis.tables.curves import dense_table
from glt import formats

# Pixels. Labels of baselines stand in the right margin, which grows with them.
TOP, BOTTOM, RIGHT, WIDEST, LETTER = 92, 62, 118, 260, 6.8
LINE_HEIGHT = 19
# Letters that fit into the widest margin.
OWNER_LETTERS = 34
# The share of the axis after which a label no longer fits to the right of its round.
NEAR_END = 0.85


def annotate(figure: go.Figure, frame: Frame, *, paper: bool, seeds: bool) -> None:
    """Draw the baselines with their labels in the right margin, the ticket feet, the exits and both legends.

    `seeds` says that a line of every seed is drawn, whose exits are named where the mean stays.
    """
    _baselines(figure, frame, paper)
    _feet(figure, frame)
    _exits(figure, frame, seeds)
    _legends(figure, frame)


def _baselines(figure: go.Figure, frame: Frame, paper: bool) -> None:
    ink = palette.color(palette.DENSE, frame.dark)
    rules = [(line, ink, "dash") for line in marks.baselines(dense_table(frame.rounds, frame.score))]
    if paper:
        printed = marks.paper_baselines(frame.table)
        rules += [(marks.Baseline(mean, "Paper's dense"), frame.ink.muted, "dot") for mean in printed]
    places = marks.spread([100 * line.mean for line, _, _ in rules], _units(frame, 2 * LINE_HEIGHT))
    for (line, color, dash), place in zip(rules, places, strict=True):
        figure.add_hline(y=100 * line.mean, line={"color": color, "width": 1.4, "dash": dash}, layer="below")
        text = "<br>".join(escape(words) for words in _baseline_lines(line))
        _words(figure, text, color, x=1, xref="paper", y=place, xanchor="left", xshift=8, align="left")
    longest = max((len(words) for line, _, _ in rules for words in _baseline_lines(line)), default=0)
    figure.update_layout(margin={"r": min(max(RIGHT, 24 + LETTER * longest), WIDEST)})


def _baseline_lines(line: marks.Baseline) -> tuple[str, str]:
    value = formats.percent(line.mean)
    return (f"{line.name} {value}", marks.cut(line.owner, OWNER_LETTERS)) if line.owner else (line.name, value)


def _feet(figure: go.Figure, frame: Frame) -> None:
    for level, row in enumerate(_extremes(frame).to_dict("records")):
        ink = frame.style(row["run"], row["method"]).color(frame.dark)
        place = float(frame.place(row["x"]))
        ends = {"x0": place, "x1": place, "y0": frame.shown.low, "y1": 100 * row["mean"]}
        line = {"color": palette.faded(ink, 0.7), "width": 1.2, "dash": "dot"}
        figure.add_shape(type="line", line=line, layer="below", **ends)
        foot = frame.shown.low + _units(frame, 12 + level * LINE_HEIGHT)
        words = frame.words_color(row["run"], row["method"])
        # At the right end the label would run into those of the baselines, in the margin.
        anchor: dict[str, Any] = {"xanchor": "left", "xshift": 6}
        if _share(frame, place) > NEAR_END:
            anchor = {"xanchor": "right", "xshift": -6}
        _words(figure, f"ticket, round {row['round']}", words, x=_axis(frame, place), y=foot, **anchor)


def _extremes(frame: Frame) -> pd.DataFrame:
    rows = frame.table[frame.table["is_extreme"] & ~frame.table["run"].isin(frame.crowd)]
    return rows.sort_values("x", ascending=frame.x == "macs").drop_duplicates(["method", "color", "round"])


def _exits(figure: go.Figure, frame: Frame, seeds: bool) -> None:
    leaving = marks.exits(frame.table, frame.x, frame.shown)
    if seeds and not frame.crowd:
        leaving += marks.seed_exits(frame.table, frame.rounds, frame.x, frame.score, frame.macs, frame.shown)
    for level, gone in enumerate(leaving, start=len(_extremes(frame))):
        foot = frame.shown.low + _units(frame, 12 + level * LINE_HEIGHT)
        anchor: dict[str, Any] = {"xanchor": "right", "xshift": -12}
        if _share(frame, gone.x) < 0.5:
            anchor = {"xanchor": "left", "xshift": 12}
        several = palette.words_color(gone.method, frame.dark)
        color = frame.words_color(gone.run, gone.method) if gone.runs == 1 else several
        _words(figure, gone.words(), color, x=_axis(frame, gone.x), y=foot, **anchor)


def _share(frame: Frame, place: float) -> float:
    drawn = frame.place(frame.table["x"])
    first, last, here = (_axis(frame, value) for value in (drawn.min(), drawn.max(), place))
    share = (here - first) / (last - first) if last > first else 0.0
    return 1 - share if frame.x == "macs" else share


def _legends(figure: go.Figure, frame: Frame) -> None:
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "yanchor": "bottom", "itemsizing": "trace"}
    row = 30 / (HEIGHT - TOP - BOTTOM)
    quiet = {"itemclick": False, "itemdoubleclick": False, "font": {"size": 13, "color": frame.ink.muted}}
    figure.update_layout(
        legend={**legend, "y": 1 + 1.3 * row, "font": {"size": 15}},
        legend2={**legend, "y": 1 + 0.25 * row, **quiet},
        margin={"t": TOP, "b": BOTTOM},
    )


def _words(figure: go.Figure, text: str, color: str, **place: Any) -> None:
    figure.add_annotation(text=text, showarrow=False, font={"color": color, "size": 13}, yanchor="middle", **place)


def _units(frame: Frame, pixels: float) -> float:
    return (frame.shown.high - frame.shown.low) * pixels / (HEIGHT - TOP - BOTTOM)


def _axis(frame: Frame, place: float) -> float:
    # Annotations on a log axis are placed by the logarithm.
    return float(np.log10(place)) if frame.x == "macs" else place
