"""A description without colour: every method has a grey and a dash of its own, all else keeps its lightness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from analysis.drawing.description import Dash, Description, Panel
from analysis.drawing.paper import color_of
from analysis.style import palette
from glt.methods import METHODS

# Lightness (0 black, 1 white) and line of a method, in the order of legends: neighbours differ in both.
LIGHTNESS = (0.0, 0.15, 0.50, 0.68, 0.32, 0.58, 0.40, 0.75, 0.24)
# ADMM, the fourth, is dashed in colour too.
LINES: tuple[Dash, ...] = ("solid", "solid", "dot", "dash", "dashdot")


def in_grey(description: Description) -> Description:
    """Return a description in greys; a field of colours has greys of its own."""
    inks = {color_of(item.ink) for panel in description.panels for item in _items(panel)}
    order = [palette.DENSE, *sorted(METHODS.names(), key=palette.rank)]
    # A method whose runs are a crowd has no place: its own colour is one of their shades.
    crowds = [name for name in order if {style.light for style in palette.shades(name, 2)} <= inks]
    places = {palette.color(name): place for place, name in enumerate(order) if name not in crowds}
    panels = [_panel(panel, places) for panel in description.panels]
    return replace(description, panels=panels, keys=[_item(key, places) for key in description.keys])


def _items(panel: Panel) -> Iterator[Any]:
    yield from (*panel.layers, *panel.rules, *panel.notes, *panel.labels, *panel.keys)


def _panel(panel: Panel, places: Mapping[str, int]) -> Panel:
    kinds = ("layers", "rules", "notes", "labels", "keys")
    grey: dict[str, Any] = {kind: [_item(item, places) for item in getattr(panel, kind)] for kind in kinds}
    inset = panel.inset and replace(panel.inset, layers=[_item(item, places) for item in panel.inset.layers])
    return replace(panel, **grey, inset=inset)


def _item(item: Any, places: Mapping[str, int]) -> Any:
    color, words = color_of(item.ink), color_of(item.ink, words=True)
    place = places.get(color)
    light = _lightness(color) if place is None else LIGHTNESS[place % len(LIGHTNESS)]
    ink = palette.Style(_hex(light), _hex(light), _hex(_lightness(words)), "", "")
    if place is not None and getattr(item, "dash", "") == "solid":
        return replace(item, ink=ink, dash=LINES[place % len(LINES)])
    return replace(item, ink=ink)


def _lightness(color: str) -> float:
    """Return the lightness of a hex colour (ITU-R BT.601), 0 to 1."""
    red, green, blue = palette.rgb(color)
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def _hex(light: float) -> str:
    return "#" + 3 * f"{round(255 * light):02X}"
