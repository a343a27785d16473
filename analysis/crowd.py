"""The names of `analysis.style.palette` under their earlier path."""

from __future__ import annotations

from analysis.style.palette import (
    MOST,
    MOST_POINTS,
    crowd_styles,
)

__all__ = ["MOST", "MOST_POINTS", "crowd_styles"]
