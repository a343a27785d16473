"""Multiply-accumulate operations (MACs) of a forward pass under masks; start at `macs`.

Three conventions: `dense_features` (the paper's) counts every feature value, zero or not; `sparse_features` counts the
operations of a sparse library; `published` is the formula that reproduces the paper's printed numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from glt.config import RunConfig
from glt.datasets.graph import Graph, IntArray
from glt.masks import Masks
from glt.models import MODELS, LayerCost
from glt.store.records import MacConvention
from glt.training.problem import full_masks, network_shape, tensor_specs


@dataclass(frozen=True)
class LayerMacs:
    """MACs of a layer: transform (inputs times weights) and aggregate (messages)."""

    name: str
    transform_dense_features: int
    transform_sparse_features: int
    aggregate: int


@dataclass(frozen=True)
class MacReport:
    """MACs by layer and in total, and which tensors are prunable."""

    layers: tuple[LayerMacs, ...]
    published: int
    published_transform: int
    prunable: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def totals(self) -> dict[MacConvention, int]:
        """Total MACs in each convention."""
        return {convention: parts["total"] for convention, parts in self.by_convention().items()}

    def by_convention(self) -> dict[MacConvention, dict[str, int]]:
        """Return {"transform", "aggregate", "total"} for each convention."""
        aggregate = sum(layer.aggregate for layer in self.layers)
        dense = sum(layer.transform_dense_features for layer in self.layers)
        sparse = sum(layer.transform_sparse_features for layer in self.layers)
        return {
            "dense_features": _parts(dense, aggregate),
            "sparse_features": _parts(sparse, aggregate),
            "published": _parts(self.published_transform, self.published - self.published_transform),
        }

    def as_json(self) -> dict[str, object]:
        """Return the document of `glt cost --json`."""
        return {
            "macs": self.by_convention(),
            "layers": [asdict(layer) for layer in self.layers],
            "prunable": list(self.prunable),
            "excluded": list(self.excluded),
        }


def macs(config: RunConfig, graph: Graph, masks: Masks) -> MacReport:
    """Count the MACs of one forward pass of `config`'s network on the message `graph` under `masks`."""
    shape = network_shape(config, graph.sizes)
    costs = MODELS.get(config.model).layer_costs(shape)
    specs = tensor_specs(config, shape)
    sizes = {spec.name: spec.shape for spec in specs}
    layers = tuple(_layer(layer, graph, masks, sizes) for layer in costs)
    counted = sum(math.prod(sizes[name]) for layer in costs for name in (layer.weight, *layer.further))
    # The paper's numbers, transform: N times the weights (F H + H C of a GCN) times the share of weights kept, where N
    # leaves out nodes without features (Citeseer has 15).
    transform = round(graph.nodes_with_features() * counted * (1 - masks.weights.sparsity))
    # Aggregate: 2 H times the directed entries kept, self-loops left out.
    aggregate = shape.layers * shape.hidden * int(masks.edges.directions().sum())
    return MacReport(
        layers,
        transform + aggregate,
        transform,
        tuple(spec.name for spec in specs if spec.prunable),
        tuple(spec.name for spec in specs if not spec.prunable),
    )


def _layer(layer: LayerCost, graph: Graph, masks: Masks, sizes: Mapping[str, tuple[int, ...]]) -> LayerMacs:
    kept_by_input = _kept_by_input(layer.weight, masks, sizes[layer.weight])
    dense = graph.num_nodes * int(kept_by_input.sum())
    sparse = dense
    if layer.reads_features:
        sparse = int(graph.feature_counts() @ kept_by_input)
    further = graph.num_nodes * sum(int(_kept_by_input(name, masks, sizes[name]).sum()) for name in layer.further)
    surviving = int(masks.edges.directions().sum())
    further += surviving * sum(int(_kept_by_input(name, masks, sizes[name]).sum()) for name in layer.of_entries)
    entries = surviving + graph.num_nodes
    return LayerMacs(layer.name, dense + further, sparse + further, entries * layer.message_width)


def _kept_by_input(weight: str, masks: Masks, size: tuple[int, ...]) -> IntArray:
    """Return the number of weights kept per input row."""
    keep = masks.weights.keep.get(weight)
    if keep is not None:
        return np.asarray(keep.sum(axis=1), dtype=np.int64)
    return np.full(size[0], math.prod(size[1:]), dtype=np.int64)


def _parts(transform: int, aggregate: int) -> dict[str, int]:
    return {"transform": transform, "aggregate": aggregate, "total": transform + aggregate}


def counterfactuals(config: RunConfig, graph: Graph, masks: Masks) -> dict[str, MacReport]:
    """Return the MACs on the message `graph` as {"dense", "graph_only", "weight_only", "both"}."""
    full = full_masks(config, graph)
    pruned = {
        "dense": full,
        "graph_only": Masks(masks.edges, full.weights),
        "weight_only": Masks(full.edges, masks.weights),
        "both": masks,
    }
    return {name: macs(config, graph, of) for name, of in pruned.items()}
