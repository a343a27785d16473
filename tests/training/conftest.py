"""Pruned masks, and data sets of the Open Graph Benchmark as they are registered, without their files."""

from __future__ import annotations

import numpy as np
import pytest

from glt.datasets import DATASETS
from glt.datasets.graph import Graph
from glt.datasets.registry import DatasetSpec
from glt.masks import Masks
from glt.training.problem import Problem


def pruned(problem: Problem) -> Masks:
    """Masks with a fifth of the entries and half of the weights gone."""
    full, rng = problem.full_masks(), np.random.default_rng(0)
    scores = {name: rng.random(keep.shape) for name, keep in full.weights.keep.items()}
    return Masks(full.edges.prune(rng.random(full.edges.kept), 0.2), full.weights.prune(scores, 0.5))


def unread() -> Graph:
    raise AssertionError("the files of this data set were asked for")


ARXIV = DatasetSpec("ogbn-arxiv", "arxiv", "", ("node",), 169_343, 1_157_799, 128, 40, unread, evaluator="ogbn-arxiv")
PROTEINS = DatasetSpec(
    "ogbn-proteins",
    "proteins",
    "",
    ("node",),
    132_534,
    39_561_252,
    8,
    8,
    unread,
    evaluator="ogbn-proteins",
    binary_tasks=112,
    edge_features=8,
)
COLLAB = DatasetSpec("ogbl-collab", "collab", "", ("link",), 235_868, 967_632, 128, 0, unread, evaluator="ogbl-collab")


@pytest.fixture
def benchmark_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the three sets in place of those that read files."""
    DATASETS.names()
    for spec in (ARXIV, PROTEINS, COLLAB):
        monkeypatch.setitem(DATASETS._entries, spec.name, spec)
