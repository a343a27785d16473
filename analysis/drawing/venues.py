"""Column widths and text sizes of the venues a figure is made for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from glt.errors import ConfigError, unknown_name

Font = Literal["times", "sans"]
FONTS: dict[Font, str] = {"times": "Times-like", "sans": "Sans serif"}
# Font sizes that can be chosen, in points.
SMALLEST, LARGEST = 5.0, 14.0


@dataclass(frozen=True)
class Venue:
    """Widths of one and two columns in inches, and the sizes (points) of a figure's text, below the caption size."""

    name: str
    label: str
    single: float
    double: float
    text: float = 8.0
    small: float = 7.0

    def width(self, columns: int) -> float:
        """Return the width in inches of a figure over one or two columns; raises ConfigError for other numbers."""
        if columns not in (1, 2):
            raise ConfigError(f"A figure spans 1 or 2 columns, not {columns}: choose one of them.")
        return self.single if columns == 1 else self.double


# From the venues' style files: icml2021.sty (\columnwidth 234.88 pt of TeX, which is 3.25 in), neurips and iclr (one
# column of 5.5 in), IEEEtran (3.5 in and 7.16 in), acmart sigconf (\columnwidth 241.15 pt and \textwidth 506.3 pt).
VENUES: dict[str, Venue] = {
    venue.name: venue
    for venue in (
        Venue("icml", "ICML", single=3.25, double=6.75),
        Venue("neurips", "NeurIPS", single=5.5, double=5.5),
        Venue("iclr", "ICLR", single=5.5, double=5.5),
        Venue("ieee", "IEEE", single=3.5, double=7.16),
        Venue("acm", "ACM", single=3.33, double=7.0),
    )
}


def venue_page(name: str, points: float | None) -> Venue:
    """Return the venue called `name`, its text `points` high where given, its small text in proportion.

    Raises ConfigError for an unknown venue or an impossible size.
    """
    if name not in VENUES:
        raise ConfigError(unknown_name("venue", name, VENUES))
    venue = VENUES[name]
    if points is None:
        return venue
    if not SMALLEST <= points <= LARGEST:
        raise ConfigError(f"A font size of {points:g} pt is not allowed: choose {SMALLEST:g} to {LARGEST:g} pt.")
    return replace(venue, text=points, small=points * venue.small / venue.text)
