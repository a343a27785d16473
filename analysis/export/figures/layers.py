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
from analysis.export.figures.panel_row import PanelRow
from analysis.export.figures.run_lines import band, stroke
from analysis.tables.caption import averaged_over
from analysis.tables.layers import layer_table
from glt.errors import StoreError
from glt.store import Run


def layers(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the weight sparsity of every layer of every run; raises StoreError when no round is finished."""
    table = layer_table(runs)
    if table.empty:
        raise StoreError("These runs have no finished round yet: wait for round 0, or choose other runs.")

    def fill(figure: FigureBase) -> Keys:
        return _draw(figure.subplots(), table)

    told = f"Share of each layer's prunable weights that is removed, {averaged_over(table['seeds'])}."
    return Drawing(table, told, PanelRow(1, width).height, fill)


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
            keys.append(run_key(f"{first['label']}, {first['layer'].lower()}", style, dash))
    area.set_xlabel("Round")
    area.set_ylabel("Weight sparsity (%)")
    area.set_ylim(-3, 103)
    area.margins(x=0.04)
    return Keys(keys)


FIGURES.register(PaperFigure("layers", "Weight sparsity by layer", "structure", layers, frozenset(), slow=True))
