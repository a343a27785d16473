"""The ways to run a pruned network: masks multiplied in, edges removed, and everything kept as sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.config import RunConfig
from glt.data import Graph
from glt.errors import ConfigError
from glt.masks import EdgeMask, Masks
from glt.models import MODELS
from glt.sparse import DenseFeatures, Features, GraphOperator, features_of
from glt.training.forward import forward

Arrays = Mapping[str, NDArray[np.float32]]
ExecutionName = Literal["masked", "edges_removed", "sparse_features", "sparse"]

LABELS: dict[ExecutionName, str] = {
    "masked": "masks multiplied in",
    "edges_removed": "edges removed",
    "sparse_features": "edges removed, sparse features",
    "sparse": "edges removed, sparse features and weights",
}
MOST_DENSE_BYTES = 2 << 30


@dataclass(frozen=True, eq=False)
class Execution:
    """A network ready to run: `edge_values` are 0 and 1 where pruned edges are still in the operator."""

    name: ExecutionName
    config: RunConfig
    operator: GraphOperator
    features: Features
    weights: Mapping[str, Tensor]
    edge_values: Tensor | None = None

    def run(self) -> Tensor:
        """Return the outputs [N, C] of one forward pass, normalisation of the adjacency included."""
        return forward(self.config, self.operator, self.features, self.weights, self.edge_values)

    def held_bytes(self) -> dict[str, int]:
        """Return the bytes of weights, features and edges that must stay in memory from pass to pass."""
        structure = self.operator.structure
        edges = [structure.crow, structure.col, *([] if self.edge_values is None else [self.edge_values])]
        return {
            "weights": sum(map(tensor_bytes, self.weights.values())),
            "features": tensor_bytes(self.features.matrix),
            "edges": sum(map(tensor_bytes, edges)),
        }


def executions(config: RunConfig, graph: Graph, masks: Masks, weights: Arrays) -> list[Execution]:
    """Return the executions in the order of LABELS, on the message `graph`; `weights` hold zeros where pruned.

    "sparse_features" tells apart what sparse features gain, which takes no pruning, and what pruned weights do.
    Features too large to write out stay sparse in all. Raises ConfigError for a network that keeps pruned edges.
    """
    why = MODELS.get(config.model).keeps_pruned_edges(config)
    if why is not None:
        raise ConfigError(f"Nothing can be removed from this network to be measured: {why}.")
    sparse = features_of(graph)
    # As a program without sparse matrices holds them, zeros written out.
    dense = DenseFeatures(sparse.matrix.to_dense()) if writes_out_features(graph) else sparse
    whole = GraphOperator(graph, EdgeMask.full(masks.edges.kind, graph.num_edges))
    left = GraphOperator(graph, masks.edges)
    factors = torch.from_numpy(masks.edges.keep.astype(np.float32))
    tensors = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in weights.items()}
    compact = {name: value.to_sparse_csr() if name in masks.weights.keep else value for name, value in tensors.items()}
    return [
        Execution("masked", config, whole, dense, tensors, factors),
        Execution("edges_removed", config, left, dense, tensors),
        Execution("sparse_features", config, left, sparse, tensors),
        Execution("sparse", config, left, sparse, compact),
    ]


def writes_out_features(graph: Graph) -> bool:
    """Say whether the dense executions can hold the features with their zeros."""
    return 4 * graph.num_nodes * graph.num_features <= MOST_DENSE_BYTES


def tensor_bytes(tensor: Tensor) -> int:
    """Return the bytes of a tensor's values, and of its pattern where it is sparse CSR."""
    if tensor.layout is torch.sparse_csr:
        return sum(tensor_bytes(part) for part in (tensor.crow_indices(), tensor.col_indices(), tensor.values()))
    return tensor.numel() * tensor.element_size()
