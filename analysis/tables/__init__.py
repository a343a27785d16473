"""Tidy tables of rounds, curves, tickets and diagnoses, and their captions."""

from __future__ import annotations

from analysis.tables.captions import caption, check_shared_data, data_words, metric_words, shared_metric
from analysis.tables.curves import Score, XAxis, curve_table, dense_table, paper_table
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import diagnosis_table, late_words, ticket_words, tickets_table, with_diagnoses

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
    "shared_metric",
    "ticket_words",
    "tickets_table",
    "with_diagnoses",
]
