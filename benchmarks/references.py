"""The same UGS search epoch written three other ways, to time ours against: dense N x N twice, and idiomatic PyG.

Both train weights, weight masks and an edge mask by Adam and evaluate once an epoch, as ours does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from glt.config import RunConfig
from glt.datasets.graph import Graph
from glt.sparse import row_normalised

Forward = Callable[[Tensor, list[Tensor], bool], Tensor]


class MaskedSearch:
    """Parameters and one epoch; the forward pass is the caller's."""

    def __init__(self, graph: Graph, config: RunConfig, edge_mask: Tensor, forward: Forward) -> None:
        shapes = [(graph.num_features, config.hidden), (config.hidden, graph.num_classes)]
        self._weights = [nn.Parameter(torch.randn(shape) / np.sqrt(shape[0])) for shape in shapes]
        self._masks = [nn.Parameter(torch.ones(shape)) for shape in shapes]
        self._edge_mask = nn.Parameter(edge_mask)
        self._forward, self._config = forward, config
        self._labels = torch.from_numpy(graph.labels)
        self._train, self._val = (torch.from_numpy(nodes) for nodes in (graph.split.train, graph.split.val))
        parameters = [*self._weights, *self._masks, self._edge_mask]
        self._optimiser = torch.optim.Adam(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)

    def epoch(self) -> float:
        """Train one step with both penalties and return the validation accuracy after it."""
        output = self._forward(self._edge_mask, self._effective(), True)
        loss = functional.cross_entropy(output[self._train], self._labels[self._train])
        loss = loss + self._config.gamma_graph * self._edge_mask.abs().sum()
        loss = loss + self._config.gamma_weight * torch.stack([mask.abs().sum() for mask in self._masks]).sum()
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        with torch.no_grad():
            output = self._forward(self._edge_mask, self._effective(), False)
        return float((output[self._val].argmax(1) == self._labels[self._val]).float().mean())

    def _effective(self) -> list[Tensor]:
        return [weight * mask for weight, mask in zip(self._weights, self._masks, strict=True)]


def dense_features(graph: Graph) -> Tensor:
    """Return the row-normalised features as a dense [N, F] tensor."""
    return torch.from_numpy(row_normalised(graph.features).toarray())


def dense_search(graph: Graph, config: RunConfig) -> MaskedSearch:
    """Everything N x N and dense, aggregation before transformation; rows and columns are scaled by broadcasting."""
    return _dense(graph, config, lambda masked, root: root[:, None] * masked * root[None, :])


def authors_search(graph: Graph, config: RunConfig) -> MaskedSearch:
    """The dense form as the authors' code has it: the normalisation is two products with diagonal N x N matrices."""

    def normalise(masked: Tensor, root: Tensor) -> Tensor:
        scale = torch.diag(root)
        return ((masked @ scale).t() @ scale).t()

    return _dense(graph, config, normalise)


def _dense(graph: Graph, config: RunConfig, normalise: Callable[[Tensor, Tensor], Tensor]) -> MaskedSearch:
    features = dense_features(graph)
    adjacency = torch.zeros(graph.num_nodes, graph.num_nodes)
    source, target = torch.from_numpy(graph.entries())
    adjacency[target, source] = 1
    identity = torch.eye(graph.num_nodes)

    def forward(mask: Tensor, weights: list[Tensor], training: bool) -> Tensor:
        masked = adjacency * mask + identity
        root = masked.sum(dim=0).clamp(min=1e-6).rsqrt()
        normalised = normalise(masked, root)
        hidden = torch.relu((normalised @ features) @ weights[0])
        return (normalised @ functional.dropout(hidden, config.dropout, training)) @ weights[1]

    return MaskedSearch(graph, config, torch.ones_like(adjacency), forward)


def pyg_search(graph: Graph, config: RunConfig) -> MaskedSearch:
    """PyTorch Geometric as its documentation has it: GCNConv with a trainable edge weight, dense features."""
    from torch_geometric.nn import GCNConv

    features = dense_features(graph)
    edge_index = torch.from_numpy(graph.entries())
    convolution = GCNConv(1, 1, bias=False)
    convolution.lin = nn.Identity()

    def forward(mask: Tensor, weights: list[Tensor], training: bool) -> Tensor:
        hidden = torch.relu(convolution(features @ weights[0], edge_index, mask))
        hidden = functional.dropout(hidden, config.dropout, training)
        result: Tensor = convolution(hidden @ weights[1], edge_index, mask)
        return result

    return MaskedSearch(graph, config, torch.ones(edge_index.shape[1]), forward)
