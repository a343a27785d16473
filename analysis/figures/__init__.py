"""Figures, one file each: what they show of a tidy table, as a description that the screen and paper draw."""

from __future__ import annotations

from analysis.figures.base import FIGURES, GROUPS, Figure

__all__ = ["FIGURES", "GROUPS", "Figure"]
