"""The scores of one edge over the rounds, against those of all entries and the line below which they were cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis import palette, theme
from analysis.figure_text import escape
from analysis.removal.edges import Way
from analysis.removal.scores import Decision, line_table, score_table
from analysis.subgraphs.html import look
from glt import formats

HEIGHT = 320
QUIET = {"hoverinfo": "skip", "mode": "lines", "line": {"width": 0}}
# The two directions: dash and marker, so that no colour is needed.
CUT = "cut"
DASHES, SYMBOLS = ("solid", "dot"), ("circle", "square")


def score_figure(
    decisions: Sequence[Decision],
    edge: int,
    ways: Sequence[Way],
    *,
    ranks: bool,
    shown: int,
    method: str = "ugs",
    color: str = "",
    dark: bool = False,
) -> go.Figure:
    """Draw each direction's score (or rank, the share of entries that scored lower) in every round it stood.

    `ways` are the two directions, that from the lower node first. The shaded ground is what was cut; the grey one the
    middle half of all scores or, of ranks, those whose stored scores are equal at the line. `color` is the run's
    own, in place of its method's.
    """
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    lines, scores = line_table(decisions), score_table(decisions, edge)
    _grounds(figure, lines, ranks, dark)
    ink = palette.painted(method, color).color(dark)
    for number, way in enumerate(ways[: scores["way"].nunique()]):
        _way(figure, scores[scores["way"] == number], way, number, ranks, ink, dark)
    figure.add_vline(x=shown, line={"color": theme.ink(dark).axis, "width": 1, "dash": "dash"})
    title = "Entries that scored lower (%)" if ranks else "Score"
    figure.update_yaxes(title_text=title, **({"range": [-3, 103]} if ranks else {}))
    span = [lines["round"].min() - 0.5, lines["round"].max() + 0.5]
    figure.update_xaxes(title_text="Round", dtick=1 if len(lines) <= 12 else 2, range=span)
    legend = {"orientation": "h", "x": 0, "y": 1.03, "yanchor": "bottom", "xanchor": "left"}
    figure.update_layout(legend=legend, margin={"t": 60, "b": 52, "l": 56, "r": 12}, hovermode="closest")
    return figure


def _grounds(figure: go.Figure, lines: pd.DataFrame, ranks: bool, dark: bool) -> None:
    tone, grey = look(dark).removed, theme.ink(dark).muted
    if ranks:
        blur = lines.dropna(subset="blur_low")
        if len(blur):
            low, high = 100 * blur["blur_low"], 100 * blur["blur_high"]
            _between(figure, blur["round"], low, high, grey, "equal at the line, as stored")
        _between(figure, lines["round"], 0.0 * lines["cut"], 100 * lines["cut"] / lines["entries"], tone, CUT)
    else:
        _between(figure, lines["round"], lines["q25"], lines["q75"], grey, "middle half of all scores")
        _between(figure, lines["round"], lines["q0"], lines["highest_cut"], tone, CUT)


def _between(figure: go.Figure, x: pd.Series, low: pd.Series, high: pd.Series, ink: str, name: str) -> None:
    opacity = 0.3 if name == CUT else 0.12
    figure.add_scatter(x=x, y=low, showlegend=False, **QUIET)
    figure.add_scatter(x=x, y=high, fill="tonexty", fillcolor=palette.faded(ink, opacity), name=name, **QUIET)


def _way(figure: go.Figure, rows: pd.DataFrame, way: Way, number: int, ranks: bool, ink: str, dark: bool) -> None:
    line = ink if number == 0 else theme.ink(dark).text
    symbols = ["x" if cut else SYMBOLS[number] for cut in rows["cut"]]
    figure.add_scatter(
        x=rows["round"],
        y=100 * rows["rank"] if ranks else rows["score"],
        name=escape(f"{way.sender} to {way.receiver}"),
        mode="lines+markers",
        line={"color": line, "width": 2, "dash": DASHES[number]},
        marker={"symbol": symbols, "size": [11 if cut else 7 for cut in rows["cut"]], "color": line},
        error_y=_equals(rows, line) if ranks else None,
        hovertext=[_hover(way, row, ranks) for row in rows.to_dict("records")],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _equals(rows: pd.DataFrame, ink: str) -> dict[str, Any]:
    """Span the ranks that an entry may have had among those of an equal score."""
    half = 50 * (rows["equal"] - 1) / rows["entries"]
    return {"type": "data", "array": half, "color": palette.faded(ink, 0.45), "thickness": 1.2, "width": 3}


def _hover(way: Way, row: dict[Any, Any], ranks: bool) -> str:
    score = "" if ranks else f"score {formats.figures(row['score'], 4)}, "
    verdict = ("cut" if row["cut"] else "kept") + (", no gradient" if row["gradient"] is False else "")
    return (
        f"{escape(way.sender)} to {escape(way.receiver)}, round {row['round']}: {verdict}<br>"
        f"{score}{row['below']:,} of {row['entries']:,} scored lower, {row['equal'] - 1:,} others the same as stored"
    )
