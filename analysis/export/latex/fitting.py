"""How a LaTeX table is made to fit: over one column or two, in smaller words, with labels broken into lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

# In points of TeX: one column of an article (letter paper, margins of 1 in), narrower than the 3.25 in of ICML;
# and the 5.5 in of NeurIPS and ICLR, less than the 6.75 in and 6.5 in of the two columns of ICML and an article.
COLUMN, PAGE = 229.0, 396.0
# How wide letters of Computer Modern are at 10 points, none of them less than it is.
WIDTHS = {
    **dict.fromkeys("ijl.,:;'|!`", 2.8),
    **dict.fromkeys("frst()[]-I ", 4.0),
    **dict.fromkeys("acevxyz/?", 5.3),
    **dict.fromkeys("0123456789", 5.01),
    **dict.fromkeys("mw", 8.4),
    **dict.fromkeys("M%&+=<>", 9.2),
    "W": 10.3,
    # A sign between two numbers has room on both sides.
    "\N{PLUS-MINUS SIGN}": 12.3,
    "\N{MINUS SIGN}": 7.8,
}
OTHER, CAPITAL = 5.6, 7.8


@dataclass(frozen=True)
class Layout:
    """A way to set a table: its room, the size of its words, half the gap between columns, letters in a line."""

    wide: bool
    size: str
    scale: float
    gap: float
    header: int
    label: int

    @property
    def room(self) -> float:
        """The width in points that the table may take."""
        return PAGE if self.wide else COLUMN


# The smaller fonts of Computer Modern are wider than their size says.
LAYOUTS = (
    Layout(False, "", 1.0, 6, 20, 40),
    Layout(False, r"\small", 0.925, 5, 16, 32),
    Layout(False, r"\footnotesize", 0.85, 4, 14, 32),
    Layout(False, r"\footnotesize", 0.85, 3, 14, 18),
    Layout(True, "", 1.0, 6, 20, 40),
    Layout(True, r"\small", 0.925, 5, 16, 32),
    Layout(True, r"\footnotesize", 0.85, 4, 14, 28),
    Layout(True, r"\footnotesize", 0.85, 3, 12, 20),
    Layout(True, r"\scriptsize", 0.8, 2.5, 10, 18),
)


@dataclass(frozen=True)
class Block:
    """Columns that stand side by side: headers and first cells in plain words, other cells in LaTeX."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]

    def width(self, layout: Layout) -> float:
        """Return the width in points that these columns take at most."""
        label, *cells = zip_longest(*self.rows, fillvalue="") if self.rows else [()] * len(self.headers)
        first = [line for words in label for line in wrapped(words, layout.label)]
        columns = [_widest([*wrapped(self.headers[0], layout.header), *first])]
        for header, column in zip(self.headers[1:], cells, strict=True):
            columns.append(_widest([*wrapped(header, layout.header), *map(printed, column)]))
        return layout.scale * sum(columns) + 2 * layout.gap * (len(columns) - 1)

    def halves(self) -> list[Block]:
        """Return the first and the second half of the columns, the labels before both."""
        middle = (len(self.headers) + 1) // 2
        kept = (slice(1, middle), slice(middle, None))
        return [
            Block([self.headers[0], *self.headers[part]], [[row[0], *row[part]] for row in self.rows]) for part in kept
        ]


def fitted(blocks: Sequence[Block]) -> tuple[Sequence[Block], Layout]:
    """Return the columns, in several parts where there must be, and the first layout in which every part fits."""
    for layout in LAYOUTS:
        if all(block.width(layout) <= layout.room for block in blocks):
            return blocks, layout
    if max(len(block.headers) for block in blocks) < 3:
        return blocks, LAYOUTS[-1]
    return fitted([part for block in blocks for part in (block.halves() if len(block.headers) > 2 else [block])])


def wrapped(words: str, limit: int) -> list[str]:
    """Return words in lines of at most `limit` letters, a longer word broken.

    >>> wrapped("Random pruning (hidden = 32)", 14)
    ['Random pruning', '(hidden = 32)']
    """
    return textwrap.wrap(words, limit) or [""]


def printed(cell: str) -> str:
    r"""Return what a cell of numbers prints.

    >>> printed(r"$\mathbf{82.3} \pm 1.4$")
    '82.3±1.4'
    """
    for command, letter in ((r" \pm ", "\N{PLUS-MINUS SIGN}"), ("-", "\N{MINUS SIGN}"), (r"\dagger", "t")):
        cell = cell.replace(command, letter)
    return re.sub(r"\\[a-z]+|[${}^]", "", cell)


def _widest(lines: Sequence[str]) -> float:
    return max(sum(map(_points, line)) for line in lines)


def _points(letter: str) -> float:
    return WIDTHS.get(letter, CAPITAL if letter.isupper() else OTHER)
