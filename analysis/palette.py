"""One colour and one marker a method, everywhere: the Okabe-Ito set, close to the paper's own choice.

Dense black (light grey in dark mode), UGS vermilion, random pruning blue, ADMM orange; later methods take the rest
in the order of their names. Colour never stands alone: markers differ too, and a ticket is always a star.
"""

from __future__ import annotations

from dataclasses import dataclass

from glt.methods import METHODS

DENSE = "dense"


@dataclass(frozen=True)
class Style:
    """How one method looks: colours for light and dark, Plotly symbol and matplotlib marker of ordinary rounds.

    `words` is the light theme's colour for text, dark enough to be read on white (contrast 4.5).
    """

    light: str
    dark: str
    words: str
    symbol: str
    marker: str

    def color(self, dark: bool = False) -> str:
        """Return the hex colour for the light or the dark theme."""
        return self.dark if dark else self.light


TICKET_SYMBOL = "star"
TICKET_MARKER = "*"

_FIXED = {
    DENSE: Style("#000000", "#D0D0D0", "#000000", "line-ew", "_"),
    "ugs": Style("#D55E00", "#E8732A", "#B84F00", "circle", "o"),
    "random": Style("#0072B2", "#3D9BDC", "#0072B2", "square", "s"),
    "admm": Style("#E69F00", "#EBAA22", "#946600", "diamond", "D"),
}
_REST = (
    Style("#009E73", "#35C49A", "#007B5A", "triangle-up", "^"),
    Style("#CC79A7", "#DE9CC0", "#A84A7E", "triangle-down", "v"),
    Style("#56B4E9", "#7CC7F0", "#1B76AC", "pentagon", "p"),
    Style("#8C7A00", "#F0E442", "#7D6D00", "hexagon", "h"),
    Style("#666666", "#A6A6A6", "#666666", "cross", "P"),
)


def style(method: str) -> Style:
    """Return how a method looks; the same method looks the same whatever else is shown."""
    if method in _FIXED:
        return _FIXED[method]
    others = sorted({*METHODS.names(), method} - _FIXED.keys())
    return _REST[others.index(method) % len(_REST)]


def rank(method: str) -> tuple[int, str]:
    """Return the place of a method in legends and lists: dense and the paper's three first, then by name.

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


def words_color(method: str, dark: bool = False) -> str:
    """Return the hex colour for words about a method: its own hue, readable on the theme's ground."""
    return style(method).dark if dark else style(method).words


def label(method: str) -> str:
    """Return the words for a method in legends and tables; a method this version does not know keeps its name.

    >>> label("dense"), label("ugs"), label("random")
    ('Dense', 'UGS', 'Random pruning')
    """
    if method == DENSE:
        return "Dense"
    return METHODS.get(method).label if method in METHODS.names() else method


def faded(hex_color: str, opacity: float) -> str:
    """Return a hex colour as CSS rgba with an opacity between 0 and 1.

    >>> faded("#D55E00", 0.15)
    'rgba(213,94,0,0.15)'
    """
    red, green, blue = (int(hex_color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
