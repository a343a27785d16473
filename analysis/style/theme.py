"""The Plotly theme, light and dark, and text that Plotly shows as it was written."""

from __future__ import annotations

import html
from dataclasses import dataclass

import plotly.graph_objects as go

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
    """Return the layout that every figure on the screen starts from."""
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
    """Return text that Plotly shows as it is, in names, annotations and what appears under the pointer.

    Plotly reads tags, numbers of characters and eight named ones, among which no quote is (`convertEntities` of its
    svg_text_utils), and in a hovertemplate `%{...}` as a value to fill in.

    >>> escape('<b> & "%{x}"')
    '&lt;b&gt; &amp; "&#37;{x}"'
    """
    return html.escape(text, quote=False).replace("%{", "&#37;{")
