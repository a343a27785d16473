"""Calibration by round: whether a network's confidence matches its accuracy on the test nodes.

For every round: expected calibration error, Brier score and negative log-likelihood, as trained and with a temperature
that is fitted on the validation nodes (Guo et al. 2017, On Calibration of Modern Neural Networks).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax

from analysis.labels import run_labels
from analysis.runs import runs_with_predictions, shared_graph
from analysis.tables.curves import mean_and_interval
from glt.lottery.predictions import can_predict, predictions_of
from glt.store import Run

Logits = NDArray[np.floating[Any]]
Labels = NDArray[np.integer[Any]]
BINS = 15
# Natural logarithms of the lowest and highest temperature that is fitted.
BOUNDS = (-15.0, 5.0)


def expected_calibration_error(logits: Logits, labels: Labels, bins: int = BINS) -> float:
    """Return the mean gap between confidence and accuracy over bins of equal width, weighted by their nodes.

    Confidence is the largest probability of a node; bins are open below and closed above (Guo et al., equation 3).

    >>> expected_calibration_error(np.log([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1])).__round__(6)
    0.4
    """
    chances = np.exp(log_softmax(np.asarray(logits, dtype=np.float64), axis=1))
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == labels
    # Rounding must not lift a probability above 1.
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gaps = np.bincount(place, right, bins) - np.bincount(place, confidence, bins)
    return float(np.abs(gaps).sum() / labels.size)


def brier_score(logits: Logits, labels: Labels) -> float:
    """Return the mean squared distance between probabilities and the one-hot class, summed over classes: 0 to 2.

    >>> brier_score(np.log([[0.75, 0.25]]), np.array([0])).__round__(6)
    0.125
    """
    chances = np.exp(log_softmax(np.asarray(logits, dtype=np.float64), axis=1))
    chances[np.arange(labels.size), labels] -= 1
    return float((chances**2).sum(axis=1).mean())


def log_likelihood_loss(logits: Logits, labels: Labels) -> float:
    """Return the mean negative log-likelihood of the classes, in nats.

    >>> log_likelihood_loss(np.zeros((3, 2)), np.array([0, 1, 1])).__round__(6)
    0.693147
    """
    chances = log_softmax(np.asarray(logits, dtype=np.float64), axis=1)
    return float(-chances[np.arange(labels.size), labels].mean())


def fitted_temperature(logits: Logits, labels: Labels) -> float:
    """Return the temperature T in [exp(-15), exp(5)] for which logits / T have the lowest negative log-likelihood.

    The loss is convex in 1 / T, so there is one minimum; logits that are all equal keep T = 1.
    """
    # Imported late: the app reads this module at its start.
    from scipy.optimize import minimize_scalar

    values = np.asarray(logits, dtype=np.float64)
    if not np.ptp(values, axis=1).any():
        return 1.0
    found = minimize_scalar(
        lambda log: log_likelihood_loss(values / np.exp(log), labels), bounds=BOUNDS, method="bounded"
    )
    return float(np.exp(found.x))


MEASURES: dict[str, Callable[[Logits, Labels], float]] = {
    "ece": expected_calibration_error,
    "brier": brier_score,
    "nll": log_likelihood_loss,
}
LABELS = {
    "ece": "Expected calibration error",
    "brier": "Brier score",
    "nll": "Negative log-likelihood",
}
PLAIN, SCALED = "as trained", "temperature fitted"
KEYS = ["run", "label", "method", "color", "round", "measure", "temperature"]


def calibration_rows(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row per run, seed and finished round; of examples, the rounds with stored predictions.

    Columns: run, label, method, color, seed, round, `fitted` (the temperature), and `ece` (fraction), `brier`, `nll`
    (nats) of the test nodes, as trained and, as `..._scaled`, at the fitted temperature. Raises ConfigError for links
    or several graphs, StoreError without weights and predictions.
    """
    runs = runs_with_predictions(runs)
    graph, labels = shared_graph(runs, "A comparison of calibration"), run_labels(runs)
    val, test = (graph.labels[nodes] for nodes in (graph.split.val, graph.split.test))
    rows = []
    for run in runs:
        about = {"run": run.reference, "label": labels[run.reference], "method": run.config.method}
        about["color"] = run.annotation.color
        for seed_run in map(run.seed, run.seeds()):
            for number in filter(partial(can_predict, seed_run), range(seed_run.whole_rounds())):
                logits = predictions_of(seed_run, number)
                fitted = fitted_temperature(logits.val, val)
                row: dict[str, Any] = {**about, "seed": seed_run.seed, "round": number, "fitted": fitted}
                for name, measure in MEASURES.items():
                    row[name] = measure(logits.test, test)
                    row[f"{name}_scaled"] = measure(logits.test.astype(np.float64) / fitted, test)
                rows.append(row)
    return pd.DataFrame(rows)


def calibration_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run, round, measure and temperature over the seeds of `calibration_rows`.

    Columns: run, label, method, color, round, `measure` (ece, brier, nll), `temperature` ("as trained" or "temperature
    fitted"), `mean`, `low`, `high` (95% t interval, NaN below three seeds), seeds.
    """
    parts = []
    for name in MEASURES:
        for temperature, column in ((PLAIN, name), (SCALED, f"{name}_scaled")):
            parts.append(rows.assign(measure=name, temperature=temperature, value=rows[column]))
    found = mean_and_interval(pd.concat(parts).groupby(KEYS, sort=False)["value"])
    return found.rename(columns={"count": "seeds"}).reset_index()
