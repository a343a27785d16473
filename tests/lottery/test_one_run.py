"""Rounds that each prune in one run: the counts of Algorithm 2, resuming, the audit, names and presets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glt.config import RunConfig
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped
from glt.masks import remaining_after
from glt.methods import METHODS
from glt.presets import resolve
from glt.store import SeedRun, run_name

Compute = Callable[..., SeedRun]
EDGES, WEIGHTS = 2 * 5278, 1433 * 16 + 16 * 7


@pytest.fixture
def run(compute: Compute) -> SeedRun:
    return compute(schedule="one_run")


def test_every_round_has_the_counts_of_algorithm_2_and_starts_from_everything(run: SeedRun) -> None:
    masks = [run.masks(k) for k in range(3)]
    assert [m.edges.kept for m in masks] == [remaining_after(0.05, EDGES, k) for k in range(3)]
    assert [m.weights.kept for m in masks] == [remaining_after(0.2, WEIGHTS, k) for k in range(3)]
    assert not masks[2].edges.within(masks[1].edges)
    assert run.edge_scores(1) is None


def test_round_0_is_that_of_the_iterative_schedule(compute: Compute, run: SeedRun) -> None:
    other = compute(rounds=1)
    for name, value in other.weights(0).items():
        assert np.array_equal(run.weights(0)[name], value)


def test_the_audit_passes(run: SeedRun) -> None:
    assert audit(run, 2).passed


def tensor_bytes(run: SeedRun) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("*.safetensors"))}


@pytest.mark.parametrize("stop_after", [8, 20])
def test_stopping_in_a_search_or_after_a_round_and_resuming_gives_the_same_bytes(
    compute: Compute, watch: Callable[..., Any], run: SeedRun, stop_after: int
) -> None:
    with pytest.raises(Stopped):
        compute(store="cut", observer=watch(stop_after), schedule="one_run")
    assert tensor_bytes(compute(store="cut", schedule="one_run")) == tensor_bytes(run)


def test_nesting_is_promised_by_the_iterative_schedule_alone() -> None:
    ugs = METHODS.get("ugs")
    assert ugs.nests(RunConfig())
    assert ugs.nests(resolve({}))
    assert not ugs.nests(resolve({"schedule": "one_run"}))
    assert METHODS.get("random").nests(RunConfig())
    assert not METHODS.get("admm").nests(RunConfig())


def test_the_usual_schedule_leaves_names_of_runs_as_they_were() -> None:
    """The name is that of a bundled example, which is older than the setting."""
    usual, named = resolve({}), resolve({"schedule": "iterative"})
    assert usual == named
    assert "schedule" not in usual.options
    assert run_name(usual) == "cora-node-gcn-ugs-df8e8f72"
    assert run_name(resolve({"schedule": "one_run"})) != run_name(usual)
