"""Measurements of a graph: one file a measure or a small family, a registry, a cache and the table of them."""

from __future__ import annotations

from analysis.measures.explaining import Explanation, explanation, explanations
from analysis.measures.graph import MeasuredGraph
from analysis.measures.measuring import (
    Engine,
    MeasuredRound,
    measure,
    measure_graph,
    measure_mask,
    measure_round,
    networkx_seconds,
)
from analysis.measures.nulls import random_survivors, random_twins
from analysis.measures.registry import MEASURES, Measure, in_order
from analysis.measures.table import At, measurement_table, unmeasured
from analysis.measures.trend import trend_table, unmeasured_trend

__all__ = [
    "MEASURES",
    "At",
    "Engine",
    "Explanation",
    "Measure",
    "MeasuredGraph",
    "MeasuredRound",
    "explanation",
    "explanations",
    "in_order",
    "measure",
    "measure_graph",
    "measure_mask",
    "measure_round",
    "measurement_table",
    "networkx_seconds",
    "random_survivors",
    "random_twins",
    "trend_table",
    "unmeasured",
    "unmeasured_trend",
]
