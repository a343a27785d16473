"""Deleting what was pruned changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from glt.data import load_graph
from glt.errors import StoreError
from glt.lottery.audit import audit, deleted_logits, multiplied_logits
from glt.masks import EdgeMask, Masks, WeightMask
from glt.presets import resolve
from glt.store import SeedRun
from glt.training.problem import Problem


@pytest.mark.parametrize("method", ["ugs", "random", "admm"])
@pytest.mark.parametrize("degree", ["source", "target", "both"])
def test_every_round_passes(compute: Callable[..., SeedRun], method: str, degree: str) -> None:
    run = compute(method=method, degree=degree, rounds=1)
    for k in range(2):
        report = audit(run, k)
        assert report.passed
        assert report.test == pytest.approx(report.recorded_test, abs=0.002)


def test_an_edge_that_still_acts_is_caught(compute: Callable[..., SeedRun]) -> None:
    """Compare a mask with another one: the audit's difference must show it."""
    run = compute(rounds=1)
    problem = Problem(run.config, load_graph("cora"))
    masks, weights = run.masks(1), run.weights(1)
    keep = masks.edges.keep.copy()
    keep[np.flatnonzero(keep)[:50]] = False
    other = Masks(EdgeMask(masks.edges.kind, keep), masks.weights)
    difference = (multiplied_logits(problem, masks, weights) - deleted_logits(problem, other, weights)).abs().max()
    assert difference > 1e-5


def test_a_weight_that_still_acts_is_caught(compute: Callable[..., SeedRun]) -> None:
    run = compute(rounds=1)
    problem = Problem(run.config, load_graph("cora"))
    masks, weights = run.masks(1), run.weights(1)
    nothing = WeightMask({name: np.zeros_like(keep) for name, keep in masks.weights.keep.items()})
    kept = multiplied_logits(problem, masks, weights)
    assert (kept - deleted_logits(problem, Masks(masks.edges, nothing), weights)).abs().max() > 1e-5


def test_a_round_that_is_not_there(compute: Callable[..., SeedRun]) -> None:
    with pytest.raises(StoreError, match="Round 7 is not in"):
        audit(compute(rounds=1), 7)


@pytest.mark.parametrize("model", ["gin", "gat"])
@pytest.mark.parametrize("preset", ["paper", "official"])
def test_other_networks_pass_too(compute: Callable[..., SeedRun], model: str, preset: str) -> None:
    options = dict(resolve({"model": model, "hidden": 8}, preset).options)
    run = compute(**{**options, "model": model, "hidden": 8, "rounds": 1, "epochs": 2, "retrain_epochs": 2})
    assert audit(run, 1).passed


def test_edges_that_stay_in_the_softmax_fail_the_audit_which_says_why(compute: Callable[..., SeedRun]) -> None:
    run = compute(model="gat", gat_mask="logit", hidden=8, rounds=1, epochs=2, retrain_epochs=2, p_graph=0.5)
    report = audit(run, 1)
    assert not report.passed
    assert "exp(0)" in str(report.as_json()["why"])
