"""Descriptions drawn with Plotly: for the screen, in the light or the dark theme."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import singledispatchmethod
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from analysis import palette
from analysis.drawing import description as d
from analysis.drawing import labels
from analysis.palette import Style, escape, ink, template

# Pixels: room above for two rows of legend, for one and for none; under the axis; beside the last panel.
TWO_ROWS, ONE_ROW, NO_ROW, FOOT, RIGHT = 92, 64, 24, 60, 24
LEGEND_ROW, LINE_HEIGHT, LETTER, ABOVE = 30, 19, 6.8, 14
# Labels of rules in the right margin: what it takes at least and at most, and the letters that fit.
LEAST_MARGIN, MOST_MARGIN, MARGIN_LETTERS = 118, 260, 34
# The letters of an owner over a line inside a panel, and the width of a panel that placing words reckons with.
OWNER_LETTERS, USUAL_WIDTH = 22, 700
# Shares of the figure between panels beside each other, and pixels between those under each other.
GAP, BETWEEN = 0.09, 34
DASHES = {"solid": "solid", "dash": "dash", "dot": "dot", "dashdot": "dashdot", "short": "3px,2px"}
INSET_INK = "#D62728"
QUIET = {"hoverinfo": "skip", "showlegend": False}
# Layers that stand in rows of categories, and the height of a bar in a lane of a row.
ROWS, LANE = (d.Marks, d.Ranges), 0.24
FIELD_NOTE = {"size": 12}
# Ticks of a logarithmic axis.
MOST_TICKS = 5


def draw(description: d.Description, dark: bool = False) -> go.Figure:
    """Return a description as a Plotly figure."""
    figure = go.Figure(layout={"template": template(dark), "height": description.height})
    return _Screen(figure, description, dark).drawn()


class _Screen:
    def __init__(self, figure: go.Figure, description: d.Description, dark: bool) -> None:
        self.figure, self.description, self.dark = figure, description, dark
        self.tone = ink(dark)
        self.panels = description.panels
        self.margins = self._margins()
        self.domains = self._domains()

    def drawn(self) -> go.Figure:
        for number, panel in enumerate(self.panels, start=1):
            self._panel(panel, number)
        self.figure.add_traces([self._key(key) for key in self._shown(self.description.keys)])
        self._legends()
        self.figure.update_layout(hovermode="closest", hoverdistance=24, margin=self.margins)
        return self.figure

    @staticmethod
    def _shown(items: Sequence[Any]) -> list[Any]:
        return [item for item in items if item.on != "paper"]

    # Places and colours.

    def _margins(self) -> dict[str, float]:
        rows = [self._row_of(key) for key in self._shown(self.description.keys)]
        own = any(panel.keys for panel in self.panels)
        two = rows.count("legend2") > 1 and "legend" in rows
        top = TWO_ROWS - 8 if own else NO_ROW if not rows else TWO_ROWS if two else ONE_ROW
        # Over a panel stand its title, or the names of vertical rules.
        above = self.description.grid.heights or any(
            (panel.title and not own) or any(rule.vertical and rule.name for rule in panel.rules)
            for panel in self.panels
        )
        top += ABOVE if above and rows else 0
        return {"t": top, "b": FOOT, "r": self._right_margin()}

    def _right_margin(self) -> float:
        lines = [line for panel in self.panels if panel.beside for rule in self._level(panel) for line in _lines(rule)]
        longest = max(map(len, lines), default=0)
        twin = any(panel.right for panel in self.panels)
        return min(max(LEAST_MARGIN, 24 + LETTER * longest), MOST_MARGIN) if lines else 56 if twin else RIGHT

    def _domains(self) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        heights = self.description.grid.heights
        if heights:
            inner = self._inner()
            gap = BETWEEN / inner
            free = 1 - gap * (len(heights) - 1)
            tops = np.cumsum([0.0, *(share * free / sum(heights) + gap for share in heights)])
            return [
                ((0.0, 1.0), (float(max(1 - tops[n + 1] + gap, 0.0)), float(1 - tops[n]))) for n in range(len(heights))
            ]
        across = len(self.panels)
        wide = (1 - GAP * (across - 1)) / across
        return [((n * (wide + GAP), min(n * (wide + GAP) + wide, 1.0)), (0.0, 1.0)) for n in range(across)]

    def _inner(self) -> float:
        return self.description.height - self.margins["t"] - self.margins["b"]

    def _color(self, ink: d.Ink, words: bool = False) -> str:
        if isinstance(ink, Style):
            return ink.words if words and not self.dark else ink.color(self.dark)
        return ink if ink.startswith("#") else str(getattr(self.tone, ink))

    # Panels.

    def _panel(self, panel: d.Panel, number: int) -> None:
        across, up = self.domains[number - 1]
        x, y = _name("x", number), _name("y", number)
        for layer in self._shown(panel.layers):
            second = {"yaxis": _name("y", len(self.panels) + number)} if layer.right else {"yaxis": y}
            self.figure.add_traces([trace.update(xaxis=x, **second) for trace in self._layer(layer, panel)])
        axes = {
            _name("xaxis", number): {"domain": across, "anchor": y, **self._axis(panel.x, panel)},
            _name("yaxis", number): {"domain": up, "anchor": x, **self._axis(panel.y, panel, vertical=True)},
        }
        if panel.right is not None:
            right = {"overlaying": y, "side": "right", "showgrid": False, "exponentformat": "power", "anchor": x}
            axes[_name("yaxis", len(self.panels) + number)] = {**right, **self._axis(panel.right, panel, vertical=True)}
        self.figure.update_layout(axes)
        self._rules(panel, x, y)
        self._notes(panel, x, y, across[1] - across[0])
        for label in panel.labels:
            self._label(label, x, y)
        if panel.keys:
            keys = [self._key(key, _name("legend", number)) for key in self._shown(panel.keys)]
            self.figure.add_traces(keys)
            self.figure.update_layout({_name("legend", number): _legend(across[0], 1.02, 14)})
        if panel.inset is not None:
            self._inset(panel, panel.inset, number)
        self._title(panel, number)

    def _axis(self, axis: d.Axis, panel: d.Panel, vertical: bool = False) -> dict[str, Any]:
        look: dict[str, Any] = {"title": {"text": escape(axis.title)}}
        if axis.empty:
            look |= {"showticklabels": False, "ticks": "", "showline": False, "showgrid": False}
        if axis.categories:
            # A class may be called by a number, which would else be a place on the axis.
            look |= {"type": "category", "showgrid": False}
            look |= {"autorange": "reversed"} if vertical else {"showline": False, "ticks": ""}
            if vertical and _has_lanes(panel):
                names = [escape(name) for name in axis.categories]
                look |= {"type": "linear", "autorange": None, "range": [len(names) - 0.5, -0.5]}
                look |= {"tickvals": list(range(len(names))), "ticktext": names, "zeroline": False}
            if not vertical and len(axis.categories) > 3:
                look["tickangle"] = -35
        if axis.limits is not None:
            look["range"] = [self._along(axis, end) for end in axis.limits]
        options = {
            "type": "log" if axis.log else None,
            "autorange": "reversed" if axis.flipped else None,
            "rangemode": "tozero" if axis.from_zero else None,
            "showticklabels": None if axis.named else False,
            "scaleanchor": "x" if panel.square and vertical else None,
        }
        if axis.grid and not vertical:
            look |= {"showgrid": True, "gridcolor": self.tone.grid}
        return {**{name: value for name, value in options.items() if value is not None}, **_ticks(axis, panel), **look}

    @staticmethod
    def _along(axis: d.Axis, value: float) -> float:
        # Ranges and annotations on a log axis are given by the logarithm.
        return math.log10(value) if axis.log else float(value)

    def _title(self, panel: d.Panel, number: int) -> None:
        stacked = bool(self.description.grid.heights)
        is_lettered = len(self.panels) > 1 and self.description.lettered and not stacked
        letter = f"({'abcdefghijklmnopqrstuvwxyz'[number - 1]}) " if is_lettered else ""
        if not panel.title and not letter:
            return
        across, up = self.domains[number - 1]
        text = escape(panel.title) if stacked else f"<b>{letter}{escape(panel.title)}</b>"
        color = self.tone.muted if stacked else self.tone.text
        shift = 4 if stacked else self.margins["t"] - 26 if panel.keys else 6
        place: dict[str, Any] = {"x": across[0], "y": up[1], "xref": "paper", "yref": "paper", "xanchor": "left"}
        self._words(text, color, yanchor="bottom", yshift=shift, **place)

    # Layers.

    @singledispatchmethod
    def _layer(self, layer: d.Layer, panel: d.Panel) -> Iterator[Any]:
        raise TypeError(f"no way to draw {type(layer).__name__} on the screen")

    def _common(self, layer: d.Layer) -> dict[str, Any]:
        common: dict[str, Any] = {"name": escape(layer.name) or None, "showlegend": False}
        if layer.group:
            common["legendgroup"] = layer.group
        if layer.keys is not None:
            common["customdata"] = layer.keys
        if len(layer.hover):
            border = {"bordercolor": self._color(layer.ink)}
            common |= {"hovertext": list(layer.hover), "hovertemplate": "%{hovertext}<extra></extra>"}
            return {**common, "hoverlabel": border}
        return {**common, "hoverinfo": "skip"}

    @_layer.register
    def _line(self, layer: d.Line, panel: d.Panel) -> Iterator[Any]:
        color = self._color(layer.ink)
        line = {"color": _faded(color, layer.opacity), "width": layer.width, "dash": DASHES[layer.dash]}
        if layer.step:
            line["shape"] = layer.step
        marker = {"marker": {"symbol": layer.shape, "size": 7, "color": color}} if layer.shape else {}
        mode = "lines+markers" if layer.shape else "lines"
        yield go.Scatter(
            x=np.asarray(layer.x), y=np.asarray(layer.y), mode=mode, line=line, **marker, **self._common(layer)
        )

    @_layer.register
    def _band(self, layer: d.Band, panel: d.Panel) -> Iterator[Any]:
        x, low, high = (np.asarray(values, dtype=np.float64) for values in (layer.x, layer.low, layer.high))
        known = np.isfinite(low) & np.isfinite(high)
        if known.any():
            yield go.Scatter(
                x=np.concatenate([x[known], x[known][::-1]]),
                y=np.concatenate([low[known], high[known][::-1]]),
                fill="toself",
                fillcolor=palette.faded(self._color(layer.ink), layer.opacity),
                mode="none",
                **self._common(layer),
            )

    @_layer.register
    def _marks(self, layer: d.Marks, panel: d.Panel) -> Iterator[Any]:
        color, filled = self._color(layer.ink), np.asarray(layer.filled)
        symbols = np.where(filled, layer.shape, f"{layer.shape}-open")
        is_full = filled.ndim == 0 and bool(filled)
        rim = {"color": self.tone.ground, "width": 1} if is_full and layer.rim else {"width": layer.rim, "color": color}
        marker = {
            "symbol": str(symbols) if filled.ndim == 0 else symbols.tolist(),
            "size": layer.size,
            "color": color,
            "opacity": layer.opacity,
            "line": rim,
        }
        y = _placed(layer.y, panel)
        yield go.Scatter(x=np.asarray(layer.x), y=y, mode="markers", marker=marker, **self._common(layer))

    @_layer.register
    def _ranges(self, layer: d.Ranges, panel: d.Panel) -> Iterator[Any]:
        low, high = (np.asarray(values, dtype=np.float64) for values in (layer.low, layer.high))
        color = _faded(self._color(layer.ink), layer.opacity)
        if layer.across:
            names = _placed(layer.at, panel)
            marker = {"color": color, "line": {"width": 0}}
            width = LANE if _has_lanes(panel) else 0.5
            wide = {"base": low, "width": width, "marker": marker, "orientation": "h"}
            # Bars of several runs stay in their lanes.
            wide |= {"offset": -width / 2} if _has_lanes(panel) else {}
            yield go.Bar(x=np.maximum(high - low, 0.15), y=names, **wide, **self._common(layer))
            return
        middle = (low + high) / 2
        bars = {"type": "data", "array": high - middle, "color": color, "thickness": layer.width}
        bars["width"] = 3 if layer.capped else 0
        common = {**self._common(layer), "hoverinfo": "skip"}
        yield go.Scatter(
            x=np.asarray(layer.at), y=middle, mode="markers", marker={"opacity": 0}, error_y=bars, **common
        )

    @_layer.register
    def _segments(self, layer: d.Segments, panel: d.Panel) -> Iterator[Any]:
        ends = np.asarray(layer.ends, dtype=np.float64).reshape(-1, 2, 2)
        broken = np.concatenate([ends, np.full((len(ends), 1, 2), np.nan)], axis=1).reshape(-1, 2)
        color = _faded(self._color(layer.ink), layer.opacity)
        line = {"color": color, "width": layer.width, "dash": DASHES[layer.dash]}
        yield go.Scatter(x=broken[:, 0], y=broken[:, 1], mode="lines", line=line, **self._common(layer))

    @_layer.register
    def _field(self, layer: d.Field, panel: d.Panel) -> Iterator[Any]:
        written, colors = layer.words is not None, layer.colors[self.dark]
        gap = 2 if written else 1
        bar = {"orientation": "h", "title": {"text": layer.title, "side": "top", "font": {"size": 13}}, "thickness": 8}
        bar |= {"outlinewidth": 0, "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "len": 0.6}
        yield go.Heatmap(
            x=[escape(name) for name in panel.x.categories],
            y=[escape(name) for name in panel.y.categories],
            z=np.asarray(layer.values),
            zmin=layer.limits[0],
            zmax=layer.limits[1],
            colorscale=[[place / (len(colors) - 1), color] for place, color in enumerate(colors)],
            text=layer.words,
            texttemplate="%{text}" if written else None,
            textfont={**FIELD_NOTE, "color": self.tone.text},
            customdata=layer.details,
            hovertemplate=layer.template or None,
            hoverongaps=False,
            xgap=gap,
            ygap=gap,
            colorbar=bar,
        )

    # Rules and words.

    def _level(self, panel: d.Panel) -> list[d.Rule]:
        return [rule for rule in self._shown(panel.rules) if not rule.vertical]

    def _rules(self, panel: d.Panel, x: str, y: str) -> None:
        for rule in self._shown(panel.rules):
            color = palette.faded(self._color(rule.ink), rule.opacity) if rule.opacity < 1 else self._color(rule.ink)
            line = {"color": color, "width": rule.width, "dash": rule.dash}
            if rule.vertical:
                low = panel.y.limits[0] if panel.y.limits else 0.0
                ends = {"y0": low, "y1": rule.top, "yref": y} if rule.top else {"y0": 0, "y1": 1, "yref": f"{y} domain"}
                ends |= {"x0": rule.at, "x1": rule.at, "xref": x}
            else:
                ends = {"x0": 0, "x1": 1, "y0": rule.at, "y1": rule.at, "xref": f"{x} domain", "yref": y}
            if rule.width:
                self.figure.add_shape(type="line", line=line, layer="below", **ends)
            if rule.vertical and rule.name:
                place = {"x": rule.at, "y": 1, "xref": x, "yref": f"{y} domain", "xanchor": "left", "xshift": 2}
                self._words(escape(rule.name), self.tone.muted, 12, yanchor="bottom", **place)
        (self._beside if panel.beside else self._over)(panel, x, y)

    def _beside(self, panel: d.Panel, x: str, y: str) -> None:
        rules = [rule for rule in self._level(panel) if rule.name]
        for rule, place in self._apart(panel, rules, 2 * LINE_HEIGHT):
            text = "<br>".join(escape(line) for line in _lines(rule))
            look: dict[str, Any] = {"xanchor": "left", "xshift": 8, "align": "left", "yanchor": "middle"}
            self._words(text, self._color(rule.ink, words=True), x=1, xref="paper", y=place, yref=y, **look)

    def _apart(self, panel: d.Panel, rules: Sequence[d.Rule], pixels: float) -> list[tuple[d.Rule, float]]:
        """Return rules with the heights of their labels, so far apart; as they lie without limits."""
        low, high = panel.y.limits or (0.0, 0.0)
        gap = (high - low) * pixels / self._inner()
        return list(zip(rules, labels.spread([rule.at for rule in rules], gap), strict=True))

    def _over(self, panel: d.Panel, x: str, y: str) -> None:
        for rule, height in self._apart(panel, [rule for rule in self._level(panel) if rule.name], LINE_HEIGHT):
            owner = f" ({labels.cut(rule.owner, OWNER_LETTERS)})" if rule.owner else ""
            text = escape(f"{rule.name}{owner} {rule.value}".strip())
            place: dict[str, Any] = {"x": 1, "xref": f"{x} domain", "y": height, "yref": y, "xanchor": "right"}
            self._words(text, self._color(rule.ink, words=True), yanchor="bottom", **place)

    def _notes(self, panel: d.Panel, x: str, y: str, wide: float) -> None:
        notes: list[d.Note] = self._shown(panel.notes)
        shares = [self._share(panel, note.x) for note in notes]
        widths = [LETTER * len(note.text) / (USUAL_WIDTH * wide) for note in notes]
        low = panel.y.limits[0] if panel.y.limits else 0.0
        for note, foot in zip(notes, labels.feet(shares, widths, [note.right for note in notes]), strict=True):
            side: dict[str, Any] = (
                {"xanchor": "left", "xshift": 6} if foot.is_right else {"xanchor": "right", "xshift": -12}
            )
            place: dict[str, Any] = {"x": self._along(panel.x, note.x), "xref": x, "y": low, "yref": y}
            place["yshift"] = 12 + foot.level * LINE_HEIGHT
            color = self._color(note.ink, words=True)
            self._words(escape(note.text), color, yanchor="middle", **place, **side)

    def _label(self, label: d.Label, x: str, y: str) -> None:
        place: dict[str, Any] = {"x": 1, "xref": f"{x} domain", "xanchor": "right"}
        place |= {"y": int(label.top), "yref": f"{y} domain"}
        if label.mark is not None:
            place |= {"x": label.mark[0], "xref": x, "xanchor": "center"}
        anchor = "top" if label.top else "bottom"
        self._words(escape(label.text), self._color(label.ink, words=True), yanchor=anchor, **place)

    def _share(self, panel: d.Panel, value: float) -> float:
        if panel.x.limits is not None:
            first, last = (self._along(panel.x, end) for end in panel.x.limits)
        else:
            drawn = [np.asarray(layer.x) for layer in panel.layers if isinstance(layer, d.Line | d.Marks)]
            values = np.concatenate(drawn) if drawn else np.zeros(1)
            first, last = float(np.nanmin(values)), float(np.nanmax(values))
        return (self._along(panel.x, value) - first) / (last - first) if last != first else 0.0

    def _words(self, text: str, color: str, size: int = 13, **place: Any) -> None:
        self.figure.add_annotation(text=text, showarrow=False, font={"color": color, "size": size}, **place)

    # Insets.

    def _inset(self, panel: d.Panel, inset: d.Inset, number: int) -> None:
        own = len(self.panels) + number
        x, y, (left, right), (low, high) = _name("x", own), _name("y", own), *self.domains[number - 1]
        frame = {"showline": True, "mirror": True, "linecolor": INSET_INK, "linewidth": 1, "ticklen": 3}
        frame |= {"tickfont": {"size": 11, "color": self.tone.muted}, "nticks": 5}
        at, foot, wide, tall = inset.place
        start, base = left + (right - left) * at, low + (high - low) * foot
        across = {**frame, "domain": [start, start + (right - left) * wide], "anchor": y}
        across["range"] = [self._along(panel.x, end) for end in inset.x]
        across |= {"type": "log", "showticklabels": False} if panel.x.log else {}
        up = {**frame, "domain": [base, base + (high - low) * tall], "anchor": x, "range": list(inset.y)}
        self.figure.update_layout({_name("xaxis", own): across, _name("yaxis", own): {**up, "ticks": "outside"}})
        for layer in self._shown(inset.layers):
            self.figure.add_traces([trace.update(xaxis=x, yaxis=y) for trace in self._layer(layer, panel)])
        box = {"x0": inset.x[0], "x1": inset.x[1], "y0": inset.y[0], "y1": inset.y[1]}
        refs = {"xref": _name("x", number), "yref": _name("y", number)}
        self.figure.add_shape(type="rect", line={"color": INSET_INK, "width": 1}, **box, **refs)
        self._connect(panel, inset, (start, start + (right - left) * wide), (base, base + (high - low) * tall), number)

    def _connect(
        self, panel: d.Panel, inset: d.Inset, across: tuple[float, float], up: tuple[float, float], number: int
    ) -> None:
        """Draw two lines from the box to its inset, whichever of them lies above."""
        (left, right), (low, high) = self.domains[number - 1]
        first, last = panel.y.limits or inset.y
        box = [low + (high - low) * (end - first) / (last - first) for end in inset.y]
        above = sum(box) > sum(up)
        from_y, to_y = (box[0], up[1]) if above else (box[1], up[0])
        line = {"color": palette.faded(INSET_INK, 0.6), "width": 0.8}
        for end, to_x in zip(inset.x, across, strict=True):
            from_x = left + (right - left) * self._share(panel, end)
            ends = {"x0": from_x, "x1": to_x, "y0": from_y, "y1": to_y}
            self.figure.add_shape(type="line", xref="paper", yref="paper", line=line, **ends)

    # The legend.

    @staticmethod
    def _row_of(key: d.Key) -> str:
        return "legend2" if key.about == "marks" and not key.dash else "legend"

    def _key(self, key: d.Key, legend: str = "") -> go.Scatter:
        color = self._color(key.ink)
        looks: dict[str, Any] = {"x": [None], "y": [None], "hoverinfo": "skip", "name": escape(key.label)}
        if key.group:
            looks["legendgroup"] = key.group
        if key.dash:
            looks["line"] = {"color": _faded(color, key.opacity), "width": key.width, "dash": DASHES[key.dash]}
        if key.shape:
            width = 0 if key.filled else 1.6
            symbol = key.shape if key.filled else f"{key.shape}-open"
            looks["marker"] = {"symbol": symbol, "size": key.size, "color": color, "line": {"width": width}}
        mode = "+".join(["lines"] * bool(key.dash) + ["markers"] * bool(key.shape))
        row = self._row_of(key)
        place = row if row == "legend2" and not legend.removeprefix("legend") else legend or row
        return go.Scatter(mode=mode, legend=place, **looks)

    def _legends(self) -> None:
        if any(panel.keys for panel in self.panels):
            self.figure.update_layout(legend={"itemsizing": "trace"})
            return
        rows = [self._row_of(key) for key in self._shown(self.description.keys)]
        row = LEGEND_ROW / self._inner()
        stacked = rows.count("legend2") > 1
        quiet = {"itemclick": False, "itemdoubleclick": False, "font": {"size": 13, "color": self.tone.muted}}
        above = ABOVE / self._inner() if self.margins["t"] in (ONE_ROW + ABOVE, TWO_ROWS + ABOVE) else 0
        second = _legend(0, 1 + above + 0.25 * row, 13) if stacked else _legend(1, 1.02, 13) | {"xanchor": "right"}
        first = _legend(0, 1 + above + (1.3 if stacked else 0.25) * row, 15 if stacked else 14)
        self.figure.update_layout(legend=first, legend2=second | quiet, showlegend=bool(rows))


def _legend(x: float, y: float, size: int) -> dict[str, Any]:
    place = {"orientation": "h", "x": x, "xanchor": "left", "y": y, "yanchor": "bottom"}
    return {**place, "itemsizing": "trace", "font": {"size": size}}


def _lines(rule: d.Rule) -> list[str]:
    """Return the label of a rule in two lines: name and value, or both over its owner."""
    if not rule.owner:
        return [rule.name, rule.value]
    return [f"{rule.name} {rule.value}", labels.cut(rule.owner, MARGIN_LETTERS)]


def _name(kind: str, number: int) -> str:
    """Return Plotly's name of the nth axis or legend.

    >>> _name("x", 1), _name("yaxis", 3)
    ('x', 'yaxis3')
    """
    return kind if number == 1 else f"{kind}{number}"


def _faded(color: str, opacity: float) -> str:
    return palette.faded(color, opacity) if opacity < 1 else color


def _placed(values: ArrayLike, panel: d.Panel) -> Any:
    names, places = panel.y.categories, np.asarray(values)
    return [escape(names[int(place)]) for place in places] if names and not _has_lanes(panel) else places


def _has_lanes(panel: d.Panel) -> bool:
    """Return whether marks stand beside each other in a row of categories, between the whole numbers."""
    if not panel.y.categories:
        return False
    rows = [layer.y if isinstance(layer, d.Marks) else layer.at for layer in panel.layers if isinstance(layer, ROWS)]
    return any((np.asarray(row, dtype=np.float64) % 1).any() for row in rows)


def _ticks(axis: d.Axis, panel: d.Panel) -> dict[str, Any]:
    if axis.tick_words:
        return {"tickvals": list(axis.ticks or ()), "ticktext": [escape(word) for word in axis.tick_words]}
    if axis.ticks is not None:
        unit = f" {axis.unit}" if axis.unit else ""
        return {"tickvals": list(axis.ticks), "ticktext": [f"{tick:g}{unit}" for tick in axis.ticks]}
    if axis.log:
        look = {"tickmode": "linear", "dtick": _decades(panel, axis is panel.right)}
        # Plotly writes powers larger than other numbers.
        return look | ({"tickfont": {"size": 11}} if axis is panel.right else {"tickformat": "~g"})
    if axis is panel.right:
        return {"tickmode": "auto", "nticks": MOST_TICKS}
    return {"dtick": _whole_step(panel, axis.whole)} if axis.whole else {}


def _whole_step(panel: d.Panel, most: int) -> int | None:
    drawn = [
        np.asarray(layer.x, dtype=np.float64) for layer in panel.layers if isinstance(layer, d.Line | d.Band | d.Marks)
    ]
    longest = max((float(np.nanmax(each)) for each in drawn if len(each)), default=0.0)
    return 1 if longest <= most else 2 if longest <= 2 * most else None


def _decades(panel: d.Panel, right: bool) -> int:
    """Return how many powers of ten lie between ticks of a logarithmic axis, so that they stay few."""
    drawn = [
        np.asarray(each.y, dtype=np.float64)
        for each in panel.layers
        if isinstance(each, d.Line) and each.right == right
    ]
    values = np.concatenate(drawn) if drawn else np.ones(1)
    values = values[np.isfinite(values) & (values > 0)]
    return max(math.ceil(math.log10(values.max() / values.min()) / MOST_TICKS), 1) if len(values) else 1
