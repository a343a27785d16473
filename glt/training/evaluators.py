"""Scores by the Open Graph Benchmark's own evaluators, loaded when the first score is asked for.

Of ogb only the file with the evaluator runs: the package around it starts a thread that asks a package index for news,
and loads graph libraries that no score needs (90 MB, three seconds).
"""

from __future__ import annotations

import functools
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.data.registry import DATASETS
from glt.errors import DataError

# Hits@K of ogbl-collab; ogb calls every positive a hit, and the score 1, where there are fewer than K negatives.
HITS_AT = 50


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


def load_evaluator(kind: str, name: str) -> None:
    """Load the evaluator `name`, if it is one, so that the first score is as quick as the others: it takes seconds."""
    if name:
        _evaluator(kind, name)


@functools.cache
def _evaluator(kind: str, name: str) -> Any:
    return _module(kind).Evaluator(name)


def _module(kind: str) -> ModuleType:
    path = Path(str(distribution("ogb").locate_file(f"ogb/{kind}/evaluate.py")))
    spec = spec_from_file_location(f"ogb_{kind}_evaluate", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
