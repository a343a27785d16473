"""Rounds of many runs as tidy tables, and seeds as a mean with its interval."""

from __future__ import annotations

from analysis.tables.caption import caption
from analysis.tables.curve import Score, XAxis, curve_table, dense_table
from analysis.tables.data import check_shared_data, data_words
from analysis.tables.diagnoses import diagnosis_table, late_words, with_diagnoses
from analysis.tables.labels import setting_details
from analysis.tables.paper import paper_table
from analysis.tables.rounds import rounds_table
from analysis.tables.scores import metric_words, shared_metric
from analysis.tables.tickets import ticket_words, tickets_table

__all__ = [
    "Score",
    "XAxis",
    "caption",
    "check_shared_data",
    "curve_table",
    "data_words",
    "dense_table",
    "diagnosis_table",
    "late_words",
    "metric_words",
    "paper_table",
    "rounds_table",
    "setting_details",
    "shared_metric",
    "ticket_words",
    "tickets_table",
    "with_diagnoses",
]
