"""Measurements of a graph: one file a measure or a small family, a registry, a cache and the table of them."""

from __future__ import annotations

from analysis.measures.graph import MeasuredGraph
from analysis.measures.measuring import MeasuredRound, measure, measure_graph, measure_mask, measure_round
from analysis.measures.nulls import random_survivors, random_twins
from analysis.measures.registry import MEASURES, Measure, in_order
from analysis.measures.table import At, measurement_table
from analysis.measures.trend import trend_table

__all__ = [
    "MEASURES",
    "At",
    "Measure",
    "MeasuredGraph",
    "MeasuredRound",
    "in_order",
    "measure",
    "measure_graph",
    "measure_mask",
    "measure_round",
    "measurement_table",
    "random_survivors",
    "random_twins",
    "trend_table",
]
