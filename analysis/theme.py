"""The names of `analysis.style.theme` under their earlier path."""

from __future__ import annotations

from analysis.style.theme import (
    DARK,
    FONT,
    LIGHT,
    Ink,
    ink,
    template,
)

__all__ = ["DARK", "FONT", "LIGHT", "Ink", "ink", "template"]
