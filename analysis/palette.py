"""Colours, markers and line styles of methods, runs and settings, and the Plotly theme.

Methods have Okabe-Ito colours: dense black (light grey in dark mode), UGS vermilion, random pruning blue, ADMM bluish
green and dashed, edge scores reddish purple and dash-dotted. Later methods have the rest of these colours or deeper
ones; methods that this file does not know share two, in the order of their names. Markers differ too, and a ticket is
always a star. Colours are mixed here, because pages without a figure for paper
start without matplotlib.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from glt.methods import METHODS
from glt.methods.base import Cause
from glt.store import COLORS

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

DENSE = "dense"
# Shares of white and black in the lightest and the darkest shade of a method's colour.
TINT, SHADE = 0.32, 0.44
# Depth (0 to 1 = SHADE) of a colour that a user gives to a run while a method has it.
SHIFT = 0.75
# With more runs of one method, dashes do not distinguish them; points have none.
MOST_DASHED, MOST_POINTS = 4, 1
TICKET_SYMBOL = "star"


@dataclass(frozen=True)
class Style:
    """The look of a method: colours for light and dark, and Plotly's symbol of ordinary rounds.

    `words` is the light theme's text colour (contrast 4.5 on white). `dash` is the line style of its first run: 0
    solid, 1 dashed, 2 dotted, 3 dash-dotted.
    """

    light: str
    dark: str
    words: str
    symbol: str
    dash: int = 0

    def color(self, dark: bool = False) -> str:
        """Return the hex colour for the light or the dark theme."""
        return self.dark if dark else self.light


# Colours of methods that users can choose for runs too.
_ORANGE = Style("#E69F00", "#EBAA22", "#946600", "triangle-up")
_SKY = Style("#56B4E9", "#7CC7F0", "#1B76AC", "pentagon", dash=2)
_YELLOW = Style("#8C7A00", "#F0E442", "#7D6D00", "hexagon", dash=1)
_GREY = Style("#666666", "#A6A6A6", "#666666", "cross")
_FIXED = {
    DENSE: Style("#000000", "#D0D0D0", "#000000", "line-ew"),
    "ugs": Style("#D55E00", "#E8732A", "#B84F00", "circle"),
    "random": Style("#0072B2", "#3D9BDC", "#0072B2", "square"),
    "admm": Style("#009E73", "#35C49A", "#007B5A", "diamond", dash=1),
    "score": Style("#CC79A7", "#DE9CC0", "#A84A7E", "triangle-down", dash=3),
    "reinit": _ORANGE,
    "combine": _GREY,
    "teddy": _SKY,
    "wd_glt": Style("#8A3D00", "#F29A66", "#8A3D00", "triangle-left", dash=3),
    "ace_glt": Style("#13466E", "#9DB8E8", "#13466E", "triangle-right", dash=2),
    "fast_glt": _YELLOW,
}
_REST = (
    Style("#00634A", "#7ADDBB", "#00634A", "x"),
    Style("#7A3F63", "#F0C2DC", "#7A3F63", "x", dash=1),
)
# Colours that users choose for runs, by their names in annotations.
_PAINTS = dict(
    zip(
        COLORS,
        (_FIXED["ugs"], _FIXED["random"], _ORANGE, _FIXED["admm"], _FIXED["score"], _SKY, _YELLOW, _GREY),
        strict=True,
    )
)

# Causes of removals, and what is unknown. Fills differ in lightness, so that they do in grey print and for colour-blind
# readers; thin lines and text take the darker `words`.
_CAUSES: dict[Cause | None, Style] = {
    "gradient": Style("#123F6D", "#3F7FC4", "#1D5FA6", "square", dash=1),
    "no gradient": Style("#E39A2D", "#F3C069", "#9A5B00", "square", dash=2),
    "score": Style("#A56FB8", "#C9A3DC", "#7A4590", "square", dash=3),
    "random": Style("#A3DCCB", "#BDE8DE", "#23756A", "square", dash=1),
    "solver": Style("#A23B5E", "#B84A70", "#A23B5E", "square", dash=3),
    None: Style("#F1F2F3", "#3A424E", "#6B737C", "square", dash=2),
}

# "plasma" (van der Walt and Smith 2015). Its lightness only rises, so the order of values is visible to colour-blind
# readers and in grey print. Each theme takes the part with a contrast of at least 2.8 to its ground. Text needs 4.5, so
# it is darker by _FOR_WORDS.
_PLASMA = (
    *("#0D0887", "#46039F", "#7201A8", "#9C179E", "#BD3786"),
    *("#D8576B", "#ED7953", "#FB9F3A", "#FDCA26", "#F0F921"),
)
_ON_LIGHT, _ON_DARK = (0.0, 6.0), (4.0, 9.0)
_FOR_WORDS = 0.75
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "pentagon", "hexagon", "cross")


def style(method: str) -> Style:
    """Return the look of a method, which does not depend on other methods shown."""
    if method in _FIXED:
        return _FIXED[method]
    others = sorted({*METHODS.names(), method} - _FIXED.keys())
    return _REST[others.index(method) % len(_REST)]


def painted(method: str, color: str) -> Style:
    """Return the look of a run with its own colour (a name in `glt.store.COLORS`) and its method's marker.

    A colour of another method is deeper (lighter in the dark theme), so that the run is not mistaken for its runs.

    >>> painted("ugs", "blue").light, painted("ugs", "blue").symbol, painted("ugs", "") == style("ugs")
    ('#004C77', 'circle', True)
    """
    own, paint = style(method), _PAINTS.get(color)
    if paint is None:
        return own
    if paint.light in {style(name).light for name in METHODS.names()} - {own.light}:
        light, words = _toned(paint.light, SHIFT), _toned(paint.words, SHIFT)
        paint = replace(paint, light=light, dark=_toned(paint.dark, -1.0), words=words)
    return replace(paint, symbol=own.symbol, dash=own.dash)


def cause_style(cause: Cause | None) -> Style:
    """Return the look of a cause of removals; None: unknown.

    >>> cause_style("gradient").light, cause_style(None).light
    ('#123F6D', '#F1F2F3')
    """
    return _CAUSES[cause]


def rank(method: str) -> tuple[int, str]:
    """Return the sort key of a method: dense, the methods with a look of their own, then by name.

    >>> sorted(["random", "zeta", "ugs"], key=rank)
    ['ugs', 'random', 'zeta']
    """
    fixed = list(_FIXED)
    return (fixed.index(method) if method in fixed else len(fixed)), method


def color(method: str, dark: bool = False) -> str:
    """Return a method's hex colour.

    >>> color("ugs"), color("dense", dark=True)
    ('#D55E00', '#D0D0D0')
    """
    return style(method).color(dark)


def label(method: str) -> str:
    """Return a method's label; a method that this version does not know keeps its name.

    >>> label("dense"), label("ugs"), label("random")
    ('Dense', 'UGS', 'Random pruning')
    """
    if method == DENSE:
        return "Dense"
    return METHODS.get(method).label if method in METHODS.names() else method


def shades(method: str, count: int) -> list[Style]:
    """Return `count` styles in shades of a method's colour, from light to dark; marker and text colour stay.

    >>> [shade.light for shade in shades("ugs", 3)]
    ['#E29252', '#D55E00', '#773500']
    """
    base = style(method)
    depths = [2 * place / max(count - 1, 1) - 1 for place in range(count)]
    return [replace(base, light=_toned(base.light, depth), dark=_toned(base.dark, depth)) for depth in depths]


def _toned(hex_color: str, depth: float) -> str:
    """Mix a colour with white (depth -1 to 0) or black (0 to 1), within TINT and SHADE."""
    toward, share = (255, -TINT * depth) if depth < 0 else (0, SHADE * depth)
    return _hex((1 - share) * part + share * toward for part in rgb(hex_color))


def crowd_styles(table: pd.DataFrame, most: int = MOST_DASHED) -> dict[str, Style]:
    """Return shades for the runs of every method with more than `most` runs, light to dark in the table's order.

    `table` has the columns run and method. Such runs are drawn without bands and single seeds.
    """
    runs = table[["run", "method"]].drop_duplicates()
    styles: dict[str, Style] = {}
    for method, count in Counter(runs["method"]).items():
        if count > most:
            styles |= dict(zip(runs["run"][runs["method"] == method], shades(method, count), strict=True))
    return styles


def steps(count: int) -> list[Style]:
    """Return the styles of `count` values of a setting, smallest first; neighbours differ in symbol.

    >>> [style.light for style in steps(3)], [style.symbol for style in steps(3)]
    (['#0D0887', '#9C179E', '#ED7953'], ['circle', 'square', 'triangle-up'])
    """

    def on_plasma(place: float) -> list[float]:
        index = min(int(place), len(_PLASMA) - 2)
        ends = rgb(_PLASMA[index]), rgb(_PLASMA[index + 1])
        return [a + (place - index) * (b - a) for a, b in zip(*ends, strict=True)]

    styles = []
    for number in range(count):
        share = number / max(count - 1, 1)
        light, dark = (on_plasma(low + share * (high - low)) for low, high in (_ON_LIGHT, _ON_DARK))
        words = _hex(_FOR_WORDS * part for part in light)
        styles.append(Style(_hex(light), _hex(dark), words, _SYMBOLS[number % len(_SYMBOLS)]))
    return styles


def rgb(hex_color: str) -> tuple[int, int, int]:
    """Return red, green and blue of a hex colour, 0 to 255.

    >>> rgb("#D55E00")
    (213, 94, 0)
    """
    return int(hex_color[1:3], 16), int(hex_color[3:5], 16), int(hex_color[5:7], 16)


def faded(hex_color: str, opacity: float) -> str:
    """Return a hex colour as CSS rgba with an opacity between 0 and 1.

    >>> faded("#D55E00", 0.15)
    'rgba(213,94,0,0.15)'
    """
    red, green, blue = rgb(hex_color)
    return f"rgba({red},{green},{blue},{opacity:g})"


def _hex(parts: Iterable[float]) -> str:
    return "#" + "".join(f"{round(part):02X}" for part in parts)


# The Plotly theme

FONT = '"Source Sans 3", "Source Sans Pro", "Source Sans", "Helvetica Neue", Arial, sans-serif'


@dataclass(frozen=True)
class Ink:
    """The neutral colours of one theme."""

    text: str
    muted: str
    grid: str
    axis: str
    ground: str
    card: str


LIGHT = Ink(text="#1F2328", muted="#5A636E", grid="#E9ECEF", axis="#B6BDC5", ground="#FFFFFF", card="#FFFFFF")
DARK = Ink(text="#E8EAED", muted="#A3ADB8", grid="#262C36", axis="#4A535F", ground="#0E1117", card="#1A1F29")


def ink(dark: bool) -> Ink:
    """Return the neutral colours of the dark or the light theme."""
    return DARK if dark else LIGHT


def template(dark: bool) -> go.layout.Template:
    """Return the Plotly template of every figure on the screen."""
    import plotly.graph_objects as go

    tone = ink(dark)
    axis = {
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": tone.axis,
        "ticks": "outside",
        "ticklen": 5,
        "tickcolor": tone.axis,
        "tickfont": {"size": 13, "color": tone.muted},
        "title": {"font": {"size": 14, "color": tone.text}, "standoff": 12},
        "automargin": True,
    }
    layout = {
        "font": {"family": FONT, "size": 14, "color": tone.text},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis,
        "yaxis": {**axis, "showgrid": True, "gridcolor": tone.grid, "showline": False, "ticks": ""},
        "hoverlabel": {"bgcolor": tone.card, "font": {"size": 13, "color": tone.text, "family": FONT}, "align": "left"},
        "margin": {"l": 64, "r": 24, "t": 84, "b": 60},
    }
    return go.layout.Template(layout=layout)


def escape(text: str) -> str:
    """Return text escaped for Plotly's names, annotations and hover texts.

    Plotly interprets tags, character references (`convertEntities` of its svg_text_utils; quotes are not among the
    named ones), and `%{...}` in hover templates.

    >>> escape('<b> & "%{x}"')
    '&lt;b&gt; &amp; "&#37;{x}"'
    """
    return html.escape(text, quote=False).replace("%{", "&#37;{")
