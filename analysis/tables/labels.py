"""What to call each run in a legend: its method, and beyond that only what tells it from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from analysis import palette
from glt.config import RunConfig
from glt.store import Run

_NOT_SHOWN = ("method", "rounds")
PRETRAINING = "pretraining"


def run_labels(runs: Sequence[Run]) -> dict[str, str]:
    """Return a label for every run name: "UGS", or "UGS (degree target)" when another UGS run stands beside it."""
    labels = {run.name: palette.label(run.config.method) for run in runs}
    shared = Counter(labels.values())
    for label, count in shared.items():
        if count > 1:
            labels |= _told_apart(label, [run for run in runs if labels[run.name] == label])
    return labels


def _told_apart(label: str, runs: Sequence[Run]) -> dict[str, str]:
    flat = {run.name: _settings(run.config) for run in runs}
    names = sorted({name for settings in flat.values() for name in settings})
    differing = [n for n in names if len({repr(settings.get(n)) for settings in flat.values()}) > 1]
    return {run: f"{label} ({_details(settings, differing)})" for run, settings in flat.items()}


def _details(settings: Mapping[str, Any], differing: Sequence[str]) -> str:
    return ", ".join(_detail(name, settings.get(name)) for name in differing)


def _detail(name: str, value: Any) -> str:
    if name == PRETRAINING:
        return "random start" if value is None else f"start {value}"
    return f"{name.replace('_', ' ')} {'default' if value is None else value}"


def _settings(config: RunConfig) -> dict[str, Any]:
    core = config.model_dump(exclude={"options", *_NOT_SHOWN})
    return {**core, **config.options}
