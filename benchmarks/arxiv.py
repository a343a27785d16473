"""Latency of a pruned GCN on the structure of ogbn-arxiv: real edges, random masks, weights and features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from glt.config import RunConfig
from glt.cost.latency import measure
from glt.datasets.graph import Graph, Provenance, Split, simple_edges
from glt.errors import DataError
from glt.masks import Masks, remaining_after
from glt.presets import resolve
from glt.training.problem import full_masks, network_shape, tensor_specs
from glt.user_path import path_from_environment

FILE = Path("arxiv_structure") / "adjacency_csr.npz"
FEATURES, CLASSES, HIDDEN = 32, 40, 64
ROUNDS = (4, 13, 20)


def measure_arxiv(repeats: int) -> dict[str, Any]:
    """Return the latency report at the sparsities of rounds 4, 13 and 20; GLT_DATA names the data root."""
    graph = arxiv_graph(np.random.default_rng(0))
    config = resolve({"hidden": HIDDEN})
    return {
        f"round {number}": measure(config, graph, *drawn(config, graph, number), repeats, 1).as_json()
        for number in ROUNDS
    }


def arxiv_graph(generator: np.random.Generator) -> Graph:
    """Return the real graph with random dense features and labels."""
    path = (path_from_environment("GLT_DATA") or Path("data")) / FILE
    if not path.is_file():
        raise DataError(f"{path} is missing: set GLT_DATA to a folder that has it.")
    pairs = np.stack(load_npz(path).tocoo().coords).astype(np.int64)
    nodes = int(load_npz(path).shape[0])
    edges, duplicates, loops = simple_edges(pairs, nodes)
    return Graph(
        name="ogbn-arxiv's structure",
        edges=edges,
        features=csr_array(generator.random((nodes, FEATURES), dtype=np.float32)),
        labels=np.arange(nodes) % CLASSES,
        split=Split(*np.split(np.arange(nodes), [nodes // 2, 3 * nodes // 4])),
        provenance=Provenance(str(FILE), pairs.shape[1], duplicates, loops),
    )


def drawn(config: RunConfig, graph: Graph, rounds: int) -> tuple[Masks, dict[str, np.ndarray]]:
    """Draw masks with the counts of so many rounds, and weights with zeros where they remove one."""
    generator, full = np.random.default_rng(rounds), full_masks(config, graph)
    specs = tensor_specs(config, network_shape(config, graph.sizes))
    weights = {spec.name: generator.normal(0, 0.1, spec.shape).astype(np.float32) for spec in specs}
    kept = [remaining_after(rate, n, rounds) for rate, n in ((0.05, full.edges.kept), (0.2, full.weights.kept))]
    edges = full.edges
    keep = np.zeros(edges.keep.size, dtype=np.bool_)
    keep[generator.permutation(keep.size)[: kept[0]]] = True
    scores = {name: np.abs(values) for name, values in weights.items()}
    masks = Masks(type(edges)(edges.kind, keep), full.weights.prune_exactly(scores, full.weights.kept - kept[1]))
    return masks, {name: values * masks.weights.keep[name] for name, values in weights.items()}
