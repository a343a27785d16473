"""The names of `analysis.style.palette` under their earlier path."""

from __future__ import annotations

from analysis.style.palette import (
    DENSE,
    SHADE,
    SHIFT,
    TICKET_MARKER,
    TICKET_SYMBOL,
    TINT,
    Style,
    color,
    faded,
    label,
    painted,
    rank,
    rgb,
    shades,
    style,
    words_color,
)

__all__ = [
    "DENSE",
    "SHADE",
    "SHIFT",
    "TICKET_MARKER",
    "TICKET_SYMBOL",
    "TINT",
    "Style",
    "color",
    "faded",
    "label",
    "painted",
    "rank",
    "rgb",
    "shades",
    "style",
    "words_color",
]
