"""Who loses, by the classes of both ends: a matrix of the shares cut, a panel a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import FigureBase
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure
from analysis.export.figures.loss_tables import losses_of
from analysis.export.figures.panel_row import PanelRow, name_panels
from analysis.export.figures.words import plain
from analysis.labels import dataset_label
from analysis.removal.groups import pair_matrix
from analysis.removal.loss_figures import LOST, SPARED, widest
from glt import formats
from glt.errors import StoreError
from glt.store import Run

# From spared to lost; the middle is what chance gives. In greys, darker is more.
COLORS = (SPARED, "#F4F6F7", LOST)
GREYS = ("#FFFFFF", "#D0D0D0", "#606060")
# From 50 on, the bar would be pixels instead of shapes.
STEPS = 41
# Inches: a line of a matrix, its head, the bar under all.
LINE, HEAD, BAR = 0.24, 0.75, 0.45
# A matrix of more classes has small fields without numbers, and every few of them a name.
MOST_NUMBERED, SMALL_LINE, MOST_NAMED = 14, 0.06, 10
MORE, LESS = "+", "\N{MINUS SIGN}"
# Words on a ground darker than this lightness are white.
DARK = 0.45

Matrix = NDArray[np.float64]


def pairs(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan a matrix for each run that lost edges; raises as `losses_of` does, StoreError where no class is known."""
    losses = losses_of(runs, choices)
    table = losses.table[losses.table["grouping"] == "pair"].reset_index(drop=True)
    if table.empty:
        name = dataset_label(runs[0].config.dataset)
        raise StoreError(f"{name} has no classes, so no pairs of them: choose the figure losers, which has degrees.")
    panels = losses.runs
    row = PanelRow(len(panels), width, tall=HEAD + _line(len(losses.classes)) * len(losses.classes))
    most = max(_most(rows, len(losses.classes)) for rows in panels)
    look = _colors(choices.grey, most)

    def fill(figure: FigureBase) -> Keys:
        areas = row.areas(figure)
        for place, (area, rows) in enumerate(zip(areas, panels, strict=True)):
            _draw(area, rows, losses.classes, look, named=row.is_first(place))
        name_panels(areas, [rows["label"].iloc[0] for rows in panels])
        _bar(figure, areas, look)
        return Keys()

    numbered = _is_numbered(len(losses.classes))
    marks = f" {MORE} and {LESS}: more and less than chance gives." if numbered else " Pale: as much as chance gives."
    told = f"Share of edges cut, in percent. {losses.caption}{marks}"
    return Drawing(table, told, row.height + BAR, fill)


def _is_numbered(classes: int) -> bool:
    return classes <= MOST_NUMBERED


def _line(classes: int) -> float:
    return LINE if _is_numbered(classes) else SMALL_LINE


def _colors(grey: bool, most: float) -> ScalarMappable:
    colors = LinearSegmentedColormap.from_list("losses", GREYS if grey else COLORS, STEPS)
    return ScalarMappable(Normalize(-most, most), colors)


def _most(rows: pd.DataFrame, classes: int) -> float:
    return widest(_difference(rows, classes), pair_matrix(rows, classes, "size"))


def _difference(rows: pd.DataFrame, classes: int) -> Matrix:
    return 100 * (pair_matrix(rows, classes, "share") - pair_matrix(rows, classes, "null"))


def _beyond_chance(rows: pd.DataFrame, classes: int) -> Matrix:
    """Return the differences that chance does not give, 0 for the others: a field without a number cannot mark them."""
    share, low, high = (pair_matrix(rows, classes, name) for name in ("share", "null_low", "null_high"))
    difference = _difference(rows, classes)
    return np.asarray(np.where((share >= low) & (share <= high), 0.0, difference))


def _draw(area: Axes, rows: pd.DataFrame, classes: Sequence[str], look: ScalarMappable, named: bool) -> None:
    count = len(classes)
    if _is_numbered(count):
        _numbered(area, rows, count, look)
    else:
        area.imshow(
            _beyond_chance(rows, count),
            cmap=look.get_cmap(),
            clim=look.get_clim(),
            aspect="auto",
            interpolation="nearest",
        )
    step = 1 if _is_numbered(count) else -(-count // MOST_NAMED)
    words = [plain(name) for name in classes[::step]]
    area.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    area.set_xticks(range(0, count, step), words, rotation=35, ha="right", rotation_mode="anchor")
    area.set_yticks(range(0, count, step), words if named else [""] * len(words))
    area.tick_params(length=0, pad=2)
    area.grid(visible=False)
    for spine in area.spines.values():
        spine.set_visible(False)


def _numbered(area: Axes, rows: pd.DataFrame, count: int, look: ScalarMappable) -> None:
    low, high = (pair_matrix(rows, count, name) for name in ("null_low", "null_high"))
    share, difference = pair_matrix(rows, count, "share"), _difference(rows, count)
    size: Any = "small" if count <= 10 else "xx-small"
    for line, column in zip(*np.nonzero(np.isfinite(share)), strict=True):
        ground = look.to_rgba(difference[line, column])
        area.add_patch(Rectangle((column - 0.47, line - 0.47), 0.94, 0.94, facecolor=ground, linewidth=0))
        value = share[line, column]
        mark = MORE if value > high[line, column] else LESS if value < low[line, column] else ""
        ink = "white" if _lightness(ground) < DARK else "black"
        place: Any = {"ha": "center", "va": "center", "fontsize": size, "color": ink}
        area.text(column, line, f"{formats.fixed(100 * value, 0)}{mark}", **place)


def _lightness(color: Any) -> float:
    return float(np.array([0.299, 0.587, 0.114]) @ np.asarray(color)[:3])


def _bar(figure: FigureBase, areas: Sequence[Axes], look: ScalarMappable) -> None:
    bar = figure.colorbar(look, ax=list(areas), orientation="horizontal", fraction=0.03, aspect=45, shrink=0.7)
    bar.set_label("Percentage points over chance", fontsize="small", labelpad=1)
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(5, symmetric=True)
    bar.update_ticks()


FIGURES.register(
    PaperFigure("pairs", "Who loses, by pairs of classes", "structure", pairs, frozenset({"round", "seed"}))
)
