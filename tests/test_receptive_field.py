"""Which mask values have a gradient: told from the sets alone, and found by autograd in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from glt.config import RunConfig
from glt.datasets.graph import Graph, Provenance, Split
from glt.masks import EdgeMask
from glt.presets import resolve
from glt.receptive_field import values_with_gradient
from glt.sparse import Dropout, GraphOperator, features_of
from glt.training.problem import Problem
from glt.training.tasks import TASKS, TrainingPass

DRAWS = 6
# In double precision what cancels is left with 1e-16 of the largest gradient; the smallest true one here has 1e-7.
ZERO = 1e-12
DOUBLE = torch.float64
NODES = 44

GCN = [{"degree": degree} for degree in ("source", "target", "both", "fixed")]
GIN = [
    {"model": "gin"},
    {"model": "gin", "gin_aggregation": "mean", "gin_degree": "original", "gin_mlp": "one"},
    {"model": "gin", "gin_aggregation": "mean", "gin_degree": "surviving"},
    {"model": "gin", "gin_aggregation": "mean", "gin_read_out": "jumping", "gin_last_relu": True},
]
GAT = [{"model": "gat", "gat_heads": 2}, {"model": "gat", "gat_heads": 2, "gat_mask": "logit"}]
RESGCN = [
    {"model": "resgcn", "gen_norm": norm, "gen_mask": mask, "gen_gradient": gradient, "gen_self_loops": loops}
    for norm, mask, gradient, loops in (
        ("layer", "absent", "full", False),
        ("layer", "absent", "stopped", True),
        ("layer", "message", "full", False),
        ("layer", "message", "full", True),
        ("layer", "message", "stopped", False),
        ("batch", "absent", "full", False),
    )
]
RESGCN += [{"model": "resgcn", "gen_norm": "layer", "gen_mlp": 2, "edge_features": 2}]
LINKS = [{"task": "link", "link_objective": objective} for objective in ("gic", "bce", "hadamard")]


def graph_of(draw: int, edge_features: int = 0) -> Graph:
    """A long path with a few short cuts, and a part that no training node reaches."""
    rng = np.random.default_rng(draw)
    path = np.stack([np.arange(32), np.arange(1, 33)])
    apart = np.stack([np.arange(34, NODES - 1), np.arange(35, NODES)])
    low, step = rng.integers(0, 24, 8), rng.integers(2, 6, 8)
    edges = np.unique(np.concatenate([path, apart, np.stack([low, low + step])], axis=1), axis=1)
    return Graph(
        name="path",
        edges=edges,
        features=csr_array(rng.random((NODES, 5), dtype=np.float32) + np.float32(0.1)),
        labels=rng.integers(0, 3, NODES),
        split=Split(np.array([4, 5, 21]), np.arange(24, 30), np.arange(30, 36)),
        provenance=Provenance("by hand", edges.shape[1], 0, 0),
        edge_features=rng.random((edges.shape[1], edge_features), dtype=np.float32) if edge_features else None,
    )


def problem_of(settings: dict[str, Any]) -> Problem:
    values = {"hidden": 6, "layers": 2, "link_dimension": 4, "gic_clusters": 3, **settings}
    features = values.pop("edge_features", 0)
    if values.get("task") != "link":
        del values["link_dimension"], values["gic_clusters"]
    return Problem(resolve({"dataset": "cora", **values}), graph_of(len(str(settings)), features))


def pruned(graph: Graph, kind: str, draw: int = 0) -> EdgeMask:
    full = EdgeMask.full(kind, graph.num_edges)  # type: ignore[arg-type]
    return full.prune(np.random.default_rng(draw).random(full.kept), 0.3)


def by_autograd(problem: Problem, mask: EdgeMask) -> np.ndarray:
    """Say of each surviving value whether the loss has a gradient there for any of some weights, drawn at random."""
    found = np.zeros(mask.kept, dtype=np.bool_)
    for draw in range(DRAWS):
        gradient = np.abs(_gradient(problem, mask, draw))
        found |= gradient > ZERO * gradient.max()
    return found


def _gradient(problem: Problem, mask: EdgeMask, draw: int) -> np.ndarray:
    config, model = problem.config, problem.model
    torch_rng = torch.Generator().manual_seed(draw)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=DOUBLE, generator=torch_rng)

    soft = (1 + 0.1 * normal(mask.kept)).clamp(min=0.5).requires_grad_()
    values, structure = soft, mask
    if model.keeps_pruned_edges(config):
        structure = problem.full_masks().edges
        values = soft.new_zeros(structure.kept).index_put((torch.from_numpy(np.flatnonzero(mask.keep)),), soft)
    operator = GraphOperator(problem.graph, structure, dtype=DOUBLE)
    start = {spec.name: 1.0 if spec.start is None else spec.start for spec in problem.specs}
    weights = {
        spec.name: normal(*spec.shape) if spec.start is None else start[spec.name] + 0.2 * normal(*spec.shape)
        for spec in problem.specs
    }
    features = features_of(problem.graph, dtype=DOUBLE, keep_product=True)

    def output(order: torch.Tensor | None = None) -> torch.Tensor:
        rows = features if order is None else features.shuffled(order)
        stem = model.stem(operator, values, rows, weights, config)
        return model.head(stem, weights, Dropout(0, None), config)

    rng = np.random.default_rng(draw)
    loss = problem.task.loss(TrainingPass(output(), weights, rng, output))
    (gradient,) = torch.autograd.grad(loss, soft)
    return gradient.numpy()


def told(config: RunConfig, problem: Problem, mask: EdgeMask) -> np.ndarray:
    loss_nodes = TASKS.get(config.task).loss_nodes(problem.graph)
    return values_with_gradient(problem.graph, mask, loss_nodes, config.layers, problem.model.mask_effect(config))


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("settings", [*GCN, *GIN, *GAT, *RESGCN])
def test_a_mask_has_a_gradient_exactly_where_the_field_says(settings: dict[str, Any], layers: int, kind: str) -> None:
    problem = problem_of({**settings, "layers": layers, "edge_mask": kind})
    mask = pruned(problem.graph, kind)
    expected = told(problem.config, problem, mask)
    assert np.array_equal(by_autograd(problem, mask), expected)
    assert expected.any()
    # The part apart has none, unless a statistic over all nodes joins it to the rest.
    assert settings.get("gen_norm") == "batch" or not expected.all()


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("model", [{}, {"model": "gin", "gin_aggregation": "mean"}, {"model": "gat", "gat_heads": 2}])
@pytest.mark.parametrize("settings", LINKS)
def test_every_node_may_count_for_links(settings: dict[str, Any], model: dict[str, Any], kind: str) -> None:
    """Only where a mean has one edge left does its mask learn nothing."""
    problem = problem_of({**settings, **model, "edge_mask": kind})
    mask = pruned(problem.graph, kind)
    expected = told(problem.config, problem, mask)
    assert np.array_equal(by_autograd(problem, mask), expected)
    assert expected.all() == (model.get("model") != "gin")


def test_how_far_a_degree_reaches_decides() -> None:
    """A path 0 - 1 - 2 - 3 - 4 with node 0 trained on, two layers: each entry by hand."""
    edges = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    path = Graph(
        name="path",
        edges=edges,
        features=csr_array(np.ones((5, 2), dtype=np.float32)),
        labels=np.zeros(5, dtype=np.int64),
        split=Split(np.array([0]), np.array([1]), np.array([2])),
        provenance=Provenance("by hand", 4, 0, 0),
    )
    full = EdgeMask.full("directed", 4)

    def told_with(degree: str) -> list[list[int]]:
        config = resolve({"dataset": "cora", "degree": degree})
        effect = Problem(config, path).model.mask_effect(config)
        found = values_with_gradient(path, full, np.array([0]), 2, effect)
        source, target = path.entries()[:, found]
        return sorted(map(list, zip(source.tolist(), target.tolist(), strict=True)))

    # Messages reach node 0 from 2 and 1; the row of node 2 counts what 2 sends, to 3 as well.
    assert told_with("fixed") == [[0, 1], [1, 0], [2, 1]]
    assert told_with("source") == told_with("both") == [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3]]
    assert told_with("target") == [[0, 1], [1, 0], [1, 2], [2, 1], [3, 2]]


def test_nothing_of_it_loads_torch() -> None:
    import subprocess
    import sys

    code = "import sys, glt.receptive_field, glt.removal_causes; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
