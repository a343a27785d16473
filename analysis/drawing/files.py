"""Figures and tables as files: equal bytes every time; figures as PGF are drawn by the TeX of the paper itself."""

from __future__ import annotations

import io
import json
import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import cbook
from matplotlib.axis import Axis
from matplotlib.backends.backend_pgf import LatexError
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from analysis.drawing.legend import DOLLAR, as_drawn
from analysis.drawing.page import align
from analysis.drawing.paper_style import ONE_AT_A_TIME, SETTINGS
from analysis.latex import escape
from glt.errors import ConfigError, StudioError, unknown_name
from glt.formats import cell

FORMATS = ("pdf", "svg", "png")
PGF = "pgf"
DPI = 300
# Journals ask for line art at 1200 dots per inch; a page of more fills the memory.
MOST_DPI = 1200
# Without a date equal figures are equal bytes.
_METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
# In the order in which they are asked for: pdflatex is what venues run.
SYSTEMS = ("pdflatex", "lualatex", "xelatex")


def check_dpi(dpi: int) -> None:
    """Raise ConfigError for a resolution that is not allowed."""
    if not 1 <= dpi <= MOST_DPI:
        raise ConfigError(f"A resolution of {dpi} dpi is not allowed: choose 1 to {MOST_DPI} dpi.")


def figure_bytes(figure: Figure, kind: str, dpi: int = DPI) -> bytes:
    """Return the file of a figure as "pdf", "svg", "png" (`dpi` dots per inch) or "pgf".

    Raises ConfigError for other kinds and as `check_dpi` does, StudioError for PGF without a TeX.
    """
    check_dpi(dpi)
    if kind == PGF:
        with ONE_AT_A_TIME, mpl.rc_context(SETTINGS):
            return pgf_bytes(figure)
    if kind not in FORMATS:
        raise ConfigError(unknown_name("figure format", kind, (*FORMATS, PGF)))
    buffer = io.BytesIO()
    with ONE_AT_A_TIME, mpl.rc_context(SETTINGS):
        # No bbox_inches="tight": it would change the width the venue asks for.
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=_METADATA[kind])
    return buffer.getvalue()


def tex_found() -> str | None:
    """Return the name of a TeX on the path that can measure words, None without any."""
    return next((name for name in SYSTEMS if shutil.which(name)), None)


def formats_here() -> tuple[str, ...]:
    """Return the kinds of files that can be written on this machine."""
    return (*FORMATS, PGF) if tex_found() else FORMATS


def check_tex() -> str:
    """Return the name of a TeX on the path; raises StudioError without any."""
    found = tex_found()
    if found is None:
        raise StudioError(
            f"A PGF figure is measured by TeX, but none of {', '.join(SYSTEMS)} is on the path: install one, or write "
            "a PDF."
        )
    return found


def pgf_bytes(figure: Figure) -> bytes:
    """Return a figure as PGF, which a paper with the package pgf takes in; raises StudioError without a TeX.

    Letters and formulas are the paper's own, words of the size that the figure has.
    """
    settings: Any = {"pgf.texsystem": check_tex(), "pgf.rcfonts": False}
    with mpl.rc_context(settings), in_tex(figure), laid_out(figure):
        try:
            # The first draws find the places of the words that TeX has measured.
            for _ in range(2):
                figure.savefig(io.BytesIO(), format=PGF)
            figure.set_layout_engine("none")
            align(figure)
            figure.savefig(buffer := io.BytesIO(), format=PGF)
        # A word that TeX refuses comes as a ValueError.
        except (LatexError, OSError, ValueError) as error:
            lines = str(error).splitlines() or [type(error).__name__]
            # What TeX itself says is wrong, where it says it.
            reason = next((line[2:] for line in lines if line.startswith("! ")), lines[0]).rstrip(":. ")
            raise StudioError(f"TeX cannot draw this figure ({reason}): write a PDF instead.") from None
    return buffer.getvalue()


@contextmanager
def laid_out(figure: Figure) -> Iterator[None]:
    """Let a settled figure be laid out again for as long as the context lasts."""
    places = [(area, area.get_position(original=True), area.get_position()) for area in figure.axes]
    figure.set_layout_engine("constrained")
    try:
        yield
    finally:
        figure.set_layout_engine("none")
        for area, original, active in places:
            area.set_position(original, which="original")
            area.set_position(active, which="active")
            # A place set by hand would take the axes out of the next layout.
            area.set_in_layout(True)


@contextmanager
def in_tex(figure: Figure) -> Iterator[None]:
    """Escape what TeX reads as commands in all words of a figure, for as long as the context lasts."""
    known = [(axis, axis.get_major_formatter()) for axis in figure.findobj(Axis)]
    formatters = [(axis, formatter) for axis, formatter in known if isinstance(formatter, FixedFormatter)]
    words = [(text, text.get_text()) for text in figure.findobj(Text)]
    try:
        for axis, formatter in formatters:
            axis.set_major_formatter(FixedFormatter([escaped(str(word)) for word in formatter.seq]))
        for text, plain in words:
            text.set_text(escaped(plain))
        yield
    finally:
        for axis, formatter in formatters:
            axis.set_major_formatter(formatter)
        for text, plain in words:
            text.set_text(plain)


def escaped(words: str) -> str:
    r"""Return words, plain where they are a person's own, as TeX prints them; formulas between dollar signs stay.

    >>> print(escaped("82.5% of R&D"), escaped("$10^2$"), escaped(r"Costs \$5"))
    82.5\% of R\&D $10^2$ Costs \textdollar{}5
    """
    if cbook.is_math_text(words):
        return words
    # matplotlib would take the backslash from a dollar once more, and TeX then begin a formula.
    return escape(as_drawn(words)).replace(DOLLAR, r"\textdollar{}")


# Tables


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as UTF-8 CSV: full precision, missing numbers empty, tuples with spaces between their numbers.

    Text that a spreadsheet would run as a formula is prefixed with '.
    """

    def flat(value: Any) -> Any:
        return cell(" ".join(map(str, value)) if isinstance(value, tuple) else value)

    return str(table.map(flat).rename(columns=cell).to_csv(index=False, lineterminator="\n")).encode()


def json_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as a JSON list of objects; missing numbers are null."""

    def plain(value: Any) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        return None if isinstance(value, float) and not math.isfinite(value) else value

    records = [{name: plain(value) for name, value in row.items()} for row in table.to_dict("records")]
    return (json.dumps(records, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()
