"""What a measure is, and the registry in which the files of this folder declare theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from analysis.measures.graph import MeasuredGraph
from glt.registry import Registry

Cost = Literal["instant", "seconds", "background"]


@dataclass(frozen=True)
class Measure:
    """One number about a graph; NaN where the definition gives none (a mean over nothing).

    The docstring of `compute` is shown to users: the definition in its first paragraph, then source and pitfalls.
    `unit` is "" for a pure number.
    `cost` is what PubMed (20 k nodes, 44 k edges) takes: "instant" (under .1 s, never cached), "seconds", or
    "background" (longer, computed on demand only). `version` goes up when a correction changes values, so that cached
    ones are not used. `order` places it in tables. Measures of one `family` share their slow part: asked for one, all
    are computed. A measure that compares with `graph.original` says so by `against_original`. `error` gives the
    half-width of a 95 % interval where `compute` estimates because a graph is large.
    """

    name: str
    label: str
    unit: str
    cost: Cost
    order: int
    compute: Callable[[MeasuredGraph], float]
    version: int = 1
    family: str = ""
    against_original: bool = False
    error: Callable[[MeasuredGraph], float] | None = None


MEASURES: Registry[Measure] = Registry("measure", "analysis.measures")


def in_order() -> list[Measure]:
    """Return all measures in the order in which tables show them."""
    return sorted(MEASURES, key=lambda measure: (measure.order, measure.name))
