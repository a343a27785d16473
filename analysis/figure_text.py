"""The names of `analysis.style.theme` under their earlier path."""

from __future__ import annotations

from analysis.style.theme import (
    escape,
)

__all__ = ["escape"]
