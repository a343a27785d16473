"""A figure without colour: every method has a grey and a kind of line of its own, all else keeps its lightness."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import Collection as Marks
from matplotlib.colors import to_hex, to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from analysis.style import palette
from glt.methods import METHODS

Rgba = tuple[float, float, float, float]

# Lightness (0 black, 1 white) and line of a method, in the order of legends: neighbours differ in both.
LIGHTNESS = (0.0, 0.15, 0.50, 0.68, 0.32, 0.58, 0.40, 0.75, 0.24)
# ADMM, the fourth, is dashed in colour too.
LINES: tuple[Any, ...] = ("-", "-", (0, (1, 1.2)), (0, (4, 1.5)), (0, (4, 1.2, 1, 1.2)))
# Shares of red, green and blue in lightness (ITU-R BT.601).
SHARES = np.array([0.299, 0.587, 0.114])


def in_grey(figure: Figure) -> Figure:
    """Take the colours out of a drawn figure, in place, and return it."""
    known = _methods(figure)
    for artist in figure.findobj():
        _fade(artist, known)
    return figure


def _methods(figure: Figure) -> dict[str, int]:
    """Return the place of every method among the greys by its colour on paper.

    A method whose runs are a crowd has none: its own colour is one of their shades, and keeps its place among them.
    """
    order = [palette.DENSE, *sorted(METHODS.names(), key=palette.rank)]
    lines = {to_hex(line.get_color()) for line in figure.findobj(Line2D)}
    places = {palette.color(method).lower(): (place, method) for place, method in enumerate(order)}
    return {color: place for color, (place, method) in places.items() if not _is_crowd(method, lines)}


def _is_crowd(method: str, colors: Collection[str]) -> bool:
    """Say whether the lightest and the darkest shade of a method are among the colours."""
    return {style.light.lower() for style in palette.shades(method, 2)} <= set(colors)


def _fade(artist: Artist, known: dict[str, int]) -> None:
    if isinstance(artist, Line2D):
        _fade_line(artist, known)
    elif isinstance(artist, Marks):
        artist.set_facecolor(_greys(artist.get_facecolor(), known))
        artist.set_edgecolor(_greys(artist.get_edgecolor(), known))
    elif isinstance(artist, Patch):
        artist.set_facecolor(_grey(artist.get_facecolor(), known))
        artist.set_edgecolor(_grey(artist.get_edgecolor(), known))
    elif isinstance(artist, Text):
        artist.set_color(_grey(artist.get_color(), known))


def _fade_line(line: Line2D, known: dict[str, int]) -> None:
    place = known.get(to_hex(line.get_color()), 0)
    if line.get_linestyle() == "-":
        line.set_linestyle(LINES[place % len(LINES)])
    face, edge = line.get_markerfacecolor(), line.get_markeredgecolor()
    line.set_color(_grey(line.get_color(), known))
    if face != "none":
        line.set_markerfacecolor(_grey(face, known))
    line.set_markeredgecolor(_grey(edge, known))


def _grey(color: Any, known: dict[str, int]) -> Rgba:
    red, green, blue, alpha = to_rgba(color)
    place = known.get(to_hex(color))
    light = LIGHTNESS[place % len(LIGHTNESS)] if place is not None else float(SHARES @ [red, green, blue])
    return light, light, light, alpha


def _greys(colors: Any, known: dict[str, int]) -> list[Rgba]:
    return [_grey(color, known) for color in to_rgba_array(colors)]
