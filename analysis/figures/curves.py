"""Rounds of runs in a panel: lines with bands, seeds and marks, dense baselines, printed points, and their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis import published
from analysis.drawing.description import (
    EVEN,
    LARGEST,
    LEAST_STAR,
    STAR,
    Audience,
    Axis,
    Band,
    Key,
    Layer,
    Line,
    Marks,
    Note,
    Rule,
)
from analysis.figures.hover import paper_text, round_text
from analysis.figures.looks import RunLooks
from analysis.figures.window import Window, exits, score_title, seed_exits, x_axis, x_column, x_values
from analysis.style import palette
from analysis.style.palette import MOST
from analysis.tables.curves import Score, XAxis, dense_table
from glt import formats, verdicts
from glt.store import MacConvention

# A round of no MACs still has this share of the largest area.
SMALLEST_AREA = 0.12
# Shares of the most MACs whose areas the legend explains: on the screen, on paper.
SHARES, PAPER_SHARES = (1.0, 0.25, 0.05), (1.0, 0.1)
NAMED = 2


class PaperMark(NamedTuple):
    """A printed point, its x (fraction or count), and whether its mean is at least the dense mean.

    By the paper's criterion that makes it a ticket; it tests nothing.
    """

    point: published.PublishedPoint
    x: float
    is_ticket: bool


@dataclass(eq=False)
class Curves:
    """A `curve_table` over the `rounds_table` it came from, with the choices that shape its picture.

    `shown` is the window of scores. `sized` lets marker area follow MACs up to a mark of `largest` pixels. More than
    `most` runs of a method are a crowd, drawn without seeds and bands.
    """

    table: pd.DataFrame
    rounds: pd.DataFrame
    x: XAxis
    score: Score
    macs: MacConvention
    shown: Window
    styles: Mapping[str, palette.Style] | None = None
    most: int = MOST
    sized: bool = True
    largest: float = LARGEST

    @cached_property
    def looks(self) -> RunLooks:
        """How the runs look beside each other."""
        return RunLooks(self.table, self.styles, self.most)

    @property
    def most_macs(self) -> float:
        """The most MACs of any round: those of the largest mark."""
        return float(self.table["macs"].max()) if len(self.table) else 1.0

    @property
    def runs(self) -> Iterator[tuple[str, palette.Style, pd.DataFrame]]:
        """Name, look and rows of every run."""
        for run, rows in self.table.groupby("run", sort=False):
            yield str(run), self.looks.style(run, rows["method"].iloc[0]), rows.assign(run=run)

    def place(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return x values as drawn."""
        return x_values(self.x, values)

    def size(self, macs: ArrayLike) -> NDArray[np.float64]:
        """Return marker diameters in pixels."""
        if not self.sized:
            return np.full(np.shape(macs), EVEN)
        share = SMALLEST_AREA + (1 - SMALLEST_AREA) * np.asarray(macs, dtype=np.float64) / self.most_macs
        return np.asarray(self.largest * np.sqrt(share))

    def x_axis(self, also: Sequence[float] = ()) -> Axis:
        """Return the axis of sparsity or MACs."""
        return x_axis(self.table, self.x, self.macs, also)

    def y_axis(self, named: bool = True) -> Axis:
        """Return the axis of scores; raises ConfigError for runs that share none."""
        title = score_title(self.table, self.score)
        return Axis(title=title if named else "", limits=(self.shown.low, self.shown.high), grid=True)


def run_layers(curves: Curves, seeds: bool = True) -> list[Layer]:
    """Return every run's layers, kind by kind, so that no run's stars lie under another's line."""
    kinds = [_line, _rounds, _dense, _tickets]
    if not curves.looks.crowd:
        kinds = [_band, *([_seeds] if seeds else []), *kinds]
    return [layer for kind in kinds for run, look, rows in curves.runs for layer in kind(curves, run, look, rows)]


def _band(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    known = rows.dropna(subset=["low", "high"])
    if len(known):
        low, high = 100 * known["low"], 100 * known["high"]
        yield Band(x=curves.place(known["x"]), low=low, high=high, ink=look, opacity=0.16, group=run)


def _seeds(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    if rows["seeds"].max() == 1:
        return
    mine = curves.rounds[curves.rounds["run"] == run]
    x = [[*curves.place(seed[x_column(curves.x, curves.macs)]), np.nan] for _, seed in mine.groupby("seed")]
    y = [[*(100 * seed[curves.score]), np.nan] for _, seed in mine.groupby("seed")]
    yield Line(x=np.concatenate(x), y=np.concatenate(y), ink=look, opacity=0.3, width=0.8, group=run)


def _line(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    where = {"x": curves.place(rows["x"]), "y": 100 * rows["mean"].to_numpy()}
    yield Line(**where, ink=look, dash=curves.looks.dash(run), name=rows["label"].iloc[0], group=run)


def _rounds(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    yield from points(curves, rows[(rows["round"] > 0) & ~rows["is_ticket"]], look, look.symbol)


def _dense(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    yield from points(curves, rows[rows["round"] == 0], palette.style(palette.DENSE), "circle")


def _tickets(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    mine = rows[rows["is_ticket"]]
    # A star has less area than a disc of its width and carries the message, so it never gets small.
    size = np.maximum(curves.size(mine["macs"]) * STAR / LARGEST, LEAST_STAR)
    yield from points(curves, mine, look, palette.TICKET_SYMBOL, size)


def points(
    curves: Curves, rows: pd.DataFrame, ink: palette.Style, shape: str, size: Any = None, **looks: Any
) -> Iterator[Marks]:
    """Yield marks of rounds: a click on one selects its run and round."""
    if len(rows):
        yield Marks(
            x=curves.place(rows["x"]),
            y=100 * rows["mean"].to_numpy(),
            shape=shape,
            size=curves.size(rows["macs"]) if size is None else size,
            ink=ink,
            group=rows["run"].iloc[0],
            keys=rows[["run", "round"]].to_numpy(dtype=object),
            **{"hover": [round_text(row) for row in rows.to_dict("records")], **looks},
        )


def printed_layers(curves: Curves, printed: Sequence[PaperMark]) -> Iterator[Layer]:
    """Yield the printed points of every method as open marks, stars where the paper's criterion calls them tickets."""
    for method, star in dict.fromkeys((mark.point.method, mark.is_ticket) for mark in printed):
        mine = [mark for mark in printed if (mark.point.method, mark.is_ticket) == (method, star)]
        look = palette.style(method)
        yield Marks(
            x=curves.place([mark.x for mark in mine]),
            y=[100 * mark.point.score for mark in mine],
            shape=palette.TICKET_SYMBOL if star else look.symbol,
            size=STAR if star else LARGEST,
            filled=False,
            ink=look,
            hover=[paper_text(mark.point) for mark in mine],
        )


def paper_marks(table: pd.DataFrame, x: XAxis, macs: MacConvention) -> list[PaperMark]:
    """Return the paper's points for the settings and methods of a `curve_table`.

    Points without a printed place on the axis are left out: no MACs printed, or counted in another convention.
    """
    wanted = table[["dataset", "model", "task", "method"]].drop_duplicates().itertuples(index=False, name=None)
    found = []
    for dataset, model, task, method in wanted:
        dense = _paper_dense(dataset, model, task)
        for point in published.points(dataset, model, task):
            place = {"graph": point.graph_sparsity, "weight": point.weight_sparsity, "macs": point.macs}[x]
            if point.method == method and place is not None and (x != "macs" or macs != "sparse_features"):
                found.append(PaperMark(point, place, dense is not None and point.score >= dense))
    return found


def paper_baselines(table: pd.DataFrame) -> list[float]:
    """Return the paper's dense scores (fractions) for the settings of a `curve_table`."""
    settings = table[["dataset", "model", "task"]].drop_duplicates().itertuples(index=False, name=None)
    found = [_paper_dense(*setting) for setting in settings]
    return [score for score in found if score is not None]


def _paper_dense(dataset: str, model: str, task: str) -> float | None:
    return next((p.score for p in published.points(dataset, model, task) if p.method == published.DENSE), None)


def baselines(curves: Curves) -> list[Rule]:
    """Return a dashed line for every distinct dense mean, with its owners where means differ."""
    dense = dense_table(curves.rounds, curves.score)
    means = [(float(mean), list(rows["label"])) for mean, rows in dense.groupby(dense["mean"].round(9))]
    owners = ["" if len(means) == 1 else _owner(labels) for _, labels in means]
    ink = palette.style(palette.DENSE)
    return [
        Rule(at=100 * mean, ink=ink, name="Dense", owner=owner, value=formats.percent(mean))
        for (mean, _), owner in zip(means, owners, strict=True)
    ]


def _owner(labels: Sequence[str]) -> str:
    return f"{len(labels)} runs" if len(labels) > NAMED else ", ".join(labels)


def exit_notes(curves: Curves, seeds: bool = True) -> list[Note]:
    """Return how far curves fall that leave the window, and seeds whose mean stays in it."""
    leaving = exits(curves.table, curves.x, curves.shown)
    if seeds and not curves.looks.crowd:
        leaving += seed_exits(curves.table, curves.rounds, curves.x, curves.score, curves.macs, curves.shown)
    return [
        Note(
            x=gone.x,
            text=gone.text,
            short=gone.short,
            ink=curves.looks.style(gone.run, gone.method) if gone.runs == 1 else palette.style(gone.method),
        )
        for gone in sorted(leaving, key=lambda gone: gone.x)
    ]


def ticket_key(curves: Curves) -> list[Key]:
    """Return the key of stars, where there are any."""
    if not curves.table["is_ticket"].any():
        return []
    words = verdicts.key_words(float(curves.table["margin"].max()))
    return [Key(label=words, shape=palette.TICKET_SYMBOL, size=STAR, about="marks")]


def mark_keys(
    curves: Curves, printed: bool, screen: Sequence[float] = SHARES, paper: Sequence[float] = PAPER_SHARES
) -> list[Key]:
    """Return what stars, open marks and areas mean; shares are of the most MACs."""
    keys = ticket_key(curves)
    if printed:
        keys.append(Key(label="in the paper", short="Paper", shape="circle", size=LARGEST, filled=False, about="marks"))
    for share in sorted({*screen, *paper}, reverse=True) if len(curves.table) else ():
        count = share * curves.most_macs
        # Only the first says what it counts: a row of keys that must wrap covers the one above it.
        label = formats.macs(count) + ("" if share < 1 else " MACs")
        on: Audience = "both" if share in screen and share in paper else "screen" if share in screen else "paper"
        keys.append(Key(label=label, shape="circle", size=float(curves.size(count)), about="marks", on=on))
    return keys
