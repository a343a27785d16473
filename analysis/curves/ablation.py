"""The ablation on the screen: a panel for every setting that varies, the closest stretch of its curves enlarged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from analysis import marks, palette, theme
from analysis.ablation import PanelAxes, Varied, ablation_panels, panel_axes, panel_rounds
from analysis.curves.frame import Frame
from analysis.curves.keys import run_keys, ticket_key
from analysis.curves.layers import run_layers
from analysis.figure_text import escape
from analysis.tables import curve_table, rounds_table
from analysis.tables.curves import Score, XAxis, dense_table
from glt import formats
from glt.store import MacConvention, Run
from glt.verdicts import DELTA

# Pixels of a figure, and shares of its width between panels.
HEIGHT, TOP, BOTTOM = 560, 84, 62
GAP = 0.09
MOST_TICKS = 6
# Pixels of a line of words at the foot.
LINE_HEIGHT = 19
BOX_INK = "#D62728"


class _Place(NamedTuple):
    """Numbers of a panel's own axes and of its inset's (1 is Plotly's "x"), and its stretch of the figure's width."""

    axis: int
    inset: int
    left: float
    right: float


def ablation_figure(
    runs: Sequence[Run],
    *,
    x: XAxis = "graph",
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    dark: bool = False,
    near: bool = True,
) -> go.Figure:
    """Draw one panel a setting that differs among the runs: a line a value with its 95% band, stars on tickets.

    A mark's customdata is [run, round]. Raises StoreError when no round is finished, ConfigError when the runs do not
    differ in single settings.
    """
    rounds, panels = rounds_table(runs), ablation_panels(runs)
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    for place, varied in zip(_places(len(panels)), panels, strict=True):
        mine = panel_rounds(rounds, varied)
        table = curve_table(mine, score, x, macs, margin, family=rounds)
        ranges = panel_axes(table, x, near)
        frame = Frame(table, mine, x, score, macs, dark, ranges.window, varied.styles(), sized=False)
        _panel(figure, frame, ranges, place)
        _heading(figure, frame, varied, place, len(panels))
    figure.update_layout(hovermode="closest", margin={"t": TOP, "b": BOTTOM})
    return figure


def _places(count: int) -> Iterator[_Place]:
    wide = (1 - GAP * (count - 1)) / count
    for place in range(count):
        left = place * (wide + GAP)
        yield _Place(place + 1, count + place + 1, left, left + wide)


def _panel(figure: go.Figure, frame: Frame, ranges: PanelAxes, place: _Place) -> None:
    figure.add_traces([_on(trace, place.axis) for trace in run_layers(frame, seeds=False)])
    keys = chain(run_keys(frame), ticket_key(frame))
    figure.add_traces([trace.update(legend=_name("legend", place.axis)) for trace in keys])
    _axes(figure, frame, ranges, place)
    _baselines(figure, frame, place)
    _exits(figure, frame, place)
    if ranges.box is not None and ranges.corner is not None:
        figure.add_traces(
            [_on(trace, place.inset).update(showlegend=False) for trace in run_layers(frame, seeds=False)]
        )
        _inset(figure, frame, ranges, place)


def _axes(figure: go.Figure, frame: Frame, ranges: PanelAxes, place: _Place) -> None:
    across: dict[str, Any] = {"domain": [place.left, place.right], "anchor": _name("y", place.axis)}
    across |= {"title": {"text": marks.x_title(frame.x, frame.macs)}, "range": _range(frame, ranges.first, ranges.last)}
    if frame.x == "macs":
        ticks = marks.log_ticks(ranges.last, ranges.first)[::-1]
        ticks = ticks[:: 1 + (len(ticks) - 1) // MOST_TICKS]
        across |= {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g} M" for tick in ticks]}
    up: dict[str, Any] = {"anchor": _name("x", place.axis), "range": list(ranges.window)}
    up |= {"title": {"text": marks.score_title(frame.table, frame.score) if place.axis == 1 else ""}}
    figure.update_layout({_name("xaxis", place.axis): across, _name("yaxis", place.axis): up})


def _inset(figure: go.Figure, frame: Frame, ranges: PanelAxes, place: _Place) -> None:
    assert ranges.box is not None
    assert ranges.corner is not None
    box, corner, wide = ranges.box, ranges.corner, place.right - place.left
    frame_line = {"showline": True, "mirror": True, "linecolor": BOX_INK, "linewidth": 1, "ticklen": 3}
    frame_line |= {"tickfont": {"size": 11, "color": frame.ink.muted}, "nticks": 5}
    left = place.left + wide * corner.left
    across = {
        **frame_line,
        "domain": [left, left + wide * corner.width],
        "anchor": _name("y", place.inset),
        "range": _range(frame, box.left, box.right),
    }
    if frame.x == "macs":
        across |= {"type": "log", "showticklabels": False}
    up = {**frame_line, "domain": [corner.low, corner.low + corner.height], "anchor": _name("x", place.inset)}
    up |= {"range": [box.low, box.high], "ticks": "outside"}
    figure.update_layout({_name("xaxis", place.inset): across, _name("yaxis", place.inset): up})
    figure.add_shape(
        type="rect",
        x0=box.left,
        x1=box.right,
        y0=box.low,
        y1=box.high,
        xref=_name("x", place.axis),
        yref=_name("y", place.axis),
        line={"color": BOX_INK, "width": 1},
    )
    _connect(figure, ranges, frame, place)


def _connect(figure: go.Figure, ranges: PanelAxes, frame: Frame, place: _Place) -> None:
    """Draw two lines from the box to its inset, whichever of them lies above."""
    assert ranges.box is not None
    assert ranges.corner is not None
    box, corner, wide = ranges.box, ranges.corner, place.right - place.left
    first, last = _range(frame, ranges.first, ranges.last)
    low, high = ranges.window
    middle = ((box.low + box.high) / 2 - low) / (high - low)
    above = middle > corner.low + corner.height / 2
    box_y, inset_y = (box.low, corner.low + corner.height) if above else (box.high, corner.low)
    for end, inset_x in zip(_range(frame, box.left, box.right), (corner.left, corner.left + corner.width), strict=True):
        share = (end - first) / (last - first)
        figure.add_shape(
            type="line",
            x0=place.left + wide * share,
            x1=place.left + wide * inset_x,
            y0=(box_y - low) / (high - low),
            y1=inset_y,
            xref="paper",
            yref="paper",
            line={"color": palette.faded(BOX_INK, 0.6), "width": 0.8},
        )


def _baselines(figure: go.Figure, frame: Frame, place: _Place) -> None:
    ink = palette.color(palette.DENSE, frame.dark)
    for line in marks.baselines(dense_table(frame.rounds, frame.score)):
        rule = {"color": ink, "width": 1.4, "dash": "dash"}
        ends = {"x0": 0, "x1": 1, "y0": 100 * line.mean, "y1": 100 * line.mean}
        refs = {"xref": f"{_name('x', place.axis)} domain", "yref": _name("y", place.axis)}
        figure.add_shape(type="line", line=rule, layer="below", **ends, **refs)
        owner = f" ({escape(line.owner)})" if line.owner else ""
        figure.add_annotation(
            text=f"{line.name}{owner} {formats.percent(line.mean)}",
            x=1,
            y=100 * line.mean,
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
            font={"color": ink, "size": 13},
            **refs,
        )


def _exits(figure: go.Figure, frame: Frame, place: _Place) -> None:
    for level, gone in enumerate(marks.exits(frame.table, frame.x, frame.shown)):
        figure.add_annotation(
            text=f"falls to {formats.percent(gone.lowest)}",
            x=_range(frame, gone.x, gone.x)[0],
            y=frame.shown.low,
            xref=_name("x", place.axis),
            yref=_name("y", place.axis),
            xanchor="right",
            xshift=-12,
            yshift=12 + level * LINE_HEIGHT,
            showarrow=False,
            font={"color": frame.words_color(gone.run, gone.method), "size": 13},
        )


def _heading(figure: go.Figure, frame: Frame, varied: Varied, place: _Place, panels: int) -> None:
    legend = {"orientation": "h", "x": place.left, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
    figure.update_layout({_name("legend", place.axis): {**legend, "itemsizing": "trace", "font": {"size": 14}}})
    if panels > 1:
        figure.add_annotation(
            text=f"<b>({'abcd'[place.axis - 1]}) {escape(varied.title)}</b>",
            x=place.left,
            y=1,
            yshift=TOP - 26,
            xref="paper",
            yref="paper",
            xanchor="left",
            yanchor="middle",
            showarrow=False,
            font={"size": 14, "color": frame.ink.text},
        )


def _on(trace: go.Scatter, axis: int) -> go.Scatter:
    return trace.update(xaxis=_name("x", axis), yaxis=_name("y", axis))


def _name(kind: str, number: int) -> str:
    """Return Plotly's name of the nth axis or legend.

    >>> _name("x", 1), _name("yaxis", 3)
    ('x', 'yaxis3')
    """
    return kind if number == 1 else f"{kind}{number}"


def _range(frame: Frame, first: float, last: float) -> list[float]:
    ends = np.asarray([first, last])
    return [float(end) for end in (np.log10(ends) if frame.x == "macs" else ends)]
