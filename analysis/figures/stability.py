"""Stability of masks: a matrix of chance-corrected overlaps for edges and for every layer's weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.drawing.description import Axis, Description, Field, Grid, Panel
from analysis.drawing.labels import cut
from analysis.figures.base import FIGURES, Figure, FigureChoices
from analysis.figures.pairs import BAR, CELL, DARK, GREYS, LIGHT, LINE, SCREEN_AROUND
from analysis.labels import dataset_label
from analysis.runs import last_common_round, runs_with_rounds
from analysis.stability import EDGES, ENTRIES, WEIGHTS, stability_table
from glt import formats
from glt.store import Run

# More layers than this are shown together; cells of more masks than this have no number.
MOST_LAYERS, MOST_NUMBERED = 3, 12
# Letters of a label, and of the end of a run's name after a cut one.
MOST_LETTERS, END = 18, 4
HEAD = 0.9
TITLE = "Chance-corrected overlap"


def stability(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the overlaps of a round, by default the last that all seeds have; raises as `stability_table` does."""
    begun = runs_with_rounds(runs)
    number = last_common_round(begun) if choices.round is None else choices.round
    return overlap_matrices(stability_table(begun, [number]), dataset_label(begun[0].config.dataset))


def overlap_matrices(table: pd.DataFrame, where: str, part: str = "") -> Description:
    """Describe a `stability_table` of one round on a data set: seeds of one run, or means over seeds of several runs.

    A panel a part: edges, and every layer or, of more than three, all weights together; or only one `part`.

    Cells of several runs are means over pairs of different seeds, where there are any, so that a run beside itself and
    beside another is the same kind of comparison.
    """
    several = len({*table["run"], *table["other_run"]}) > 1
    different = table[table["seed"] != table["other_seed"]]
    shown = different if several and len(different) else table
    panels = [
        _panel(shown[shown["part"] == name], "" if part else formats.opening(name), several)
        for name in ([part] if part else shown_parts(shown))
    ]
    count = len(panels[0].y.categories)
    return Description(
        panels=panels,
        points=table,
        caption=_caption(table, shown, several, where),
        grid=Grid(ratio=0, flat=False, more=HEAD + LINE * count, foot=BAR, across=2),
        height=SCREEN_AROUND + CELL * count,
    )


def shown_parts(table: pd.DataFrame) -> list[str]:
    """Return the parts of a `stability_table` that have a panel."""
    parts = list(table["part"].unique())
    layers = [part for part in parts if part not in (ENTRIES, EDGES, WEIGHTS)]
    chosen = [ENTRIES, EDGES, *(layers if len(layers) <= MOST_LAYERS else [WEIGHTS])]
    return [part for part in chosen if part in parts]


def _panel(pairs: pd.DataFrame, title: str, several: bool) -> Panel:
    by = "run" if several else "seed"
    names = list(dict.fromkeys([*pairs[by], *pairs[f"other_{by}"]]))
    names = names if several else sorted(names)
    labels = dict(zip([*pairs["run"], *pairs["other_run"]], [*pairs["label"], *pairs["other_label"]], strict=True))
    place = {name: number for number, name in enumerate(names)}
    first, second = pairs[by].map(place).to_numpy(), pairs[f"other_{by}"].map(place).to_numpy()
    values = {
        name: _matrix(first, second, pairs[name].to_numpy(), len(names))
        for name in ("corrected", "jaccard", "chance_jaccard", "z")
    }
    words = [[_two(value) for value in row] for row in values["corrected"]] if len(names) <= MOST_NUMBERED else None
    others = (values["jaccard"], values["chance_jaccard"], values["z"])
    field = Field(
        values=values["corrected"],
        limits=(-1.0, 1.0),
        colors=(LIGHT, DARK, GREYS),
        title=TITLE,
        words=words,
        short_words=words,
        details=[[list(map(_two, cell)) for cell in zip(*rows, strict=True)] for rows in zip(*others, strict=True)],
        template=(
            "%{y}, %{x}<br>Jaccard %{customdata[0]}, by chance %{customdata[1]}<br>z %{customdata[2]}<extra></extra>"
        ),
    )
    categories = short_labels({name: labels[name] for name in names}) if several else [f"Seed {name}" for name in names]
    axis = Axis(categories=categories)
    return Panel(x=axis, y=axis, layers=[field], title=title)


def short_labels(labels: Mapping[str, str]) -> list[str]:
    """Return labels of runs that fit beside a matrix, each once: cut ones get the end of the run's name.

    >>> short_labels({"a-1f": "UGS", "a-2f": "Combination (start = fresh)", "a-3f": "Combination (start = theta_0)"})
    ['UGS', 'Combination (s… 2f', 'Combination (s… 3f']
    """
    shown = {run: cut(label, MOST_LETTERS) for run, label in labels.items()}
    counts = Counter(shown.values())
    return [
        words if counts[words] == 1 else f"{cut(labels[run], MOST_LETTERS - END)} {run.rsplit('-', 1)[-1][:END]}"
        for run, words in shown.items()
    ]


def _two(value: float) -> str:
    return "" if np.isnan(value) else formats.fixed(value, 2)


def _matrix(
    first: NDArray[np.int64], second: NDArray[np.int64], values: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """Return the means of pairs as a symmetric matrix, NaN where there is no pair."""
    known = np.isfinite(values)
    first, second, values = first[known], second[known], values[known]
    sums, counts = np.zeros((size, size)), np.zeros((size, size))
    for rows, columns in ((first, second), (second, first)):
        np.add.at(sums, (rows, columns), values)
        np.add.at(counts, (rows, columns), 1.0)
    return np.asarray(np.divide(sums, counts, out=np.full((size, size), np.nan), where=counts > 0))


def _caption(table: pd.DataFrame, shown: pd.DataFrame, several: bool, where: str) -> str:
    seeds = sorted({*table["seed"], *table["other_seed"]})
    kind = "different" if (shown["seed"] != shown["other_seed"]).any() else "equal"
    cells = f"a cell is the mean over pairs of {kind} seeds" if several else "a cell is a pair of seeds"
    return (
        f"{where}, masks of round {int(table['round'].iloc[0])}, {formats.listing(seeds)}: {cells}. Overlap beyond "
        "chance as a share of what is possible beyond chance: 1 for nested masks, 0 on average for independent draws "
        "with the same counts, in each layer for weights."
    )


FIGURES.register(Figure("stability", "Stability of masks", "structure", stability, frozenset({"round"}), slow=True))
