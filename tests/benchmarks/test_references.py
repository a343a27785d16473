"""The dense formulations that ours is held against are the same epoch: equal weights and masks after equal steps."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.references import MaskedSearch, authors_search, dense_search
from glt.config import RunConfig
from glt.datasets.graph import Graph
from glt.presets import resolve

Made = Callable[[Graph, RunConfig], MaskedSearch]


def trained(make: Made, graph: Graph) -> list[torch.Tensor]:
    config = resolve({"hidden": 4}, "official").model_copy(update={"dropout": 0.0})
    torch.manual_seed(0)
    search = make(graph, config)
    for _ in range(3):
        search.epoch()
    return [tensor.detach() for tensor in [*search._weights, *search._masks]]


def test_products_with_diagonal_matrices_train_as_broadcasting_does(small_graph: Graph) -> None:
    for found, expected in zip(trained(authors_search, small_graph), trained(dense_search, small_graph), strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
