"""The loss of a pre-training after every epoch, a line a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.drawing.description import Axis, Description, Key, Layer, Line, Marks, Panel
from analysis.style import palette
from glt import formats
from glt.store import Epoch

HEIGHT = 300
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
        name, lowest, drawn = f"Seed {seed}", [min(each, key=lambda epoch: epoch.loss)], _thinned(each)
        hover = _texts(name, drawn)
        layers.append(Line(**_places(drawn), ink=look, width=1.6, name=name, group=name, hover=hover))
        mark = Marks(
            **_places(lowest), ink=look, shape=look.symbol, group=name, hover=_texts(name, lowest, " (lowest)")
        )
        layers.append(mark)
        keys.append(Key(label=name, ink=look, dash="solid", width=1.6, group=name))
    panel = Panel(x=Axis(title="Epoch", whole=FEW), y=Axis(title="Loss", grid=True), layers=layers)
    return Description(panels=[panel], keys=keys if len(begun) > 1 else [], height=HEIGHT)


def _places(epochs: Sequence[Epoch]) -> dict[str, Any]:
    return {"x": [epoch.epoch + 1 for epoch in epochs], "y": [epoch.loss for epoch in epochs]}


def _texts(name: str, epochs: Sequence[Epoch], told: str = "") -> list[str]:
    return [f"{name}, epoch {epoch.epoch + 1}{told}<br>loss {formats.figures(epoch.loss, 4)}" for epoch in epochs]


def _thinned(epochs: Sequence[Epoch]) -> Sequence[Epoch]:
    """Return at most MOST_POINTS of the epochs, the first and the last among them."""
    if len(epochs) <= MOST_POINTS:
        return epochs
    return [epochs[place] for place in np.linspace(0, len(epochs) - 1, MOST_POINTS).round().astype(int)]
