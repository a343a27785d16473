"""Transfer of masks: accuracy of masks found with one seed and retrained under another, as a matrix."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.drawing.description import Axis, Description, Field, Grid, Panel
from analysis.figures.base import FIGURES, Figure, FigureChoices
from analysis.figures.pairs import BAR, CELL, DARK, GREYS, LIGHT, LINE, SCREEN_AROUND
from analysis.runs import must_have_rows
from analysis.tables.captions import metric_words, score_words
from analysis.tables.curves import Score
from analysis.tables.rounds import rounds_table
from analysis.transfer import GROUP, comparison_text, group_words, transfer_summary, transfer_table
from glt import formats
from glt.errors import StoreError
from glt.store import Run

HEAD = 0.9
AGAINST = {"difference": "minus dense", "above_control": "minus random masks"}
ROWS, ACROSS = "Found with", "Retrained under"


def transfer(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the transfers of a round, by default the last that is retrained; raises as `transfer_table` does."""
    rounds = must_have_rows(rounds_table(runs))
    return transfer_matrices(transfer_table(runs, rounds, choices.score), rounds, choices.round, choices.score)


def transfer_matrices(
    table: pd.DataFrame,
    rounds: pd.DataFrame,
    number: int | None = None,
    score: Score = "test",
    against: str = "",
    group: Mapping[Hashable, Any] | None = None,
) -> Description:
    """Describe a `transfer_table`: rows the seed of the search, columns the seed of retraining, in points.

    A panel a group of transfers and reference (dense, random masks), or only those `against` one and of one `group`.
    Raises StoreError for a round that nothing retrains.
    """
    known = sorted(set(table["round"]))
    last = known[-1] if number is None else number
    shown = table[table["round"] == last]
    if shown.empty:
        listed = formats.spans(known)
        raise StoreError(f"No run retrains masks of round {last}: choose one of the rounds {listed}.")
    if group is not None:
        shown = shown[(shown[GROUP] == [group[name] for name in GROUP]).all(axis="columns")]
    kinds = [against] if against else list(AGAINST)
    chosen = [
        (cells, kind) for _, cells in shown.groupby(GROUP, sort=False) for kind in kinds if cells[kind].notna().any()
    ]
    most = 100 * max((float(cells[kind].abs().max()) for cells, kind in chosen), default=0.01)
    several = len(shown[GROUP].drop_duplicates()) > 1
    panels = []
    for cells, kind in chosen:
        whose = f"{group_words(cells.iloc[0].to_dict())}, " if several else ""
        title = "" if against else formats.opening(f"{whose}{AGAINST[kind]}")
        panels.append(_panel(cells, kind, max(most, 1.0), title))
    count = max((len(panel.y.categories) for panel in panels), default=1)
    return Description(
        panels=panels,
        points=shown.reset_index(drop=True),
        caption=_caption(shown, rounds, last, score),
        grid=Grid(ratio=0, flat=False, more=HEAD + LINE * count, foot=BAR, across=2),
        height=SCREEN_AROUND + 30 + CELL * count,
    )


def _panel(cells: pd.DataFrame, kind: str, most: float, title: str) -> Panel:
    matrix = 100 * cells.pivot_table(index="source_seed", columns="seed", values=kind, aggfunc="mean")
    scores = 100 * cells.pivot_table(index="source_seed", columns="seed", values="score", aggfunc="mean")
    scores = scores.reindex(index=matrix.index, columns=matrix.columns)
    words = [["" if np.isnan(value) else _signed(value) for value in row] for row in matrix.to_numpy()]
    field = Field(
        values=matrix.to_numpy(dtype=np.float64),
        limits=(-most, most),
        colors=(tuple(reversed(LIGHT)), tuple(reversed(DARK)), GREYS),
        title=f"Points {AGAINST[kind]}",
        short_title="Percentage points",
        words=words,
        short_words=words,
        details=[[[formats.fixed(value, 1)] for value in row] for row in scores.to_numpy()],
        template=f"{ROWS} %{{y}}, {ACROSS.lower()} %{{x}}<br>%{{customdata[0]}} %<extra></extra>",
    )
    rows, columns = (Axis(title=name, categories=_seeds(of)) for name, of in ((ROWS, matrix.index), (ACROSS, matrix)))
    return Panel(x=columns, y=rows, layers=[field], title=title)


def _seeds(numbers: Any) -> list[str]:
    return [f"seed {number}" for number in numbers]


def _signed(value: float) -> str:
    """Write points with a sign.

    >>> _signed(-2.06), _signed(0.31)
    ('−2.1', '+0.3')
    """
    return formats.points(value / 100).removesuffix(" points")


def _caption(shown: pd.DataFrame, rounds: pd.DataFrame, number: int, score: Score) -> str:
    controls = " or ".join(name for name in dict.fromkeys(shown["control_label"]) if name)
    results = [f"{group_words(row)}: {comparison_text(row)}" for row in transfer_summary(shown).to_dict("records")]
    parts = [
        f"Masks of round {number}, found with the seed of the row, retrained under the seed of the column: "
        f"{score_words(rounds, score)}, in points of {metric_words(rounds)}",
        f"random masks of {controls}" if controls else "no run with random masks of the same halves and sizes is shown",
        *results,
        "paired t tests over the seeds of retraining, Holm over all of them; all share the same masks",
    ]
    return "; ".join(parts) + "."


FIGURES.register(Figure("transfer", "Transfer of masks", "structure", transfer, frozenset({"round", "score"})))
