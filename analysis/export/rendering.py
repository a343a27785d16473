"""From a matplotlib figure to bytes: exact width, embedded TrueType fonts, the same bytes every time."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from analysis.export.tex import PGF, pgf_bytes
from analysis.export.venues import Font, Venue
from glt.errors import ConfigError, unknown_name

FORMATS = ("pdf", "svg", "png")
DPI = 300
# Journals ask line art at 1200 dots an inch; a page of more fills the memory.
MOST_DPI = 1200

# Without a date, and with a fixed salt for the ids inside an SVG, equal figures are equal bytes.
_METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
_SETTINGS: Any = {
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
# Letters that come with matplotlib, so that a figure looks the same on every machine.
_FONTS: dict[Font, Any] = {
    "times": {"font.family": "STIXGeneral", "mathtext.fontset": "stix"},
    "sans": {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"},
}
# matplotlib's settings are global to the process; sessions of the app draw at the same time.
_ONE_AT_A_TIME = threading.RLock()


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
    with _ONE_AT_A_TIME, mpl.rc_context({**_SETTINGS, **_FONTS[font], **sizes}):
        yield


def check_dpi(dpi: int) -> None:
    """Raise ConfigError for dots an inch that no picture can have."""
    if not 1 <= dpi <= MOST_DPI:
        raise ConfigError(f"A picture of {dpi} dots an inch cannot be: choose 1 to {MOST_DPI}.")


def figure_bytes(figure: Figure, kind: str, dpi: int = DPI) -> bytes:
    """Return the file of a figure as "pdf", "svg", "png" (`dpi` dots an inch) or "pgf".

    Raises ConfigError for other kinds and as `check_dpi` does, StudioError for PGF without a TeX.
    """
    check_dpi(dpi)
    if kind == PGF:
        with _ONE_AT_A_TIME, mpl.rc_context(_SETTINGS):
            return pgf_bytes(figure)
    if kind not in FORMATS:
        raise ConfigError(unknown_name("figure format", kind, (*FORMATS, PGF)))
    buffer = io.BytesIO()
    with _ONE_AT_A_TIME, mpl.rc_context(_SETTINGS):
        # No bbox_inches="tight": it would change the width the venue asks for.
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=_METADATA[kind])
    return buffer.getvalue()
