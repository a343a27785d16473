"""The loss of a pre-training after every epoch, a line a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from analysis import scale, theme
from glt import formats
from glt.store import Epoch

HEIGHT = 300
# More points than a line has pixels make the page slow and show nothing more.
MOST_POINTS = 1000
# So few epochs are all numbered.
FEW = 15


def pretraining_figure(epochs: Mapping[int, Sequence[Epoch]], dark: bool = False, height: int = HEIGHT) -> go.Figure:
    """Draw the loss of every seed that has epochs against the epoch, a mark on its lowest."""
    figure = go.Figure(layout={"template": theme.template(dark), "height": height})
    begun = {seed: each for seed, each in epochs.items() if each}
    for (seed, each), style in zip(begun.items(), scale.steps(len(begun)), strict=True):
        ink = style.color(dark)
        lowest = min(each, key=lambda epoch: epoch.loss)
        for drawn, told in ((_thinned(each), ""), ([lowest], ", its lowest")):
            figure.add_scatter(
                x=[epoch.epoch + 1 for epoch in drawn],
                y=[epoch.loss for epoch in drawn],
                name=f"Seed {seed}",
                mode="markers" if told else "lines",
                marker={"symbol": style.symbol, "size": 9, "color": ink},
                line={"color": ink, "width": 1.6},
                legendgroup=str(seed),
                showlegend=not told and len(begun) > 1,
                hovertext=[formats.figures(epoch.loss, 4) for epoch in drawn],
                hovertemplate=f"Seed {seed}, epoch %{{x}}{told}<br>loss %{{hovertext}}<extra></extra>",
            )
    legend = {"orientation": "h", "x": 0, "y": 1.05, "yanchor": "bottom", "xanchor": "left"}
    figure.update_layout(legend=legend, margin={"t": 48 if len(begun) > 1 else 20, "b": 52}, hovermode="closest")
    longest = max(len(each) for each in begun.values())
    figure.update_xaxes(title_text="Epoch", dtick=1 if longest < FEW else None)
    figure.update_yaxes(title_text="Loss")
    return figure


def _thinned(epochs: Sequence[Epoch]) -> Sequence[Epoch]:
    """Return at most MOST_POINTS of the epochs, the first and the last among them."""
    if len(epochs) <= MOST_POINTS:
        return epochs
    return [epochs[place] for place in np.linspace(0, len(epochs) - 1, MOST_POINTS).round().astype(int)]
