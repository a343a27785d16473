"""The pieces of a LaTeX table. Cells are LaTeX already: what comes from a user goes through `escape`."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{EN DASH}": "--",
}
MISSING = "--"


# A table of more columns than this takes less room between them, so that it stays inside ICML's two columns.
FEW_COLUMNS, NARROW_GAP = 7, "4pt"


def escape(text: str) -> str:
    r"""Return text with everything LaTeX would take as a command made harmless.

    >>> escape("p_g = 5% & more")
    'p\\_g = 5\\% \\& more'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def number(mean: float, half_width: float = math.nan, decimals: int = 1, bold: bool = False, unit: str = "") -> str:
    r"""Return a mean with the half-width of its interval in mathematics mode; without the latter, the mean alone.

    >>> number(80.91, 0.42), number(80.91, bold=True), number(float("nan"))
    ('$80.9 \\pm 0.4$', '$\\mathbf{80.9}$', '--')
    """
    if math.isnan(mean):
        return MISSING
    text = f"{mean:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    text = rf"\mathbf{{{text}}}" if bold else text
    interval = "" if math.isnan(half_width) else rf" \pm {half_width:.{decimals}f}"
    return f"${text}{interval}{unit}$"


def booktabs(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    label: str,
    wide: bool = False,
) -> str:
    """Return a table environment (needs the package booktabs): first column left, the others right; `wide`: table*."""
    environment = "table*" if wide else "table"
    lines = [
        "% needs \\usepackage{booktabs}",
        rf"\begin{{{environment}}}[t]",
        r"\centering",
        *([rf"\setlength{{\tabcolsep}}{{{NARROW_GAP}}}"] if len(headers) > FEW_COLUMNS else []),
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(headers) - 1)}}}",
        r"\toprule",
        _row(headers),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
