"""The names of `analysis.style.palette` under their earlier path."""

from __future__ import annotations

from analysis.style.palette import (
    steps,
)

__all__ = ["steps"]
