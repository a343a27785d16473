"""One colour and shape a class: told apart by colour-blind readers, on white and on black."""

from __future__ import annotations

from typing import Literal

# Paul Tol's "bright" scheme (SRON/EPS/TN/09-002); its grey is kept for unknown classes.
COLORS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#E5894A")
UNKNOWN = "#9AA3AD"

Shape = Literal["dot", "square", "diamond", "triangle", "triangleDown", "star", "hexagon"]
SHAPES: tuple[Shape, ...] = ("dot", "square", "diamond", "triangle", "triangleDown", "star", "hexagon")
MARKERS: dict[Shape, str] = {
    "dot": "o",
    "square": "s",
    "diamond": "D",
    "triangle": "^",
    "triangleDown": "v",
    "star": "*",
    "hexagon": "h",
}


def class_color(label: int) -> str:
    """Return the hex colour of a class; they repeat after seven, with another shape.

    >>> class_color(0) == class_color(7), class_color(-1)
    (True, '#9AA3AD')
    """
    return COLORS[label % len(COLORS)] if label >= 0 else UNKNOWN


def class_shape(label: int) -> Shape:
    """Return the shape of a class, as vis-network calls it; MARKERS has matplotlib's name for it.

    >>> class_shape(6), class_shape(7)
    ('dot', 'square')
    """
    return SHAPES[label // len(COLORS) % len(SHAPES)] if label >= 0 else "dot"
