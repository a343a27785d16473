"""The style of a page in matplotlib: a venue's font sizes, embedded TrueType fonts, one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl

from analysis.drawing.venues import Font, Venue
from glt.errors import ConfigError, unknown_name

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
