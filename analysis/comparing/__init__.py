"""Runs compared: each with the one that validates best, two of them paired by seed, and their settings."""

from __future__ import annotations

from analysis.comparing.environments import EnvironmentDifference, environment_differences
from analysis.comparing.groups import UNGROUPED, group_fields, grouped_by
from analysis.comparing.leaders import RANKS, Rank, leader_table
from analysis.comparing.paired import AT_WORDS, At, paired_seeds, paired_table, shared_seeds
from analysis.comparing.paired_figure import Side, paired_figure
from analysis.comparing.settings import SettingDifferences, setting_differences
from analysis.comparing.wording import comparison_words, few_seeds_words, paired_words

__all__ = [
    "AT_WORDS",
    "RANKS",
    "UNGROUPED",
    "At",
    "EnvironmentDifference",
    "Rank",
    "SettingDifferences",
    "Side",
    "comparison_words",
    "environment_differences",
    "few_seeds_words",
    "group_fields",
    "grouped_by",
    "leader_table",
    "paired_figure",
    "paired_seeds",
    "paired_table",
    "paired_words",
    "setting_differences",
    "shared_seeds",
]
