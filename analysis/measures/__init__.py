"""Measures of graphs, one registry: the files of this folder register theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from analysis.measures.graph import MeasuredGraph
from glt.registry import Registry

Cost = Literal["instant", "seconds", "background"]


@dataclass(frozen=True)
class Measure:
    """One number about a graph; NaN where it is undefined (a mean over nothing).

    Users see the docstring of `compute`: first paragraph the definition, then source and pitfalls. `unit` is "" for a
    pure number. `cost` is the time on PubMed (20 k nodes, 44 k edges): "instant" (under .1 s, never cached), "seconds",
    or "background" (longer, computed on demand only). Raise `version` when a correction changes values: cached ones are
    then ignored. `order` is the position in tables. Measures of one `family` share their slow part and are computed
    together. `against_original`: the measure compares with `graph.original`. `error` gives the half-width of a 95 %
    interval where `compute` estimates a large graph.
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
    """Return all measures in the order of tables."""
    return sorted(MEASURES, key=lambda measure: (measure.order, measure.name))
