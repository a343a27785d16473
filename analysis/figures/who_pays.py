"""Who pays for pruning: test accuracy by original degree, class and edges left, beside the dense network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis import palette
from analysis.drawing.description import Axis, Description, Key, Layer, Marks, Panel, Ranges
from analysis.figures.base import FIGURES, Figure, FigureChoices, RunLooks
from analysis.figures.losers import BAR, SIZE, lane, stacked
from analysis.labels import dataset_label
from analysis.palette import escape
from analysis.statistics import WORDS, seeds_words
from analysis.tables.captions import averaged_over
from analysis.tables.who_pays import CLASS, DEGREE, LEFT, who_pays
from glt import formats
from glt.lottery.predictions import NO_PREDICTIONS, without_predictions
from glt.store import Run

TITLES = {DEGREE: "Original degree", CLASS: "Class", LEFT: "Nodes that had an edge"}
DENSE_NAME, DENSE_SHAPE, DENSE_SIZE = "Dense", "x", 9.0
SIGNIFICANT = "significantly different from dense"
OPACITY = 0.3
# Room beside the lowest and the highest value, as a share of their span.
MARGIN = 0.06


def accuracy_by_group(table: pd.DataFrame) -> Description:
    """Describe a `groups_table`: accuracy of the dense network (x) and of the round with its 95% interval.

    Marks are full where the paired difference is significant.
    """
    table = table[table["grouping"].isin(list(TITLES))].reset_index(drop=True)
    values = 100 * table[["dense", "accuracy", "accuracy_low", "accuracy_high"]].to_numpy(dtype=np.float64)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    pad = MARGIN * max(high - low, 1.0)
    parts = [(TITLES[str(name)], part) for name, part in table.groupby("grouping", sort=False)]
    limits, looks = (low - pad, high + pad), RunLooks(table)
    panels = [_panel(part, title, limits, looks, part is parts[-1][1]) for title, part in parts]
    dense = Key(label=DENSE_NAME, ink=palette.style(palette.DENSE), shape=DENSE_SHAPE, size=DENSE_SIZE, about="marks")
    filled = Key(label=SIGNIFICANT, short="significant", ink="text", shape="circle", size=SIZE, about="marks")
    return replace(stacked(panels, [*looks.keys(lines=False, size=SIZE), dense, filled], len(looks)), points=table)


def described(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe a round of every run; raises StoreError, ConfigError as `analysis.tables.who_pays.who_pays`."""
    table = who_pays(runs, [] if choices.round is None else [choices.round]).groups
    first = table.iloc[0]
    told = (
        f"{dataset_label(runs[0].config.dataset)}, round {first['round']}: test accuracy by group of nodes, "
        f"{averaged_over(table['seeds'])}. Crosses: the dense network on the same nodes. Full marks: the paired "
        f"difference is significant (t tests at 5 %, Holm over {first['family']} groups and gaps). No edge left: nodes "
        "whose edges are all removed, both directions."
    )
    return replace(accuracy_by_group(table), caption=told)


def _panel(part: pd.DataFrame, title: str, limits: tuple[float, float], looks: RunLooks, is_last: bool) -> Panel:
    groups = list(dict.fromkeys(part.sort_values("group", kind="stable")["name"]))
    return Panel(
        x=Axis(title="Test accuracy (%)" if is_last else "", limits=limits, grid=True, named=is_last),
        y=Axis(categories=groups),
        layers=list(_layers(part, groups, looks)),
        title=title,
    )


def _layers(part: pd.DataFrame, groups: Sequence[str], looks: RunLooks) -> Iterator[Layer]:
    marks = []
    for place, (run, rows) in enumerate(part.groupby("run", sort=False)):
        first, at = rows.iloc[0], lane(rows, groups, place, len(looks))
        look = looks.style(run, first["method"])
        low, high = (100 * rows[name].to_numpy() for name in ("accuracy_low", "accuracy_high"))
        yield Ranges(at=at, low=low, high=high, across=True, width=BAR, ink=look, opacity=OPACITY, group=str(run))
        hover = [_text(row) for row in rows.to_dict("records")]
        dense = palette.style(palette.DENSE)
        where: dict[str, Any] = {"y": at, "hover": hover, "group": str(run)}
        marks.append(Marks(x=100 * rows["dense"].to_numpy(), shape=DENSE_SHAPE, size=DENSE_SIZE, ink=dense, **where))
        filled = rows["verdict"].isin(["higher", "lower"]).to_numpy()
        accuracies = 100 * rows["accuracy"].to_numpy()
        name = first["label"]
        marks.append(Marks(x=accuracies, shape=look.symbol, size=SIZE, filled=filled, ink=look, name=name, **where))
    yield from marks


def _text(row: Mapping[Any, Any]) -> str:
    half = row["high"] - row["difference"]
    return "<br>".join(
        [
            f"<b>{escape(row['label'])}</b>, {escape(formats.inside(row['name']))}",
            f"{formats.percent(row['accuracy'])}, dense {formats.percent(row['dense'])} of "
            f"{formats.figures(row['size'], 3)} test nodes",
            f"{formats.points_interval(row['difference'], half)} against dense ({seeds_words(int(row['seeds']))}), "
            f"{WORDS[row['verdict']]}",
        ]
    )


FIGURES.register(
    Figure(
        "who_pays",
        "Who pays: accuracy by degree and class",
        "structure",
        described,
        frozenset({"round"}),
        without_predictions,
        NO_PREDICTIONS,
    )
)
