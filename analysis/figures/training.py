"""One round as it trains: scores and loss of every epoch, its stages one after the other, a panel a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis import palette
from analysis.drawing.description import Axis, Description, Grid, Ink, Key, Layer, Line, Marks, Panel, Rule
from analysis.figures.base import FIGURES, Figure, FigureChoices, shown_round
from analysis.labels import metric_label, run_labels
from analysis.palette import escape
from analysis.tables.rounds import epochs_table
from glt import formats
from glt.errors import StoreError
from glt.store import Epoch, Run

VALIDATION, TEST, LOSS = "text", "#56B4E9", "muted"
# Points of a stage's line: a few a dot of a screen, and more than a printer sets on a column.
MOST_DRAWN, MOST_PRINTED = 900, 3000
# A loss that rises to so many times its first value is drawn on a logarithmic axis; no loss of classes begins above the
# second number by itself.
STEEP, HIGHEST_FIRST = 50.0, 10.0
WIDTH = 1.8
FROM_ZERO = Axis(title="Loss", from_zero=True)
HEIGHT = 460


def training_curves(epochs: pd.DataFrame, metric: str, height: int = HEIGHT) -> Description:
    """Describe the `epochs_table` of a round: scores (a `metric`) on the left axis, loss on the right.

    A stage of more epochs than MOST_DRAWN goes through the lowest and highest values of every stretch of it.
    """
    finite = epochs["loss"][np.isfinite(epochs["loss"])].to_numpy()
    # A loss that jumps would flatten the others: it is drawn by powers of ten.
    is_steep = len(finite) and finite.min() > 0 and finite.max() > STEEP * min(finite[0], HIGHEST_FIRST)
    right = Axis(title="Loss (log scale)", log=True) if is_steep else FROM_ZERO
    return Description(panels=[_panel(epochs, metric, MOST_DRAWN, right)], keys=_keys([metric]), height=height)


def training(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the epochs of one round of each run; raises StoreError when none of them has kept any."""
    labels = run_labels(runs)
    table = pd.concat([_epochs(run, choices, labels[run.reference]) for run in runs], ignore_index=True)
    if table.empty:
        raise StoreError("These runs keep no epochs of this round: choose another round, or other runs.")
    metrics = {run.reference: metric_label(run.config.dataset, run.config.task) for run in runs}
    parts = [(metrics[str(run)], rows) for run, rows in table.groupby("run", sort=False)]
    firsts = table.drop_duplicates("run")[["label", "seed", "round"]].itertuples(index=False, name=None)
    told = "; ".join(f"{label}, seed {seed}, round {number}" for label, seed, number in firsts)
    return Description(
        panels=[_panel(rows, metric, MOST_PRINTED, FROM_ZERO, rows["label"].iloc[0]) for metric, rows in parts],
        keys=_keys(list(dict.fromkeys(metrics.values()))),
        points=table,
        caption=f"Every epoch that was kept of one round: {told}. The loss is on the right axis.",
        grid=Grid(ratio=0.7),
        height=HEIGHT,
    )


def is_thinned(epochs: pd.DataFrame) -> bool:
    """Say whether the picture passes over epochs of a round."""
    return bool((epochs["stage"].value_counts() > MOST_DRAWN).any())


def _epochs(run: Run, choices: FigureChoices, label: str) -> pd.DataFrame:
    seed, number = shown_round(run, choices)
    about = {"run": run.reference, "label": label, "method": run.config.method, "seed": seed.seed, "round": number}
    table = epochs_table(seed.event_file.epochs(number))
    for place, (name, value) in enumerate(about.items()):
        table.insert(place, name, value)
    return table


def _panel(epochs: pd.DataFrame, metric: str, most: int, right: Axis, title: str = "") -> Panel:
    layers, rules = [], []
    for stage, rows in epochs.groupby("stage", sort=False):
        layers += list(_stage(str(stage), rows, metric, most))
        start = float(rows["at"].iloc[0] - rows["epoch"].iloc[0] + 1)
        rules.append(Rule(at=start, name=str(stage), ink="muted", vertical=True, dash="dot", width=1.0))
    last = int(epochs["at"].max()) if len(epochs) else 1
    return Panel(
        x=Axis(title="Epoch of the round", limits=(0, max(last, 2) + 1)),
        y=Axis(title=f"{metric[:1].upper()}{metric[1:]} (%)", grid=True),
        layers=layers,
        rules=rules,
        right=right,
        title=title,
    )


def _stage(stage: str, rows: pd.DataFrame, metric: str, most: int) -> Iterator[Layer]:
    drawn = rows.iloc[drawn_places(rows[["loss", "val", "test"]], most)]
    lines: tuple[tuple[str, pd.Series, Ink, Any], ...] = (
        ("Loss", drawn["loss"], LOSS, {"dash": "dashdot", "width": 1.6, "right": True}),
        (f"Validation {metric}", 100 * drawn["val"], VALIDATION, {"width": WIDTH}),
        (f"Test {metric}", 100 * drawn["test"], TEST, {"dash": "dash", "width": WIDTH}),
    )
    for name, values, ink, look in lines:
        unit = "" if name == "Loss" else " %"
        hover = [
            f"{escape(stage)}, epoch {epoch}<br>{escape(name)} {formats.figures(value, 3)}{unit}"
            for epoch, value in zip(drawn["epoch"], values, strict=True)
        ]
        yield Line(x=drawn["at"].to_numpy(), y=values.to_numpy(), name=name, group=name, ink=ink, hover=hover, **look)


def _keys(metrics: Sequence[str]) -> list[Key]:
    metric = " or ".join(metrics)
    return [
        Key(label=f"Validation {metric}", ink=VALIDATION, dash="solid", width=WIDTH, group=f"Validation {metric}"),
        Key(label=f"Test {metric}", ink=TEST, dash="dash", width=WIDTH, group=f"Test {metric}"),
        Key(label="Loss", ink=LOSS, dash="dashdot", width=1.6, group="Loss", about="marks"),
    ]


def drawn_places(columns: ArrayLike, most: int) -> NDArray[np.intp]:
    """Return the rows to draw, in order, of lines [n, m] that share their places: all of at most `most` rows.

    Of more rows, the first, the last, and the lowest and the highest value of every line in each of `most` / 2m
    stretches of equal length, so that no peak is lost. Values may be NaN.

    >>> drawn_places([[0.0], [1.0], [9.0], [1.0], [0.0], [1.0], [2.0], [1.0]], 4)
    array([0, 2, 4, 6, 7])
    """
    values = np.asarray(columns, float)
    rows, lines = values.shape
    if rows <= most:
        return np.arange(rows)
    stretches = max(most // (2 * lines), 1)
    width = -(-rows // stretches)
    begins = np.arange(stretches)[:, None] * width
    lowest = begins + _stretched(values, stretches, width, np.inf).argmin(axis=1)
    highest = begins + _stretched(values, stretches, width, -np.inf).argmax(axis=1)
    places = np.unique(np.concatenate([[0, rows - 1], lowest.ravel(), highest.ravel()]))
    within: NDArray[np.intp] = places[places < rows]
    return within


def _stretched(values: NDArray[np.float64], stretches: int, width: int, filled: float) -> NDArray[np.float64]:
    """Return values [stretches, width, m], with `filled` where there is none."""
    whole = np.full((stretches * width, values.shape[1]), filled)
    whole[: len(values)] = np.where(np.isnan(values), filled, values)
    return whole.reshape(stretches, width, -1)


FIGURES.register(Figure("training", "Training curves of a round", "curves", training, frozenset({"round", "seed"})))


# The loss of a pre-training after every epoch, a line a seed.


PRETRAINING_HEIGHT = 300
# More points than a line has pixels make the page slow and show nothing more.
MOST_POINTS = 1000
# Up to so many epochs all are numbered.
FEW = 14


def pretraining_curves(epochs: Mapping[int, Sequence[Epoch]]) -> Description:
    """Describe the loss of every seed that has epochs against the epoch, with a mark at its lowest."""
    begun = {seed: each for seed, each in epochs.items() if each}
    layers: list[Layer] = []
    keys = []
    for (seed, each), look in zip(begun.items(), palette.steps(len(begun)), strict=True):
        name, lowest, drawn = f"Seed {seed}", [min(each, key=lambda epoch: epoch.loss)], each
        if len(each) > MOST_POINTS:
            drawn = [each[place] for place in np.linspace(0, len(each) - 1, MOST_POINTS).round().astype(int)]
        hover = _texts(name, drawn)
        layers.append(Line(**_places(drawn), ink=look, width=1.6, name=name, group=name, hover=hover))
        mark = Marks(
            **_places(lowest), ink=look, shape=look.symbol, group=name, hover=_texts(name, lowest, " (lowest)")
        )
        layers.append(mark)
        keys.append(Key(label=name, ink=look, dash="solid", width=1.6, group=name))
    panel = Panel(x=Axis(title="Epoch", whole=FEW), y=Axis(title="Loss", grid=True), layers=layers)
    return Description(panels=[panel], keys=keys if len(begun) > 1 else [], height=PRETRAINING_HEIGHT)


def _places(epochs: Sequence[Epoch]) -> dict[str, Any]:
    return {"x": [epoch.epoch + 1 for epoch in epochs], "y": [epoch.loss for epoch in epochs]}


def _texts(name: str, epochs: Sequence[Epoch], told: str = "") -> list[str]:
    return [f"{name}, epoch {epoch.epoch + 1}{told}<br>loss {formats.figures(epoch.loss, 4)}" for epoch in epochs]
