"""The legend above a paper figure: its runs, then what the marks mean, in one row where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis import palette
from analysis.export.figures.curve_layers import OPEN_AREA, STAR_AREA, Panel
from analysis.export.figures.words import plain
from glt import formats

KEY_INK = "#555555"
KEY_SHARES = (1.0, 0.1)
# A dash must show on both sides of the marker; what the keys gain, the gaps between columns lose.
DASHED = {"handlelength": 2.8, "columnspacing": 0.9}  # times the size of the font
# Inches: what a legend's edges, a key without its label and a letter of a label take.
ROOM_FOR_ONE_ROW = 5.0
EDGE, KEY_WIDTH, LETTER_WIDTH = 0.2, 0.36, 0.046
# A figure is high enough for so many rows; each further one adds this (inches).
MOST_ROWS, ROW_HEIGHT = 2, 0.15


def add_legend(figure: Figure, panel: Panel) -> None:
    """Put the legend over the panels, where constrained layout keeps its place free; the figure grows by its rows."""
    rows = _rows(run_keys(panel), _keys(panel), figure.get_figwidth() - EDGE)
    figure.set_figheight(figure.get_figheight() + ROW_HEIGHT * max(0, len(rows) - MOST_ROWS))
    dashed = any(key.get_linestyle() not in {"-", "None"} for key in chain.from_iterable(rows))
    room = DASHED if dashed else {}
    figure.legend(handles=by_row(rows), loc="outside upper left", ncols=max(map(len, rows)), **room)


def _rows(runs: Sequence[Line2D], marks: Sequence[Line2D], width: float) -> list[Sequence[Line2D]]:
    """Put the keys into rows that fit `width` (inches): one, one of runs and one of marks, or as many as it takes."""
    together = [*runs, *marks]
    tried: list[list[Sequence[Line2D]]] = [[together]] if width > ROOM_FOR_ONE_ROW else []
    tried.append([runs, marks])
    tried += [_cut(together, across) for across in range(len(together) - 1, 1, -1)]
    return next((rows for rows in tried if _width(rows) <= width), _cut(together, 1))


def _cut(keys: Sequence[Line2D], across: int) -> list[Sequence[Line2D]]:
    return [keys[start : start + across] for start in range(0, len(keys), across)]


def _width(rows: Sequence[Sequence[Line2D]]) -> float:
    """Return what rows under each other take: a legend's columns are as wide as their widest key."""
    return sum(max(map(_key_width, filter(None, column))) for column in zip_longest(*rows))


def _key_width(key: Line2D) -> float:
    return KEY_WIDTH + LETTER_WIDTH * len(str(key.get_label()))


def by_row(rows: Sequence[Sequence[Artist]]) -> list[Artist]:
    """Return the keys in the order that keeps each row together: matplotlib fills a legend column by column."""
    blank = Line2D([], [], linestyle="none", label=" ")
    return list(chain.from_iterable(zip_longest(*rows, fillvalue=blank)))


def run_keys(panel: Panel) -> list[Line2D]:
    """Return one key a run of a panel."""
    firsts = panel.table.drop_duplicates("run").to_dict("records")
    return [_run(panel, first["run"], first["method"], first["label"]) for first in firsts]


def _run(panel: Panel, run: str, method: str, label: str) -> Line2D:
    style = panel.style(run, method)
    return Line2D(
        [],
        [],
        color=style.light,
        linewidth=1.1,
        linestyle=panel.dash(run),
        marker=style.marker,
        markersize=3.4,
        label=plain(label),
    )


def _keys(panel: Panel) -> list[Line2D]:
    keys = ticket_key(panel)
    if panel.printed:
        keys.append(_key("Paper", "o", OPEN_AREA, hollow=True))
    largest = float(panel.table["macs"].max())
    for share, unit in zip(KEY_SHARES, (" MACs", ""), strict=True):
        area = float(panel.size(share * largest))
        keys.append(_key(f"{formats.macs(share * largest)}{unit}", "o", area))
    return keys


def ticket_key(panel: Panel) -> list[Line2D]:
    """Return the key of stars, where a panel has any."""
    return [_key("Ticket", palette.TICKET_MARKER, STAR_AREA)] if panel.table["is_ticket"].any() else []


def _key(label: str, marker: str, area: float, hollow: bool = False) -> Line2D:
    face = "none" if hollow else KEY_INK
    handle = Line2D([], [], linestyle="none", marker=marker, markersize=area**0.5, label=label)
    handle.set(markerfacecolor=face, markeredgecolor=KEY_INK, markeredgewidth=0.8 if hollow else 0)
    return handle
