"""Scores by the Open Graph Benchmark's own evaluators; ogb is imported when the first score is asked for."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.data.registry import DATASETS
from glt.errors import DataError

# Hits@K of ogbl-collab; ogb calls every positive a hit, and the score 1, where there are fewer than K negatives.
HITS_AT = 50

_importing = threading.Lock()


def evaluator_of(dataset: str) -> str:
    """Return the name by which ogb scores a data set, "" where it does not.

    >>> evaluator_of("cora"), evaluator_of("some-day")
    ('', '')
    """
    return DATASETS.get(dataset).evaluator if dataset in DATASETS.names() else ""


def node_score(name: str, truth: NDArray[np.integer[Any]], predicted: NDArray[Any]) -> float:
    """Return the accuracy of classes [n, 1], or the mean ROC-AUC of binary tasks [n, T], by the evaluator `name`.

    Tasks whose truth is all 0 or all 1 are left out of the mean. Raises DataError for what cannot be scored.
    """
    return _scored("nodeproppred", name, y_true=truth, y_pred=predicted)


def link_score(name: str, true: NDArray[np.float32], false: NDArray[np.float32]) -> float:
    """Return Hits@K by the evaluator `name`: the share of `true` [n] above the K-th highest of `false` [m].

    Raises DataError for what cannot be scored.
    """
    return _scored("linkproppred", name, y_pred_pos=true, y_pred_neg=false)


def _scored(kind: str, name: str, **values: NDArray[Any]) -> float:
    try:
        return float(*_evaluator(kind, name).eval(values).values())
    except (RuntimeError, ValueError, ZeroDivisionError) as error:
        raise DataError(f"ogb's evaluator of {name} cannot score this run: {error}") from None


@functools.cache
def _evaluator(kind: str, name: str) -> Any:
    return _without_version_check(f"ogb.{kind}").Evaluator(name)


def _without_version_check(module: str) -> ModuleType:
    """Import a module of ogb, which by itself starts a thread that asks a package index for news."""
    with _importing:
        known = "outdated" in sys.modules
        if not known:
            sys.modules["outdated"] = None  # type: ignore[assignment]
        try:
            return importlib.import_module(module)
        finally:
            if not known:
                del sys.modules["outdated"]
