"""Which layers lose their weights: the sparsity of every layer over the rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import pandas as pd

from analysis import palette
from analysis.drawing.description import DASHES, Axis, Band, Dash, Description, Field, Grid, Key, Layer, Line, Panel
from analysis.figures.base import FIGURES, Figure, FigureChoices
from analysis.runs import runs_with_rounds
from analysis.tables.captions import averaged_over
from analysis.tables.structure import layer_table
from glt import formats
from glt.store import Run

# More lines than this a run cannot be distinguished: their layers are rows of a field instead.
MOST_LINES = 8
# Inches: the bar under fields.
BAR = 0.45
WHITE_TO_BLACK = ("#FFFFFF", "#F0F0F0", "#D9D9D9", "#BDBDBD", "#969696", "#737373", "#525252", "#252525", "#000000")
BLACK_TO_WHITE = ("#1A1F29", "#3B4452", "#737B87", "#B4BAC3", "#E8EAED")
TITLE = "Weight sparsity (%)"


def layers(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the weight sparsity of every layer of every run; raises StoreError when no round is finished."""
    table = layer_table(runs_with_rounds(runs))
    told = f"Share of each layer's prunable weights that is removed, {averaged_over(table['seeds'])}."
    if table["layer"].nunique() > MOST_LINES:
        panels = [_field(rows) for _, rows in table.groupby("run", sort=False)]
        return Description(panels=panels, points=table, caption=told, grid=Grid(ratio=0.8, foot=BAR))
    looks = list(_looks(table))
    panel = Panel(
        x=Axis(title="Round", margin=0.04),
        y=Axis(title=TITLE, limits=(-3, 103), grid=True),
        layers=[layer for each in looks for layer in _lines(*each)],
    )
    keys = [
        Key(label=_label(rows), ink=look, dash=dash, shape=look.symbol, group=_label(rows))
        for look, dash, rows in looks
    ]
    return Description(panels=[panel], keys=keys, points=table, caption=told)


def _looks(table: pd.DataFrame) -> Iterator[tuple[palette.Style, Dash, pd.DataFrame]]:
    """Yield the look and the rows of every layer of every run: shades of the method's colour."""
    for method, mine in table.groupby("method", sort=False):
        lines = mine.groupby(["run", "layer"], sort=False)
        shades = palette.shades(str(method), len(lines)) if len(lines) > 1 else [palette.style(str(method))]
        for look, place, (_, rows) in zip(shades, count(), lines, strict=False):
            yield look, DASHES[place % len(DASHES)], rows


def _label(rows: pd.DataFrame) -> str:
    return f"{rows['label'].iloc[0]}, {formats.inside(rows['layer'].iloc[0])}"


def _lines(look: palette.Style, dash: Dash, rows: pd.DataFrame) -> Iterator[Layer]:
    rounds, label = rows["round"].to_numpy(), _label(rows)
    yield Band(x=rounds, low=100 * rows["low"], high=100 * rows["high"], ink=look, opacity=0.15, group=label)
    means = 100 * rows["mean"].to_numpy()
    yield Line(x=rounds, y=means, ink=look, dash=dash, shape=look.symbol, name=label, group=label)


def _field(rows: pd.DataFrame) -> Panel:
    removed = rows.pivot_table(index="layer", columns="round", values="mean")
    removed = removed.loc[sorted(removed.index, key=_in_order)]
    colors = (WHITE_TO_BLACK, BLACK_TO_WHITE, WHITE_TO_BLACK)
    field = Field(values=100 * removed.to_numpy(dtype=np.float64), limits=(0, 100), colors=colors, title=TITLE)
    every = -(-len(removed) // MOST_LINES)
    y = Axis(categories=[str(layer) for layer in removed.index], every=every)
    return Panel(x=Axis(title="Round"), y=y, layers=[field], title=rows["label"].iloc[0])


def _in_order(layer: str) -> tuple[str, int]:
    """Sort layers by their numbers.

    >>> sorted(["Layer 10", "Layer 2", "encoder"], key=_in_order)
    ['Layer 2', 'Layer 10', 'encoder']
    """
    words, _, number = layer.rpartition(" ")
    return (words, int(number)) if number.isdigit() else (layer, 0)


FIGURES.register(Figure("layers", "Weight sparsity by layer", "structure", layers, frozenset(), slow=True))
