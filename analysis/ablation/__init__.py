"""What an ablation shows: which setting differs among runs, one panel for each, and where its curves lie close."""

from __future__ import annotations

from analysis.ablation.axes import Corner, PanelAxes, panel_axes
from analysis.ablation.varied import Varied, ablation_panels, left_out, one_sweep, panel_rounds
from analysis.ablation.zoom import Box, zoom_box

__all__ = [
    "Box",
    "Corner",
    "PanelAxes",
    "Varied",
    "ablation_panels",
    "left_out",
    "one_sweep",
    "panel_axes",
    "panel_rounds",
    "zoom_box",
]
