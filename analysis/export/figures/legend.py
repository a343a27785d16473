"""The legend outside a paper figure: its runs, then what the marks mean, in one row where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.figure import FigureBase
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from analysis import palette
from analysis.export.figures.base import Keys
from analysis.export.figures.curve_layers import OPEN_AREA, STAR_AREA, Panel
from analysis.export.figures.words import plain
from analysis.export.figures.wrapping import width_of, wrapped
from glt import formats, verdicts

KEY_INK = "#555555"
KEY_SHARES = (1.0, 0.1)
# A dash must show on both sides of the marker; what the keys gain, the gaps between columns lose.
DASHED = {"handlelength": 2.8, "columnspacing": 0.9}  # times the size of the font
# Inches: where one row is tried first, and what a legend's edges take.
ROOM_FOR_ONE_ROW, EDGE = 5.0, 0.15
# What a row, and each further line of its words, takes by their size, and the edge of a legend (inches).
LINE_SPACING, MORE_LINE, ROOM_AROUND = 1.5, 1.2, 0.05


def add_legend(figure: FigureBase, keys: Keys, width: float, below: bool = False) -> None:
    """Put a legend where constrained layout keeps its place free."""
    rows = key_rows(keys, width)
    if rows:
        look: Any = DASHED if _dashed(keys) else {}
        figure.legend(
            handles=by_row(rows),
            loc="outside lower center" if below else "outside upper left",
            ncols=max(map(len, rows)),
            **look,
        )


def legend_height(keys: Keys, width: float) -> float:
    """Return the inches that the legend takes in the current style."""
    rows = key_rows(keys, width)
    more = sum(max(str(key.get_label()).count("\n") for key in row) for row in rows)
    taken = LINE_SPACING * len(rows) + MORE_LINE * more
    return taken * _size() / 72 + ROOM_AROUND if rows else 0.0


def merged(several: Sequence[Keys]) -> Keys:
    """Return the keys of several panels as one legend's, each label once."""
    return Keys(*(_once(chain.from_iterable(part)) for part in zip(*several, strict=True)))


def _once(keys: chain[Line2D]) -> list[Line2D]:
    return list({str(key.get_label()): key for key in reversed(list(keys))}.values())[::-1]


def key_rows(keys: Keys, width: float) -> list[Sequence[Line2D]]:
    """Put the keys into rows that fit `width` (inches): one, one of runs and one of marks, or as many as it takes.

    A label that is wider than all of it gets several lines.
    """
    together = [*keys.runs, *keys.marks]
    if not together:
        return []
    tried: list[list[Sequence[Line2D]]] = [[together]] if width > ROOM_FOR_ONE_ROW else []
    tried.append([row for row in keys if row])
    tried += [_cut(together, across) for across in range(len(together) - 1, 1, -1)]
    gap = _gap(keys)
    wrap_labels(together, width - EDGE - gap)
    return next((rows for rows in tried if _width(rows, gap) <= width - EDGE), _cut(together, 1))


def _cut(keys: Sequence[Line2D], across: int) -> list[Sequence[Line2D]]:
    return [keys[start : start + across] for start in range(0, len(keys), across)]


def _width(rows: Sequence[Sequence[Line2D]], gap: float) -> float:
    """Return what rows under each other take: a legend's columns are as wide as their widest key."""
    return sum(gap + max(map(words_width, filter(None, column))) for column in zip_longest(*rows))


def words_width(key: Line2D) -> float:
    """Return the inches that the label of a key takes in the current style."""
    return width_of(str(key.get_label()))


def wrap_labels(keys: Sequence[Line2D], room: float) -> None:
    """Break labels that are wider than `room` (inches) into lines."""
    for key in keys:
        key.set_label(wrapped(str(key.get_label()), room))


def _gap(keys: Keys) -> float:
    """Return the inches of a column beside its words: the handle, and the space before and after."""
    dashed, usual = DASHED if _dashed(keys) else {}, mpl.rcParams
    handle = dashed.get("handlelength", usual["legend.handlelength"])
    between = dashed.get("columnspacing", usual["legend.columnspacing"])
    return float(handle + usual["legend.handletextpad"] + between) * _size() / 72


def _size() -> float:
    return FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()


def _dashed(keys: Keys) -> bool:
    return any(key.get_linestyle() not in {"-", "None"} for key in chain.from_iterable(keys))


def by_row(rows: Sequence[Sequence[Artist]]) -> list[Artist]:
    """Return the keys in the order that keeps each row together: matplotlib fills a legend column by column."""
    blank = Line2D([], [], linestyle="none", label=" ")
    return list(chain.from_iterable(zip_longest(*rows, fillvalue=blank)))


def run_keys(panel: Panel) -> list[Line2D]:
    """Return one key a run of a panel."""
    firsts = panel.table.drop_duplicates("run").to_dict("records")
    return [
        run_key(first["label"], panel.style(first["run"], first["method"]), panel.dash(first["run"]))
        for first in firsts
    ]


def run_key(label: str, style: palette.Style, dash: object = "-") -> Line2D:
    """Return the key of a run: its line with its marker."""
    line = line_key(label, style.light, dash)
    line.set(marker=style.marker, markersize=3.4)
    return line


def line_key(label: str, ink: str, dash: object = "-", width: float = 1.1) -> Line2D:
    """Return the key of a line without markers."""
    key = Line2D([], [], color=ink, linewidth=width, label=plain(label))
    key.set_linestyle(dash)  # type: ignore[arg-type]
    return key


def mark_keys(panel: Panel, shares: Sequence[float] = KEY_SHARES) -> list[Line2D]:
    """Return what a panel's stars, open markers and areas mean; `shares` are of the most MACs."""
    keys = ticket_key(panel)
    if panel.printed:
        keys.append(mark_key("Paper", "o", OPEN_AREA, hollow=True))
    return [*keys, *area_keys(panel, shares)]


def area_keys(panel: Panel, shares: Sequence[float] = KEY_SHARES) -> list[Line2D]:
    """Return markers of the areas that a few counts of MACs have."""
    largest = float(panel.table["macs"].max())
    units = (" MACs", *[""] * len(shares))[: len(shares)]
    return [
        mark_key(f"{formats.macs(share * largest)}{unit}", "o", float(panel.size(share * largest)))
        for share, unit in zip(shares, units, strict=True)
    ]


def ticket_key(panel: Panel) -> list[Line2D]:
    """Return the key of stars, where a panel has any."""
    if not panel.table["is_ticket"].any():
        return []
    words = formats.opening(verdicts.key_words(float(panel.table["margin"].max())))
    return [mark_key(words, palette.TICKET_MARKER, STAR_AREA)]


def mark_key(label: str, marker: str, area: float, hollow: bool = False, ink: str = KEY_INK) -> Line2D:
    """Return the key of a mark of so many square points."""
    handle = Line2D([], [], linestyle="none", marker=marker, markersize=area**0.5, label=plain(label))
    face = "none" if hollow else ink
    handle.set(markerfacecolor=face, markeredgecolor=ink, markeredgewidth=0.8 if hollow else 0)
    return handle
