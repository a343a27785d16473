"""Which layers lose their weights: the sparsity of every layer over the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis import palette
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure
from analysis.export.figures.curve_layers import DASHES
from analysis.export.figures.legend import run_key
from analysis.export.figures.panel_row import PanelRow, name_panels
from analysis.export.figures.run_lines import band, stroke
from analysis.export.figures.words import plain
from analysis.runs import runs_with_rounds
from analysis.tables.captions import averaged_over
from analysis.tables.structure import layer_table
from glt import formats
from glt.store import Run

# More lines than this a run are told apart by nobody: their layers are rows of a field instead.
MOST_LINES = 8
# Inches: the bar under fields.
BAR = 0.45


def layers(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the weight sparsity of every layer of every run; raises StoreError when no round is finished."""
    table = layer_table(runs_with_rounds(runs))
    told = f"Share of each layer's prunable weights that is removed, {averaged_over(table['seeds'])}."
    if table["layer"].nunique() > MOST_LINES:
        row = PanelRow(table["run"].nunique(), width, ratio=0.8)
        return Drawing(table, told, row.height + BAR, lambda figure: _fields(figure, table, row))

    def fill(figure: FigureBase) -> Keys:
        return _draw(figure.subplots(), table)

    return Drawing(table, told, PanelRow(1, width).height, fill)


def _fields(figure: FigureBase, table: pd.DataFrame, row: PanelRow) -> Keys:
    """Draw a field of layers by rounds for each run, darker the more is removed."""
    panels = [rows for _, rows in table.groupby("run", sort=False)]
    areas = row.areas(figure)
    for place, (area, rows) in enumerate(zip(areas, panels, strict=True)):
        removed = rows.pivot_table(index="layer", columns="round", values="mean")
        removed = removed.loc[sorted(removed.index, key=_in_order)]
        picture = area.imshow(100 * removed, cmap="Greys", vmin=0, vmax=100, aspect="auto", interpolation="nearest")
        ticks = range(0, len(removed), -(-len(removed) // MOST_LINES))
        area.set_yticks(ticks, [plain(str(removed.index[tick])) if row.is_first(place) else "" for tick in ticks])
        area.set_xlabel("Round")
        area.grid(visible=False)
    name_panels(areas, [rows["label"].iloc[0] for rows in panels])
    bar = figure.colorbar(picture, ax=list(areas), orientation="horizontal", fraction=0.03, aspect=45, shrink=0.7)
    bar.set_label("Weight sparsity (%)", fontsize="small", labelpad=1)
    bar.outline.set_visible(False)
    return Keys()


def _in_order(layer: str) -> tuple[str, int]:
    """Sort layers by their numbers.

    >>> sorted(["Layer 10", "Layer 2", "encoder"], key=_in_order)
    ['Layer 2', 'Layer 10', 'encoder']
    """
    words, _, number = layer.rpartition(" ")
    return (words, int(number)) if number.isdigit() else (layer, 0)


def _draw(area: Axes, table: pd.DataFrame) -> Keys:
    keys = []
    for method, mine in table.groupby("method", sort=False):
        lines = mine.groupby(["run", "layer"], sort=False)
        shades = palette.shades(str(method), len(lines)) if len(lines) > 1 else [palette.style(str(method))]
        for style, place, (_, rows) in zip(shades, count(), lines, strict=False):
            dash = DASHES[place % len(DASHES)]
            band(area, rows["round"], 100 * rows["low"], 100 * rows["high"], style.light)
            stroke(area, rows["round"], 100 * rows["mean"], style.light, dash, style.marker)
            first = rows.iloc[0]
            keys.append(run_key(f"{first['label']}, {formats.inside(first['layer'])}", style, dash))
    area.set_xlabel("Round")
    area.set_ylabel("Weight sparsity (%)")
    area.set_ylim(-3, 103)
    area.margins(x=0.04)
    return Keys(keys)


FIGURES.register(PaperFigure("layers", "Weight sparsity by layer", "structure", layers, frozenset(), slow=True))
