"""Colours and markers of the values of one setting, in order: a sequential scale that colour-blind readers can tell.

The colours lie on "plasma" (van der Walt and Smith 2015, as in matplotlib), whose lightness only rises, so that the
order survives every kind of colour blindness and a grey print. The light theme takes its dark part, the dark theme
its light part; neighbours differ in marker too.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.palette import Style, rgb

_PLASMA = (
    "#0D0887",
    "#46039F",
    "#7201A8",
    "#9C179E",
    "#BD3786",
    "#D8576B",
    "#ED7953",
    "#FB9F3A",
    "#FDCA26",
    "#F0F921",
)
# Stretches of the scale whose lines have a contrast of at least 2.8 with the theme's ground.
_ON_LIGHT, _ON_DARK = (0.0, 6.0), (4.0, 9.0)
# Words need 4.5 on white: the line's own hue, this much darker.
_FOR_WORDS = 0.75
_MARKERS = (
    ("circle", "o"),
    ("square", "s"),
    ("triangle-up", "^"),
    ("diamond", "D"),
    ("triangle-down", "v"),
    ("pentagon", "p"),
    ("hexagon", "h"),
    ("cross", "P"),
)


def steps(count: int) -> list[Style]:
    """Return the styles of `count` values, smallest first.

    >>> [style.light for style in steps(3)], [style.marker for style in steps(3)]
    (['#0D0887', '#9C179E', '#ED7953'], ['o', 's', '^'])
    """
    return [_style(place, place / max(count - 1, 1)) for place in range(count)]


def _style(place: int, share: float) -> Style:
    symbol, marker = _MARKERS[place % len(_MARKERS)]
    light, dark = (_mixed(low + share * (high - low)) for low, high in (_ON_LIGHT, _ON_DARK))
    return Style(_hex(light), _hex(dark), _hex([_FOR_WORDS * part for part in light]), symbol, marker)


def _mixed(place: float) -> list[float]:
    """Return the red, green and blue between two neighbours of the scale."""
    index = min(int(place), len(_PLASMA) - 2)
    ends = rgb(_PLASMA[index]), rgb(_PLASMA[index + 1])
    return [a + (place - index) * (b - a) for a, b in zip(*ends, strict=True)]


def _hex(parts: Sequence[float]) -> str:
    return "#" + "".join(f"{round(part):02X}" for part in parts)
