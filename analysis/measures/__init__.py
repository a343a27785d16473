"""Measurements of graphs: a registry of measures, their values, descriptions and tables."""

from __future__ import annotations

from analysis.measures.compute import (
    Engine,
    MeasuredRound,
    measure,
    measure_mask,
    measure_round,
    networkx_seconds,
)
from analysis.measures.descriptions import Explanation, explanation, explanations
from analysis.measures.graph import MeasuredGraph
from analysis.measures.null_model import random_survivors, random_twins
from analysis.measures.registry import MEASURES, Measure, in_order
from analysis.measures.tables import At, measurement_table, trend_table, unmeasured, unmeasured_trend

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
