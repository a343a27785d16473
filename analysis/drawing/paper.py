"""Descriptions drawn with matplotlib: for a page of a venue's width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as MplAxis
from matplotlib.backend_bases import RendererBase
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from analysis.drawing import description as d
from analysis.drawing import labels
from analysis.drawing.legend import TITLE, Keys, by_row, plain, wrap_labels, wrapped
from analysis.palette import Style
from glt import formats

# Points of paper for a pixel of the screen: of marks, of lines.
MARK, STROKE = 0.36, 0.5
ROLES = {"text": "#1F2328", "muted": "#555555", "axis": "#C9CFD6", "ground": "#FFFFFF"}
SHAPES = {
    "circle": "o", "square": "s", "diamond": "D", "star": "*", "cross": "P", "pentagon": "p", "hexagon": "h", "x": "x",
    "triangle-up": "^", "triangle-down": "v", "triangle-left": "<", "triangle-right": ">", "line-ew": "_",
}  # fmt: skip
DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (4, 1.5)),
    "dot": (0, (1, 1.2)),
    "dashdot": (0, (4, 1.2, 1, 1.2)),
    "short": (0, (2.5, 1.8)),
}
RULE_DASH = (0, (5, 3))
# The frame of an inset, in colour and in greys.
INSET_INKS = ("#C00000", "#404040")
# Up to this width (inches) a page has one column; a wide panel that is flat has this share of its width.
ONE_COLUMN, FLAT = 4.5, 0.5
# Inches: what the numbers of the y axis take, a row of a panel's own legend, a letter and the handle of its keys.
BESIDE, LEGEND_ROW, LETTER, HANDLE = 0.5, 0.16, 0.044, 0.235
# Rules closer than this share of the window have no room for words between them.
CLOSE = 0.09
# What a letter at the foot takes of the x axis of a narrow panel, as a share.
FOOT_LETTER = 0.025
# Letters of a rule's owner: a method's name always, more where they leave half the panel to curves.
FEWEST_LETTERS, MOST_LETTERS, BESIDE_OWNER = 14, 28, 14
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# The share of a panel that is added on top for names of vertical rules.
STRIP = 0.12
# Steps of the colours of a field: from 50 on, its bar would be pixels instead of shapes. Words on darker are white.
STEPS, DARK = 41, 0.45
# Over bands and the lines of the grid, under every curve.
UNDER_CURVES = 1.8
SMALL: dict[str, Any] = {"fontsize": "small", "annotation_clip": False, "zorder": 6}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure that waits for its page.

    `points` holds the numbers that are drawn, `height` is inches without the legend. `fill` draws into a figure or a
    part of one, in the style of the page, and returns the keys of the legend; `below` puts that under the panels.
    """

    points: pd.DataFrame
    caption: str
    height: float
    fill: Callable[[FigureBase], Keys]
    below: bool = False


def drawing(description: d.Description, width: float, grey: bool = False) -> Drawing:
    """Return a description as a drawing for so many inches."""
    row = PanelRow(len(description.panels), width, description.grid)
    height = row.height + _own_legends(description.panels, row)
    points, caption = description.points, description.caption
    return Drawing(points, caption, height, lambda figure: _fill(figure, description, row, grey), description.below)


@dataclass(frozen=True)
class PanelRow:
    """So many panels of a figure `width` inches wide: side by side where there is room, else under each other."""

    count: int
    width: float
    grid: d.Grid

    @property
    def across(self) -> int:
        """How many stand in a row, the rows filled evenly."""
        if self.grid.heights:
            return 1
        if self.grid.across is not None:
            return self.grid.across if self.width > ONE_COLUMN else 1
        fitting = min(self.count, max(1, int(self.width / self.grid.narrowest)))
        return math.ceil(self.count / math.ceil(self.count / fitting))

    @property
    def down(self) -> int:
        """How many rows there are."""
        return math.ceil(self.count / self.across)

    @property
    def wide(self) -> float:
        """Inches of one panel."""
        return self.width / self.across

    @property
    def height(self) -> float:
        """Inches of all rows."""
        grid = self.grid
        ratio = min(grid.ratio, FLAT) if grid.flat and self.wide > ONE_COLUMN else grid.ratio
        return (sum(grid.heights) or self.down * (ratio * self.wide + grid.more)) + grid.foot

    def areas(self, figure: FigureBase) -> list[Axes]:
        """Add the axes to a figure; those left over are hidden."""
        shape: dict[str, Any] = {"height_ratios": self.grid.heights} if self.grid.heights else {}
        rows = figure.subplots(self.down, self.across, squeeze=False, sharey=self.grid.same_y, **shape)
        areas: list[Axes] = list(rows.flat)
        for left_over in areas[self.count :]:
            left_over.set_visible(False)
        return areas[: self.count]


def _shown(items: Sequence[Any]) -> list[Any]:
    return [item for item in items if item.on != "screen"]


def _fill(figure: FigureBase, description: d.Description, row: PanelRow, grey: bool) -> Keys:
    areas, panels = row.areas(figure), description.panels
    for place, (area, panel) in enumerate(zip(areas, panels, strict=True)):
        right = _panel(area, panel, grey)
        # The first panel of a row names the vertical axis, the last one the second axis.
        first, last = place % row.across == 0, (place + 1) % row.across == 0 or place == len(panels) - 1
        area.set_ylabel(panel.y.title if first or description.grid.each_named else "")
        if panel.y.categories and not first:
            area.set_yticklabels([])
        if panel.right is not None:
            right.set_ylabel(panel.right.title if last else "")
        if panel.keys:
            letter = f"({LETTERS[place]}) " if panel.title else ""
            _own_legend(area, panel, f"{letter}{plain(panel.title)}", _keys_per_row(panels, row.wide), row.wide)
    _titles(areas, description)
    fields = [layer for panel in panels for layer in panel.layers if isinstance(layer, d.Field)]
    if fields:
        shape: Any = {"orientation": "horizontal", "fraction": 0.03, "aspect": 45, "shrink": 0.7}
        bar = figure.colorbar(_colors(fields[0], grey), ax=list(areas), **shape)
        bar.set_label(fields[0].short_title or fields[0].title, fontsize="small", labelpad=1)
        bar.outline.set_visible(False)
        if fields[0].limits[0] < 0:
            bar.locator = MaxNLocator(5, symmetric=True)
            bar.update_ticks()
    keys = _shown(description.keys)
    return Keys(*([_handle(key) for key in keys if key.about == about] for about in ("runs", "marks")))


def _titles(areas: Sequence[Axes], description: d.Description) -> None:
    for letter, area, panel in zip(LETTERS, areas, description.panels, strict=False):
        if description.grid.heights:
            area.set_title(plain(panel.title), loc="left", fontsize="small", color=ROLES["muted"])
        elif not description.lettered:
            area.set_title(plain(panel.title))
        elif len(areas) > 1 and not panel.keys:
            spec, figure = area.get_subplotspec(), area.figure
            columns = spec.get_gridspec().ncols if spec else 1
            room = float(figure.bbox.width / figure.dpi / columns) - BESIDE
            words = wrapped(f"({letter}) {plain(panel.title)}".strip(), room, TITLE)
            area.set_title(words, loc="left", fontweight="bold" if not panel.title else None)


def color_of(ink: d.Ink, words: bool = False) -> str:
    """Return the colour of an ink on paper."""
    if isinstance(ink, Style):
        return ink.words if words else ink.light
    return ROLES.get(ink, ink)


# A panel.


def _panel(area: Axes, panel: d.Panel, grey: bool) -> Axes:
    """Draw a panel and return the axes of its second vertical axis, its own where it has none."""
    right = area.twinx() if panel.right is not None else area
    for layer in _shown(panel.layers):
        _layer(layer, right if layer.right else area, panel, grey)
    _draw_rules(area, panel)
    _place_axis(area, panel, vertical=False)
    _place_axis(area, panel, vertical=True)
    if panel.right is not None:
        right.grid(visible=False)
        right.spines["right"].set_visible(True)
        right.tick_params(axis="y", length=2.5)
        if panel.right.from_zero:
            right.set_ylim(bottom=0)
    if panel.square:
        area.set_aspect("equal")
    _name_rules(area, panel)
    _write_notes(area, panel)
    for label in panel.labels:
        _write_label(area, label)
    if panel.inset is not None:
        _draw_inset(area, panel, panel.inset, grey)
    return right


def _place_axis(area: Axes, panel: d.Panel, vertical: bool) -> None:
    axis, side = (panel.y, area.yaxis) if vertical else (panel.x, area.xaxis)
    name = "y" if vertical else "x"
    if axis.empty:
        side.set_ticks([])
        area.set_xlabel(panel.x.title, fontsize="small", labelpad=2)
        area.grid(visible=False)
        area.spines[:].set_visible(False)
    elif not vertical:
        area.set_xlabel(axis.short or axis.title)
    _scale(area, axis, name)
    _mark(side, axis)
    if axis.categories:
        _name_categories(area, side, axis, vertical)
    if axis.grid and not vertical:
        area.grid(visible=False, axis="y")
        area.grid(visible=True, axis="x")
    if not axis.named:
        area.tick_params(axis="x", labelbottom=False)


def _scale(area: Axes, axis: d.Axis, name: str) -> None:
    if axis.log:
        area.set(**{f"{name}scale": "log"})
    if axis.limits is not None:
        area.set(**{f"{name}lim": axis.limits})
    elif axis.margin is not None:
        area.set(**{f"{name}margin": axis.margin})
    if axis.flipped:
        (area.invert_xaxis if name == "x" else area.invert_yaxis)()


def _mark(side: MplAxis, axis: d.Axis) -> None:
    if axis.log:
        side.set_minor_locator(NullLocator())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if axis.ticks is not None:
        side.set_major_locator(FixedLocator(list(axis.ticks)[:: axis.every]))
    if axis.tick_words:
        side.set_major_formatter(FixedFormatter([plain(word) for word in axis.tick_words][:: axis.every]))
    if axis.whole:
        side.set_major_locator(MaxNLocator(8, integer=True))


def _name_categories(area: Axes, side: MplAxis, axis: d.Axis, vertical: bool) -> None:
    many = len(axis.categories)
    words = [plain(name) for name in axis.categories[:: axis.every]]
    slanted: Any = {} if vertical else {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    side.set_ticks(range(0, many, axis.every), words, **slanted)
    if vertical and not area.images and not area.patches:
        area.set_ylim(many - 0.4, -0.6)
    elif vertical:
        area.set_ylim(many - 0.5, -0.5)
    else:
        area.set_xlim(-0.5, many - 0.5)


@singledispatch
def _layer(layer: d.Layer, area: Axes, panel: d.Panel, grey: bool) -> None:
    raise TypeError(f"no way to draw {type(layer).__name__} on paper")


@_layer.register
def _(layer: d.Line, area: Axes, panel: d.Panel, grey: bool) -> None:
    color, width = color_of(layer.ink), STROKE * layer.width
    look: dict[str, Any] = {"color": color, "alpha": layer.opacity, "linewidth": width}
    look["linestyle"] = DASHES[layer.dash]
    if layer.shape:
        look |= {"marker": SHAPES[layer.shape], "markersize": 3.0, "markeredgewidth": _rim(layer.shape)}
    step = {"hv": "steps-post", "vh": "steps-pre", "": "default"}[layer.step]
    area.plot(layer.x, layer.y, drawstyle=step, zorder=3 if width > 1 else 2, **look)


@_layer.register
def _(layer: d.Band, area: Axes, panel: d.Panel, grey: bool) -> None:
    look: Any = {"color": color_of(layer.ink), "alpha": layer.opacity, "linewidth": 0}
    area.fill_between(layer.x, layer.low, layer.high, **look)


@_layer.register
def _(layer: d.Marks, area: Axes, panel: d.Panel, grey: bool) -> None:
    color, filled = color_of(layer.ink), np.asarray(layer.filled)
    marker, sizes = SHAPES[layer.shape], (MARK * np.asarray(layer.size, dtype=np.float64)) ** 2
    look: dict[str, Any] = {"s": sizes, "marker": marker, "alpha": layer.opacity, "zorder": 4}
    if marker == "x":
        look |= {"c": color, "linewidths": 1.2}
    elif filled.ndim == 0 and filled:
        look |= {"c": color, "edgecolors": "white", "linewidths": 0.4 if layer.rim else 0}
    else:
        # Among full marks, an open one hides what is behind it.
        faces = np.where(filled[:, None], to_rgba(color), to_rgba("white")) if filled.ndim else "none"
        look |= {"facecolors": faces, "edgecolors": color, "linewidths": 0.4 * layer.rim, "zorder": 5}
    area.scatter(layer.x, layer.y, **look)


@_layer.register
def _(layer: d.Ranges, area: Axes, panel: d.Panel, grey: bool) -> None:
    draw = area.hlines if layer.across else area.vlines
    look: dict[str, Any] = {"linewidth": MARK * layer.width, "alpha": layer.opacity}
    draw(np.asarray(layer.at), layer.low, layer.high, colors=color_of(layer.ink), zorder=2, **look)


@_layer.register
def _(layer: d.Segments, area: Axes, panel: d.Panel, grey: bool) -> None:
    look: dict[str, Any] = {"colors": color_of(layer.ink), "linewidths": STROKE * layer.width, "alpha": layer.opacity}
    ends = np.asarray(layer.ends, dtype=np.float64).reshape(-1, 2, 2)
    area.add_collection(LineCollection(list(ends), linestyles=[DASHES[layer.dash]], **look))


# Fields: matrices of coloured cells.


@_layer.register
def _(layer: d.Field, area: Axes, panel: d.Panel, grey: bool) -> None:
    look, values = _colors(layer, grey), np.asarray(layer.values, dtype=np.float64)
    if layer.short_words is None:
        limits: Any = {"cmap": look.get_cmap(), "clim": look.get_clim()}
        area.imshow(values, aspect="auto", interpolation="nearest", **limits)
    else:
        size: Any = "small" if len(values) <= 10 else "xx-small"
        for row, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
            ground = look.to_rgba(values[row, column])
            area.add_patch(Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=ground, linewidth=0))
            ink = "white" if np.array([0.299, 0.587, 0.114]) @ np.asarray(ground)[:3] < DARK else "black"
            place: Any = {"ha": "center", "va": "center", "fontsize": size, "color": ink}
            area.text(column, row, layer.short_words[row][column], **place)
    area.grid(visible=False)
    if panel.x.categories:
        area.tick_params(length=0, pad=2)
        area.spines[:].set_visible(False)


def _colors(layer: d.Field, grey: bool) -> ScalarMappable:
    colors = layer.colors[2] if grey else layer.colors[0]
    return ScalarMappable(Normalize(*layer.limits), LinearSegmentedColormap.from_list("field", list(colors), STEPS))


# Rules and words.


class Ground(Artist):
    """White under words: it hides the lines of the grid behind them, and no curve."""

    def __init__(self, words: Annotation) -> None:
        super().__init__()
        self._words = words
        self.set_zorder(UNDER_CURVES)
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Draw it where the words stand now."""
        self._words.update_positions(renderer)
        # A line that leads from the words to their mark is no part of them.
        place = Text.get_window_extent(self._words, renderer)
        Rectangle(place.p0, place.width, place.height, facecolor="white", alpha=0.7, linewidth=0).draw(renderer)


def _write(area: Axes, text: str, *place: Any, **look: Any) -> Annotation:
    """Write small words into a panel, placed as matplotlib's `annotate` does; curves behind them stay as they are."""
    words = area.annotate(text, *place, **{**SMALL, **look})
    area.add_artist(Ground(words))
    return words


def _draw_rules(area: Axes, panel: d.Panel) -> None:
    for rule in _shown(panel.rules):
        dash = RULE_DASH if rule.dash == "dash" and not rule.vertical else DASHES[rule.dash]
        draw = area.axvline if rule.vertical else area.axhline
        draw(rule.at, color=color_of(rule.ink), linewidth=STROKE * rule.width, linestyle=dash, zorder=1.5)


def _name_rules(area: Axes, panel: d.Panel) -> None:
    """Write over every level rule what it is, under the lower one of two that lie close; names of others on top."""
    named = [rule for rule in _shown(panel.rules) if rule.name]
    level = sorted((rule for rule in named if not rule.vertical), key=lambda rule: rule.at)
    low, high = area.get_ylim()
    close = len(level) == 2 and level[1].at - level[0].at < CLOSE * (high - low)
    for number, rule in enumerate(level):
        under = close and number == 0
        place: Any = (1, rule.at), (0, -2.5 if under else 2.5), area.get_yaxis_transform(), "offset points"
        words = _write(area, _rule_words(area, rule), *place, ha="right", va="top" if under else "baseline")
        # Words over a line must not push the axes aside.
        words.set_in_layout(False)
    tops = [rule for rule in named if rule.vertical]
    for rule in tops:
        place = (rule.at, 1), (2, -1), area.get_xaxis_transform(), "offset points"
        area.annotate(plain(rule.name), *place, ha="left", va="top", fontsize="small", color=ROLES["muted"])
    if tops:
        area.set_ylim(low, high + STRIP * (high - low))


def _rule_words(area: Axes, rule: d.Rule) -> str:
    fitting = int(area.get_window_extent().width / area.figure.dpi / 2 / LETTER) - BESIDE_OWNER
    letters = min(max(fitting, FEWEST_LETTERS), MOST_LETTERS)
    owner = f" ({plain(labels.cut(rule.owner, letters))})" if rule.owner else ""
    return f"{rule.name}{owner} {rule.value.replace(' %', '%')}"


def _write_notes(area: Axes, panel: d.Panel) -> None:
    notes: list[d.Note] = _shown(panel.notes)
    texts = [note.short or note.text for note in notes]
    # Where a place stands on the x axis, as a share of it from the left.
    edges = area.transScale.transform([(edge, 1.0) for edge in area.get_xlim()])[:, 0]
    places = [area.transScale.transform([(note.x, 1.0)])[0, 0] for note in notes]
    shares = [float((place - edges[0]) / (edges[1] - edges[0])) for place in places]
    widths = [FOOT_LETTER * len(text) for text in texts]
    feet = labels.feet(shares, widths, [note.right for note in notes])
    for note, text, foot in zip(notes, texts, feet, strict=True):
        aside = 4 if foot.is_right else -4
        place: Any = (note.x, area.get_ylim()[0]), (aside, 3 + 8 * foot.level), "data", "offset points"
        _write(area, plain(text), *place, ha="left" if foot.is_right else "right", color=color_of(note.ink, words=True))


def _write_label(area: Axes, label: d.Label) -> None:
    edge, look = (0.995, "top") if label.top else (0.005, "bottom"), {"color": color_of(label.ink, words=True)}
    if label.mark is None:
        _write(area, plain(label.text), (0.995, edge[0]), None, "axes fraction", ha="right", va=edge[1], **look)
        return
    leader: Any = {"arrowstyle": "-", "linewidth": 0.5, "color": look["color"], "shrinkA": 0, "shrinkB": 3}
    place = label.mark, (label.mark[0], edge[0]), "data", area.get_xaxis_transform()
    _write(area, plain(label.text), *place, ha="center", va=edge[1], arrowprops=leader, **look)


def _draw_inset(area: Axes, panel: d.Panel, inset: d.Inset, grey: bool) -> None:
    inner = area.inset_axes(inset.place, zorder=6)
    for layer in _shown(inset.layers):
        _layer(layer, inner, panel, grey)
    _draw_rules(inner, panel)
    if panel.x.log:
        inner.set_xscale("log")
    inner.set_xlim(*inset.x)
    inner.set_ylim(*inset.y)
    if panel.x.log:
        inner.set_xticks([], minor=True)
        inner.set_xticks([])
    inner.tick_params(labelsize="x-small", pad=1.5, length=1.5)
    inner.locator_params(axis="y", nbins=4)
    for spine in inner.spines.values():
        spine.set(visible=True, color=INSET_INKS[grey], linewidth=0.5)
    area.indicate_inset_zoom(inner, edgecolor=INSET_INKS[grey], linewidth=0.6, alpha=0.9)


# Keys of the legend.


def _rim(shape: str) -> float:
    """Return the width of the rim of a full mark, in points; a cross is nothing but its rim."""
    return 0.8 if shape == "x" else 0.0


def _handle(key: d.Key) -> Line2D:
    color = color_of(key.ink)
    words = key.short or (formats.opening(key.label) if key.about == "marks" else key.label)
    handle = Line2D([], [], color=color, linewidth=STROKE * key.width, label=plain(words))
    if key.opacity < 1:
        handle.set_alpha(key.opacity)
    handle.set_linestyle(DASHES[key.dash] if key.dash else "none")
    if key.shape:
        handle.set(marker=SHAPES[key.shape], markersize=MARK * key.size)
        if not key.dash:
            edge = {"markeredgecolor": color, "markeredgewidth": _rim(key.shape) if key.filled else 0.8}
            handle.set(markerfacecolor=color if key.filled else "none", **edge)
    return handle


def _own_legends(panels: Sequence[d.Panel], row: PanelRow) -> float:
    if not any(panel.keys for panel in panels):
        return 0.0
    per_row = _keys_per_row(panels, row.wide)
    # A panel without tickets has as much room as one with their key.
    runs = [sum(key.about == "runs" for key in panel.keys) for panel in panels]
    rows = max(math.ceil((n + 1) / per_row) + bool(panel.title) for n, panel in zip(runs, panels, strict=True))
    return row.down * LEGEND_ROW * (rows + 1)


def _keys_per_row(panels: Sequence[d.Panel], wide: float) -> int:
    longest = max(len(key.label) for panel in panels for key in panel.keys if key.about == "runs")
    return max(1, int((wide - BESIDE) / (HANDLE + LETTER * longest) + LETTER))


def _own_legend(area: Axes, panel: d.Panel, title: str, per_row: int, wide: float) -> None:
    keys = [_handle(key) for key in _shown(panel.keys)]
    if per_row == 1:
        wrap_labels(keys, wide - BESIDE - HANDLE)
    rows = [keys[start : start + per_row] for start in range(0, len(keys), per_row)]
    area.legend(
        handles=by_row(rows),
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=len(rows[0]),
        title=title or None,
        alignment="left",
        handlelength=1.2,
        handletextpad=0.35,
        columnspacing=0.8,
        title_fontproperties={"weight": "bold"},
    )
