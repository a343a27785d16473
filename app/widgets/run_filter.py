"""A line of words that narrows a long list of runs: each must be in a run's title, note, name, state or settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from analysis.settings import settings_of
from app.widgets import controls, pickers
from app.widgets.progress import ORDER, state_of
from glt.jobs.sweeping import value_words
from glt.store import Annotation, AnyRun, Run, annotations_of

AnyKind = TypeVar("AnyKind", bound=AnyRun)

# Fewer runs are seen at a glance.
SHOWN_FROM = 12


def pick_words(count: int) -> list[str]:
    """Show the field where a list of `count` runs is long, and return the words that were typed."""
    if count < SHOWN_FROM:
        return []
    told = "Words of a title, a name or a setting, such as `citeseer random` or `p_graph=0.1 hidden=64`."
    return controls.text("filter", "Filter", placeholder="p_graph=0.1 ugs", help=told).lower().split()


def matching(runs: Sequence[AnyKind], words: Sequence[str]) -> list[AnyKind]:
    """Return the runs that every word fits: a setting=value exactly, a state, or a part of what is written about it."""
    said = annotations_of(runs) if words else {}
    return [run for run in runs if all(_fits(run, said[run.reference], word) for word in words)]


def _fits(run: AnyRun, said: Annotation, word: str) -> bool:
    text, settings = _about(run)
    text = f"{text} {said.title} {said.note}".lower()
    if "=" in word:
        return _plain(word) in settings
    return word in text or (word in ORDER and word == state_of(run))


@lru_cache(maxsize=20_000)
def _about(run: AnyRun) -> tuple[str, frozenset[str]]:
    title = pickers.subject(run) if isinstance(run, Run) else ""
    values = settings_of(run.config) if isinstance(run, Run) else json.loads(run.config.canonical_json())
    settings = {f"{name}={value_words(value)}" for name, value in values.items() if value is not None}
    return f"{title} {run.reference} {' '.join(settings)}".lower(), frozenset(map(str.lower, settings))


def _plain(word: str) -> str:
    """Write a setting as it is kept, however its number was typed.

    >>> _plain("p_graph=.10"), _plain("edge_mask=directed")
    ('p_graph=0.1', 'edge_mask=directed')
    """
    name, _, value = word.partition("=")
    with suppress(ValueError):
        value = value_words(float(value))
    return f"{name}={value}"
