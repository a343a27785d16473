"""The style of a page in matplotlib: a venue's font sizes, embedded TrueType fonts, one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import matplotlib as mpl

from analysis import palette
from analysis.drawing.description import Dash, Description, Panel
from analysis.drawing.paper import color_of
from analysis.drawing.venues import Font, Venue
from glt.errors import ConfigError, unknown_name
from glt.methods import METHODS

SETTINGS: Any = {
    # TrueType: ICML and IEEE refuse the default, Type 3.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "glt-studio",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 0.0,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.5,
    "legend.borderpad": 0.0,
    "figure.constrained_layout.use": True,
}
# Fonts that come with matplotlib, so that a figure looks the same on every machine.
_FONTS: dict[Font, Any] = {
    "times": {"font.family": "STIXGeneral", "mathtext.fontset": "stix"},
    "sans": {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"},
}
# matplotlib's settings are global to the process; sessions of the app draw at the same time.
ONE_AT_A_TIME = threading.RLock()


@contextmanager
def paper_style(venue: Venue, font: Font = "times") -> Iterator[None]:
    """Draw in the venue's text sizes for as long as the context lasts; one thread at a time.

    Raises ConfigError for an unknown font.
    """
    if font not in _FONTS:
        raise ConfigError(unknown_name("font", font, _FONTS))
    sizes: Any = {
        "font.size": venue.text,
        "axes.labelsize": venue.text,
        "axes.titlesize": venue.text,
        "legend.fontsize": venue.small,
        "xtick.labelsize": venue.small,
        "ytick.labelsize": venue.small,
    }
    with ONE_AT_A_TIME, mpl.rc_context({**SETTINGS, **_FONTS[font], **sizes}):
        yield


# A description without colour: every method has a grey and a dash of its own, all else keeps its lightness.


# What of a panel has an ink.
KINDS = ("layers", "rules", "notes", "labels", "keys")
# Lightness (0 black, 1 white) and line of a method, in the order of legends: neighbours differ in both.
LIGHTNESS = (0.0, 0.15, 0.50, 0.68, 0.32, 0.58, 0.40, 0.75, 0.24)
# ADMM, the fourth, is dashed in colour too.
LINES: tuple[Dash, ...] = ("solid", "solid", "dot", "dash", "dashdot")


def in_grey(description: Description) -> Description:
    """Return a description in greys; a field of colours has greys of its own."""
    inks = {color_of(item.ink) for panel in description.panels for kind in KINDS for item in getattr(panel, kind)}
    order = [palette.DENSE, *sorted(METHODS.names(), key=palette.rank)]
    # A method whose runs are a crowd has no place: its own colour is one of their shades.
    crowds = [name for name in order if {style.light for style in palette.shades(name, 2)} <= inks]
    places = {palette.color(name): place for place, name in enumerate(order) if name not in crowds}
    panels = [_panel(panel, places) for panel in description.panels]
    return replace(description, panels=panels, keys=[_item(key, places) for key in description.keys])


def _panel(panel: Panel, places: Mapping[str, int]) -> Panel:
    grey: dict[str, Any] = {kind: [_item(item, places) for item in getattr(panel, kind)] for kind in KINDS}
    inset = panel.inset and replace(panel.inset, layers=[_item(item, places) for item in panel.inset.layers])
    return replace(panel, **grey, inset=inset)


def _item(item: Any, places: Mapping[str, int]) -> Any:
    color, words = color_of(item.ink), color_of(item.ink, words=True)
    place = places.get(color)
    light = _lightness(color) if place is None else LIGHTNESS[place % len(LIGHTNESS)]
    ink = palette.Style(_hex(light), _hex(light), _hex(_lightness(words)), "")
    if place is not None and getattr(item, "dash", "") == "solid":
        return replace(item, ink=ink, dash=LINES[place % len(LINES)])
    return replace(item, ink=ink)


def _lightness(color: str) -> float:
    """Return the lightness of a hex colour (ITU-R BT.601), 0 to 1."""
    red, green, blue = palette.rgb(color)
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def _hex(light: float) -> str:
    return "#" + 3 * f"{round(255 * light):02X}"
