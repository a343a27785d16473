"""Calibration: errors, scores and temperatures against scikit-learn and against values by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import softmax

from analysis.tables.calibration import (
    brier_score,
    calibration_rows,
    calibration_table,
    expected_calibration_error,
    fitted_temperature,
    log_likelihood_loss,
)
from glt.datasets import load_graph
from glt.store import Run
from tests.analysis.conftest import with_predictions


@pytest.fixture(params=range(5))
def drawn(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Logits of 300 nodes and five classes, and their classes, which the logits partly know."""
    generator = np.random.default_rng(request.param)
    labels = generator.integers(0, 5, 300)
    logits = generator.normal(size=(300, 5)).astype(np.float32)
    logits[np.arange(300), labels] += 1.5
    return logits * np.float32(10.0 ** generator.uniform(-1, 1)), labels


def test_brier_score_is_the_mean_squared_distance_from_the_truth(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    logits, labels = drawn
    chances = softmax(logits.astype(np.float64), axis=1)
    wanted = np.mean(
        [sum((c - (k == y)) ** 2 for k, c in enumerate(row)) for row, y in zip(chances, labels, strict=True)]
    )
    assert brier_score(logits, labels) == pytest.approx(wanted)


def test_log_likelihood_is_the_mean_of_the_logarithms(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    logits, labels = drawn
    chances = softmax(logits.astype(np.float64), axis=1)
    wanted = -np.mean([np.log(row[label]) for row, label in zip(chances, labels, strict=True)])
    assert log_likelihood_loss(logits, labels) == pytest.approx(wanted, rel=1e-6)


def test_expected_calibration_error_is_a_weighted_mean_of_gaps(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    logits, labels = drawn
    chances = softmax(logits.astype(np.float64), axis=1)
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == labels
    error = 0.0
    for low, high in zip(np.arange(15) / 15, np.arange(1, 16) / 15, strict=True):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    assert expected_calibration_error(logits, labels) == pytest.approx(error)


def test_expected_calibration_error_by_hand() -> None:
    """Four nodes at 0.6 of which three are right, and one at 0.95 that is wrong: (4 * 0.15 + 0.95) / 5."""
    chances = np.array([[0.6, 0.4]] * 4 + [[0.95, 0.05]])
    labels = np.array([0, 0, 0, 1, 1])
    assert expected_calibration_error(np.log(chances), labels) == pytest.approx(0.31)
    assert expected_calibration_error(np.array([[1000.0, 0.0]]), np.array([0])) == 0.0


def test_a_fitted_temperature_has_the_lowest_loss(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    logits, labels = drawn
    fitted = fitted_temperature(logits, labels)
    best = log_likelihood_loss(logits / fitted, labels)
    assert all(best <= log_likelihood_loss(logits / (fitted * factor), labels) for factor in (0.5, 0.97, 1.03, 2.0))


def test_a_temperature_undoes_a_scale(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    logits, labels = drawn
    assert fitted_temperature(100 * logits, labels) == pytest.approx(100 * fitted_temperature(logits, labels), rel=1e-3)
    assert fitted_temperature(np.zeros((3, 2)), np.array([0, 1, 1])) == 1.0


def test_every_round_of_every_seed_has_a_row(make_run: Callable[..., Run]) -> None:
    run = with_predictions(make_run(seeds=(0, 1, 2), rounds=1), 2)
    rows = calibration_rows([run])
    assert rows[["seed", "round"]].to_numpy().tolist() == [[s, k] for s in range(3) for k in range(2)]
    split, labels = load_graph("cora").split, load_graph("cora").labels
    logits = run.seed(1).predictions(1)
    row = rows.set_index(["seed", "round"]).loc[(1, 1)]
    fitted = fitted_temperature(logits.val, labels[split.val])
    assert row["fitted"] == fitted
    assert row["nll_scaled"] == log_likelihood_loss(logits.test.astype("f8") / fitted, labels[split.test])
    assert row["ece"] == expected_calibration_error(logits.test, labels[split.test])
    table = calibration_table(rows)
    assert len(table) == 2 * 3 * 2
    brier = table[(table["measure"] == "brier") & (table["temperature"] == "as trained")]
    assert brier["mean"].to_numpy() == pytest.approx(rows.groupby("round")["brier"].mean().to_numpy())
    assert (brier["low"] < brier["mean"]).all()
    assert (brier["seeds"] == 3).all()
