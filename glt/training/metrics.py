"""Metrics: OGB's evaluators, ROC-AUC, and the score of guessing (`Chance`).

`at_chance_from` finds a collapsed training: validation falls to chance and stays there, usually because the penalty
continues after masks have reached zero. Only the evaluator module of ogb is loaded: importing the package checks for
updates and loads graph libraries (90 MB, three seconds).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.datasets.registry import DATASETS
from glt.errors import DataError

# Hits@K of ogbl-collab; with fewer than K negatives OGB returns 1.
HITS_AT = 50
# One-sided normal quantile: guessing scores higher in one case of twenty.
QUANTILE = 1.645
# Fewest final epochs at chance that count as a collapse.
FEWEST = 2

Counts = NDArray[np.integer]


def evaluator_of(dataset: str) -> str:
    """Return the name of OGB's evaluator for a data set, "" if it has none.

    >>> evaluator_of("cora"), evaluator_of("some-day")
    ('', '')
    """
    return DATASETS.get(dataset).evaluator if dataset in DATASETS.names() else ""


def node_score(name: str, truth: NDArray[np.integer[Any]], predicted: NDArray[Any]) -> float:
    """Return accuracy of classes [n, 1] or mean ROC-AUC of binary tasks [n, T], by evaluator `name`.

    Tasks that are all 0 or all 1 are left out of the mean. Raises DataError if the evaluator fails.
    """
    return _scored("nodeproppred", name, y_true=truth, y_pred=predicted)


def link_score(name: str, true: NDArray[np.float32], false: NDArray[np.float32]) -> float:
    """Return Hits@K by evaluator `name`: the share of `true` [n] above the K-th highest of `false` [m].

    Raises DataError if the evaluator fails.
    """
    return _scored("linkproppred", name, y_pred_pos=true, y_pred_neg=false)


def _scored(kind: str, name: str, **values: NDArray[Any]) -> float:
    try:
        return float(*_evaluator(kind, name).eval(values).values())
    except (RuntimeError, ValueError, ZeroDivisionError) as error:
        raise DataError(f"OGB's evaluator of {name} cannot score this run: {error}") from None


def load_evaluator(kind: str, name: str) -> None:
    """Load evaluator `name`, if any, before the first score: it takes seconds."""
    if name:
        _evaluator(kind, name)


@functools.cache
def _evaluator(kind: str, name: str) -> Any:
    path = Path(str(distribution("ogb").locate_file(f"ogb/{kind}/evaluate.py")))
    spec = spec_from_file_location(f"ogb_{kind}_evaluate", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Evaluator(name)


def roc_auc(true: np.ndarray, false: np.ndarray) -> float:
    """Return the area under the ROC curve (Mann-Whitney U over the number of pairs).

    It is the share of (true, false) pairs in which the true one scores higher, ties counting half.

    >>> roc_auc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([true, false]))
    below = ranks[: true.size].sum() - true.size * (true.size + 1) / 2
    return float(below / (true.size * false.size))


@dataclass(frozen=True)
class Chance:
    """The expected validation score of guessing, and the 95 % margin above it; fractions."""

    level: float
    margin: float

    @property
    def bound(self) -> float:
        """The highest score that counts as chance."""
        return self.level + self.margin


def accuracy_by_chance(labels: NDArray[np.integer]) -> Chance | None:
    """Return the accuracy of the best constant guess for these `labels`.

    It is the share c of the largest class, with margin 1.645 sqrt(c (1 - c) / n). Labels below 0 are unknown and always
    wrong.

    >>> chance = accuracy_by_chance(np.array([0, 0, 0, 1]))
    >>> chance.level, round(chance.margin, 3)
    (0.75, 0.356)
    """
    known = labels[labels >= 0]
    if not known.size:
        return None
    level = int(np.bincount(known).max()) / labels.size
    return Chance(level, QUANTILE * math.sqrt(level * (1 - level) / labels.size))


def auc_by_chance(positives: Counts, negatives: Counts) -> Chance | None:
    """Return the ROC-AUC of guessing, 0.5, averaged over tasks with these counts.

    The margin is 1.645 standard deviations of Mann and Whitney's U, sqrt((p + n + 1) / (12 p n)), averaged over tasks
    as if one draw decided them all.

    >>> chance = auc_by_chance(np.array([50]), np.array([50]))
    >>> chance.level, round(chance.margin, 3)
    (0.5, 0.095)
    """
    both = (positives > 0) & (negatives > 0)
    if not both.any():
        return None
    p, n = positives[both].astype(np.float64), negatives[both].astype(np.float64)
    return Chance(0.5, QUANTILE * float(np.sqrt((p + n + 1) / (12 * p * n)).mean()))


def hits_by_chance(positives: int, negatives: int, at: int) -> Chance | None:
    """Return the expected Hits@K of guessing with m negatives: K / (m + 1).

    The margin combines the variance of the threshold (a Beta distribution) and of the positives.

    >>> hits_by_chance(100, 499, 50).level
    0.1
    """
    if not positives or negatives < at:
        return None
    level = at / (negatives + 1)
    threshold = level * (1 - level) / (negatives + 2)
    return Chance(level, QUANTILE * math.sqrt(threshold + (level * (1 - level) - threshold) / positives))


def at_chance_from(scores: NDArray[np.floating], chance: Chance) -> int | None:
    """Return the index from which all validation `scores` are at chance; None if there is none.

    0 means that none was above chance. A single last score does not count.

    >>> at_chance_from(np.array([0.3, 0.8, 0.3, 0.2]), Chance(0.3, 0.05))
    2
    >>> at_chance_from(np.array([0.3, 0.8, 0.8, 0.2]), Chance(0.3, 0.05)) is None
    True
    """
    above = np.flatnonzero(scores > chance.bound)
    first = int(above[-1]) + 1 if above.size else 0
    return first if scores.size - first >= FEWEST else None
