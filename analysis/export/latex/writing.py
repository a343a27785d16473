"""The pieces of a LaTeX table. Words are escaped here, numbers are LaTeX already."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.export.latex.fitting import Block, Layout, fitted, wrapped
from analysis.export.letters import escape
from glt import formats

MISSING = "--"


def number(mean: float, half_width: float = math.nan, decimals: int = 1, bold: bool = False, unit: str = "") -> str:
    r"""Return a mean with the half-width of its interval in mathematics mode; without the latter, the mean alone.

    >>> number(80.91, 0.42), number(80.91, bold=True), number(float("nan"))
    ('$80.9 \\pm 0.4$', '$\\mathbf{80.9}$', '--')
    """
    if math.isnan(mean):
        return MISSING
    text = _digits(mean, decimals)
    text = rf"\mathbf{{{text}}}" if bold else text
    interval = "" if math.isnan(half_width) else rf" \pm {_digits(half_width, decimals)}"
    return f"${text}{interval}{unit}$"


def _digits(value: float, decimals: int) -> str:
    """Return a number as on the screen, with the minus that mathematics mode draws."""
    return formats.signed_text(value, decimals).replace(formats.MINUS, "-")


def booktabs(headers: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, label: str) -> str:
    """Return a table environment (needs the package booktabs) that no page of `fitting` is too narrow for.

    Headers and the first cell of every row are plain words, broken into lines where there is little room; the other
    cells are LaTeX. Columns that fit no page side by side stand one part below the other.
    """
    blocks, layout = fitted([Block(headers, rows)])
    body = "\n\\par\\medskip\n".join(_tabular(block, layout) for block in blocks)
    environment = "table*" if layout.wide else "table"
    lines = [
        "% needs \\usepackage{booktabs}",
        rf"\begin{{{environment}}}[t]",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        *([layout.size] if layout.size else []),
        rf"\setlength{{\tabcolsep}}{{{layout.gap:g}pt}}",
        body,
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(block: Block, layout: Layout) -> str:
    first, *others = (wrapped(header, layout.header) for header in block.headers)
    lines = [
        rf"\begin{{tabular}}{{@{{}}l{'r' * len(others)}@{{}}}}",
        r"\toprule",
        _row([_lines(first, "l", "b"), *(_lines(header, "r", "b") for header in others)]),
        r"\midrule",
        *(_row([_lines(wrapped(name, layout.label), "l", "t"), *cells]) for name, *cells in block.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _lines(lines: Sequence[str], side: str, place: str) -> str:
    """Return escaped lines as one cell, `place` ("t", "b") of them level with the row."""
    if len(lines) == 1:
        return escape(lines[0])
    inner = r"\\".join(map(escape, lines))
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side}@{{}}}}{inner}\end{{tabular}}"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
