"""Who loses, as pictures: a matrix over pairs of classes, and shares beside what chance gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from analysis import palette, theme
from analysis.figure_text import escape
from analysis.removal.groups import outside, pair_matrix
from glt import formats

# Text of the theme stands out from both ends of the scale by 4.5 : 1.
SPARED, LOST = "#5BA4D6", "#E8845C"
SPARED_DARK, LOST_DARK = "#2A6699", "#A8431A"
ROW, HEAD = 25, 62
# A matrix of more classes has small fields without numbers, which a pointer reads.
MOST_NUMBERED, FIELD, SMALL_FIELD = 14, 44, 15
ENOUGH = 100
# Of the largest share: what holds half a mark beside the axis.
MARGIN = 0.05
EDGE_GROUPS = {
    "relation": "Classes of both ends",
    "smaller_degree": "Smaller degree of both ends",
    "larger_degree": "Larger degree of both ends",
}
NODE_GROUPS = {"class": "Class"}


def pair_figure(table: pd.DataFrame, classes: Sequence[str], dark: bool = False) -> go.Figure:
    """Draw the share of edges cut between every two classes, in percent; colour is the difference from chance.

    A star marks a share outside the middle 95 % of the random draws; of many classes only those have a colour.
    """
    values = {name: 100 * pair_matrix(table, len(classes), name) for name in ("share", "null", "null_low", "null_high")}
    sizes = pair_matrix(table, len(classes), "size")
    difference = values["share"] - values["null"]
    far = (values["share"] < values["null_low"]) | (values["share"] > values["null_high"])
    names, numbered = [escape(name) for name in classes], len(classes) <= MOST_NUMBERED
    height = HEAD + 120 + (FIELD if numbered else SMALL_FIELD) * len(names)
    figure = go.Figure(layout={"template": theme.template(dark), "height": height})
    most = widest(difference, sizes)
    figure.add_heatmap(
        x=names,
        y=names,
        z=difference if numbered else np.where(far, difference, np.where(np.isnan(difference), np.nan, 0.0)),
        zmin=-most,
        zmax=most,
        colorscale=_diverging(dark),
        text=[[_cell(s, f) for s, f in zip(*row, strict=True)] for row in zip(values["share"], far, strict=True)],
        texttemplate="%{text}" if numbered else None,
        textfont={"size": 12, "color": theme.ink(dark).text},
        customdata=_written(values, sizes),
        hovertemplate=(
            "%{y}, %{x}<br>%{customdata[0]} % of %{customdata[3]} edges cut<br>"
            "by chance %{customdata[1]} to %{customdata[2]} %<extra></extra>"
        ),
        hoverongaps=False,
        xgap=2 if numbered else 1,
        ygap=2 if numbered else 1,
        colorbar={
            "orientation": "h",
            "title": {"text": "Points over chance", "side": "top", "font": {"size": 13}},
            "thickness": 8,
            "outlinewidth": 0,
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yanchor": "bottom",
            "len": 0.6,
        },
    )
    # A class may be called by a number, which would else be a place on the axis.
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(showline=False, ticks="", tickangle=-35 if len(names) > 3 else 0, type="category")
    figure.update_layout(margin={"l": 10, "r": 0, "t": HEAD, "b": 10})
    return figure


def _written(values: dict[str, NDArray[np.float64]], sizes: NDArray[np.float64]) -> list[list[list[str]]]:
    """Return the numbers of every cell as texts: share, both ends of chance, edges."""
    parts = (values["share"], values["null_low"], values["null_high"])
    texts = [[[formats.fixed(value, 1) for value in row] for row in part] for part in parts]
    texts.append([[formats.count(value) for value in row] for row in sizes])
    return [[list(cell) for cell in zip(*rows, strict=True)] for rows in zip(*texts, strict=True)]


def _cell(share: float, far: bool) -> str:
    return "" if np.isnan(share) else f"{formats.fixed(share, 0)}{'*' if far else ''}"


def widest(difference: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Return where the colours end: the largest difference of a pair of ENOUGH edges, at least 1 point.

    Of many classes, pairs with an edge or two would leave all others pale.
    """
    few = np.nan_to_num(sizes) < ENOUGH
    told = difference if few.all() or len(difference) <= MOST_NUMBERED else np.where(few, np.nan, difference)
    return float(np.nanmax(np.abs(told), initial=1.0))


def _diverging(dark: bool) -> list[list[Any]]:
    spared, lost = (SPARED_DARK, LOST_DARK) if dark else (SPARED, LOST)
    return [[0.0, spared], [0.5, "#1A1F29" if dark else "#F4F6F7"], [1.0, lost]]


def edge_loss_figure(table: pd.DataFrame, method: str, dark: bool = False, color: str = "") -> go.Figure:
    """Draw the share of edges cut in each group of classes and degrees beside what chance gives.

    `color` is the run's own, a name of `glt.store.COLORS`, in place of its method's.
    """
    style = palette.painted(method, color)
    return _shares(table[table["kind"] == "edges"], EDGE_GROUPS, "Edges cut (%)", _Who(method, style), dark)


def node_loss_figure(table: pd.DataFrame, method: str, dark: bool = False, color: str = "") -> go.Figure:
    """Draw the share of nodes of each class that lost their last edge beside what chance gives; `color` as above."""
    who = _Who(method, palette.painted(method, color))
    return _shares(table[table["kind"] == "nodes"], NODE_GROUPS, "Nodes left without an edge (%)", who, dark)


class _Who(NamedTuple):
    """Whose edges were cut, and how it looks."""

    method: str
    style: palette.Style


def _shares(table: pd.DataFrame, groups: dict[str, str], title: str, who: _Who, dark: bool) -> go.Figure:
    groups = present(table, groups)
    parts = [table[table["grouping"] == name] for name in groups]
    heights = [max(len(part), 1) + 0.6 for part in parts]
    figure = make_subplots(
        rows=len(parts),
        cols=1,
        shared_xaxes=True,
        row_heights=heights,
        vertical_spacing=0.4 * ROW / (ROW * sum(heights) + HEAD) * 3 if len(parts) > 1 else 0,
        subplot_titles=list(groups.values()) if len(parts) > 1 else None,
    )
    for row, part in enumerate(parts, start=1):
        _part(figure, part, row, who, dark)
    figure.update_layout(
        template=theme.template(dark), height=(HEAD if len(parts) > 1 else 10) + 60 + int(1.25 * ROW * sum(heights))
    )
    top = HEAD if len(parts) > 1 else 10
    figure.update_layout(margin={"l": 10, "r": 10, "t": top, "b": 50}, legend=_legend(), hovermode="closest")
    figure.update_layout(showlegend=len(parts) > 1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13, "color": theme.ink(dark).muted})
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(range=share_range(pd.concat(parts)), showgrid=True, gridcolor=theme.ink(dark).grid)
    figure.update_xaxes(title_text=title, row=len(parts), col=1)
    return figure


def present(table: pd.DataFrame, groups: dict[str, str]) -> dict[str, str]:
    """Return those of the `groups` (title by grouping) that have a row in a `loss_table`, in their order."""
    there = set(table["grouping"])
    return {name: title for name, title in groups.items() if name in there}


def share_range(table: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of an axis of shares in percent that leaves room for a whole mark at 0 and at the largest share.

    >>> share_range(pd.DataFrame({"share": [0.0, 0.5], "null_high": [0.1, 0.4]}))
    (-2.5, 52.5)
    """
    most = 100 * float(table[["share", "null_high"]].max(axis=None)) or 1.0
    return -MARGIN * most, (1 + MARGIN) * most


def _legend() -> dict[str, Any]:
    return {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "xanchor": "left"}


def _part(figure: go.Figure, part: pd.DataFrame, row: int, who: _Who, dark: bool) -> None:
    names = [escape(name) for name in part["name"]]
    tone, style = theme.ink(dark), who.style
    low, width = 100 * part["null_low"], 100 * (part["null_high"] - part["null_low"])
    chance = {"base": low, "marker": {"color": tone.axis, "line": {"width": 0}}, "width": 0.5, "hoverinfo": "skip"}
    chance |= {"name": "By chance, middle 95 %", "showlegend": row == 1, "orientation": "h"}
    figure.add_bar(x=np.maximum(width, 0.15), y=names, row=row, col=1, **chance)
    figure.add_scatter(
        x=100 * part["share"],
        y=names,
        mode="markers",
        name=escape(palette.label(who.method)),
        showlegend=row == 1,
        marker={
            "symbol": [style.symbol if far else f"{style.symbol}-open" for far in outside(part)],
            "size": 11,
            "color": style.color(dark),
            "line": {"width": 2, "color": style.color(dark)},
        },
        hovertext=[_told(each) for each in part.to_dict("records")],
        hovertemplate="%{hovertext}<extra></extra>",
        row=row,
        col=1,
    )


def _told(row: dict[Any, Any]) -> str:
    return (
        f"{escape(row['name'])}: {row['lost']:,} of {row['size']:,}, {formats.percent(row['share'])}<br>"
        f"by chance {formats.percent(row['null_low'])} to {formats.percent(row['null_high'])}"
    )
