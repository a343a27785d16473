"""An epoch of a two-layer GCN as nothing but its kernels: no autograd, no loop around it, each done once a need.

The first layer is computed once for evaluation and for the training pass that follows, as both see the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.bare_edges import BareEdges
from benchmarks.sparse_products import IMPLEMENTATIONS, PREPARED, Pattern, Product, fastest, pattern_of
from glt.errors import ConfigError
from glt.sparse import Structure, row_normalised
from glt.training.problem import Problem

SPARSE_PRODUCTS = ("X W", "X^T G", "A H", "A^T G", "A Z", "A^T dZ")


@dataclass(frozen=True)
class Kernel:
    """A step of an epoch, how it is done, and the step itself; equal names are the same kernel done again."""

    name: str
    by: str
    run: Callable[[], object]


class BareEpoch:
    """Tensors of a search (with soft masks) or of a retraining of the full network, and the kernels of its epoch.

    Adam's rates and both penalties are the config's, and masks decay as the preset `official` has it.
    """

    def __init__(
        self,
        problem: Problem,
        theta: Mapping[str, np.ndarray],
        masks: tuple[np.ndarray, Mapping[str, np.ndarray]] | None,
        generator: np.random.Generator,
        chosen: Mapping[str, str] | None = None,
    ) -> None:
        graph, config = problem.graph, problem.config
        if (config.model, config.layers, config.dropout, config.degree) != ("gcn", 2, 0.5, "source"):
            raise ConfigError("A bare epoch is that of a GCN of two layers, with dropout 0.5 and degree 'source'.")
        self._graph, self._config, self._generator, self._soft = graph, config, generator, masks is not None
        self.weights = [torch.from_numpy(theta[name].copy()) for name in ("layers.0.weight", "layers.1.weight")]
        self._edges = BareEdges(graph, problem.full_masks().edges)
        self.masks = [] if masks is None else [torch.from_numpy(masks[1][name].copy()) for name in theta]
        self.edge_mask = torch.ones(2 * graph.num_edges) if masks is None else torch.from_numpy(masks[0].copy())
        self._labels = torch.from_numpy(graph.labels)
        split = graph.split
        self._train, self._val, self._test = (torch.from_numpy(part) for part in (split.train, split.val, split.test))
        features = row_normalised(graph.features)
        self._features, self._features_transposed = pattern_of(features), pattern_of(features.T.tocsr())
        self._keep = torch.ones(graph.num_nodes, config.hidden, dtype=torch.uint8)
        self._down = torch.zeros(graph.num_nodes, graph.num_classes)
        self._optimiser = self._adam()
        self._normalise()
        self._effective_weights()
        self.chosen = dict(chosen or self._choose())
        self._constant = {
            "X W": IMPLEMENTATIONS[self.chosen["X W"]](self._features),
            "X^T G": IMPLEMENTATIONS[self.chosen["X^T G"]](self._features_transposed),
        }
        self.start()

    def start(self) -> None:
        """Compute the first layer of the tensors as they are: the pass before the first epoch."""
        for kernel in self._stem():
            kernel.run()
        self._rectify()

    def kernels(self) -> list[Kernel]:
        """Return an epoch's kernels in their order."""
        return [*self._forward(), *self._backward(), *self._step(), *self._stem(), *self._evaluation()]

    def _forward(self) -> list[Kernel]:
        return [
            Kernel("dropout bits", "SFC64, one bit an element, unpacked", self._draw),
            Kernel("dropout", "product in place", lambda: self.hidden.mul_(self._keep)),
            Kernel("H W2", "linear", self._second_product),
            Kernel("A Z", self.chosen["A Z"], self._second_sum),
            Kernel("loss and its gradient", "softmax of training rows", self._loss),
        ]

    def _backward(self) -> list[Kernel]:
        soft = [
            Kernel("sampled product, classes", "sampled_addmm", self._sample_classes),
            Kernel("sampled product, hidden", "sampled_addmm", self._sample_hidden),
        ]
        return [
            Kernel("A^T dZ", self.chosen["A^T dZ"], self._second_sum_back),
            *(soft[:1] if self._soft else []),
            Kernel("dZ W2^T", "product", self._second_product_back),
            Kernel("ReLU and dropout, gradient", "threshold_backward", self._rectify_back),
            Kernel("H^T dZ", "product", self._second_weight_back),
            Kernel("A^T G", self.chosen["A^T G"], self._first_sum_back),
            *(soft[1:] if self._soft else []),
            Kernel("X^T G", self.chosen["X^T G"], self._first_weight_back),
        ]

    def _step(self) -> list[Kernel]:
        soft = [
            Kernel("normalisation, gradient", "index_add", self._normalise_back),
            Kernel("mask gradients and penalties", "products in place", self._masks_back),
        ]
        return [*(soft if self._soft else []), Kernel("Adam", "torch's fused", self._optimiser.step)]

    def _stem(self) -> list[Kernel]:
        soft = [
            Kernel("masks times weights", "product", self._effective_weights),
            Kernel("normalisation", "index_add", self._normalise),
        ]
        return [
            *(soft if self._soft else []),
            Kernel("X W", self.chosen["X W"], self._first_product),
            Kernel("A H", self.chosen["A H"], self._first_sum),
        ]

    def _evaluation(self) -> list[Kernel]:
        return [
            Kernel("ReLU", "in place", self._rectify),
            Kernel("H W2", "linear", self._second_product),
            Kernel("A Z", self.chosen["A Z"], self._second_sum),
            Kernel("scores", "argmax", self._score),
        ]

    def _choose(self) -> dict[str, str]:
        """Try every implementation of each sparse product on its own matrix and width."""
        wide = torch.rand(self._down.shape[0], self._config.hidden)
        adjacency, transposed = self._edges.pattern(), self._edges.transposed()
        # Values of the adjacency change at every step of a search, so that nothing can be prepared of them.
        unprepared = [name for name in IMPLEMENTATIONS if name not in PREPARED]
        return {
            "X W": fastest(self._features, self.weights[0]),
            "X^T G": fastest(self._features_transposed, wide),
            "A H": fastest(adjacency, wide, unprepared),
            "A^T G": fastest(transposed, wide, unprepared),
            "A Z": fastest(adjacency, self._down, unprepared),
            "A^T dZ": fastest(transposed, self._down, unprepared),
        }

    def _adam(self) -> torch.optim.Optimizer:
        config = self._config
        tensors = [*self.weights, *([self.edge_mask, *self.masks] if self._soft else [])]
        for tensor in tensors:
            tensor.grad = torch.zeros_like(tensor)
        rates = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
        return torch.optim.Adam(tensors, fused=True, **rates)

    def _times(self, name: str, pattern: Pattern, dense: Tensor) -> Tensor:
        product: Product = IMPLEMENTATIONS[self.chosen[name]](pattern)
        return product(dense)

    def _draw(self) -> None:
        count = self._keep.numel()
        packed = np.frombuffer(self._generator.bytes((count + 7) // 8), dtype=np.uint8)
        self._keep = torch.from_numpy(np.unpackbits(packed, count=count)).view(self._keep.shape)

    def _first_product(self) -> None:
        self._transformed = self._constant["X W"](self._effective[0])

    def _first_sum(self) -> None:
        self.hidden = self._times("A H", self._edges.pattern(), self._transformed)

    def _rectify(self) -> None:
        self.hidden.relu_()

    def _second_product(self) -> None:
        self._narrow = self._effective[1].t().contiguous()
        self._rows = functional.linear(self.hidden, self._narrow)

    def _second_sum(self) -> None:
        self.logits = self._times("A Z", self._edges.pattern(), self._rows)

    def _loss(self) -> None:
        # The scale of dropout at rate one half is applied where the numbers are few.
        self.logits *= 2
        labels = self._labels[self._train, None]
        self.loss, self._down[self._train] = loss_and_gradient(self.logits[self._train], labels)

    def _second_sum_back(self) -> None:
        self._down_rows = self._times("A^T dZ", self._edges.transposed(), self._down)

    def _second_product_back(self) -> None:
        self._down_hidden = self._down_rows @ self._narrow

    def _rectify_back(self) -> None:
        gradient = self._down_hidden
        torch.ops.aten.threshold_backward.grad_input(gradient, self.hidden, 0, grad_input=gradient)

    def _second_weight_back(self) -> None:
        self._to_effective_second = (self._down_rows.t() @ self.hidden).t()
        if not self._soft:
            self.weights[1].grad = self._to_effective_second.contiguous()

    def _first_sum_back(self) -> None:
        self._down_transformed = self._times("A^T G", self._edges.transposed(), self._down_hidden)

    def _first_weight_back(self) -> None:
        self._to_effective_first = self._constant["X^T G"](self._down_transformed)
        if not self._soft:
            self.weights[0].grad = self._to_effective_first

    def _sample_classes(self) -> None:
        self._to_values = sampled(self._edges.structure, self._down, self._rows)

    def _sample_hidden(self) -> None:
        self._to_values += sampled(self._edges.structure, self._down_hidden, self._transformed)

    def _normalise(self) -> None:
        self._edges.normalise(self.edge_mask)

    def _normalise_back(self) -> None:
        self.edge_mask.grad = self._edges.gradient(self._to_values)
        self.edge_mask.grad.add_(self.edge_mask.sign(), alpha=self._config.gamma_graph)

    def _effective_weights(self) -> None:
        pairs = zip(self.weights, self.masks, strict=True) if self._soft else []
        self._effective = [weight * mask for weight, mask in pairs] or self.weights

    def _masks_back(self) -> None:
        gradients = self._to_effective_first, self._to_effective_second
        for weight, mask, gradient in zip(self.weights, self.masks, gradients, strict=True):
            torch.mul(gradient, mask, out=weight.grad)
            torch.mul(gradient, weight, out=mask.grad)
            mask.grad.add_(mask.sign(), alpha=self._config.gamma_weight)

    def _score(self) -> None:
        predicted = self.logits.argmax(dim=1)
        parts = self._val, self._test
        self.scores = [int((predicted[nodes] == self._labels[nodes]).sum()) / nodes.numel() for nodes in parts]


def loss_and_gradient(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean cross-entropy of rows [n, C] with labels [n, 1], and its gradient times dropout's scale of 2."""
    chosen = logits.log_softmax(1)
    loss = -chosen.gather(1, labels).mean()
    gradient = chosen.exp_().scatter_add_(1, labels, chosen.new_full(labels.shape, -1))
    return loss, gradient.mul_(2 / labels.shape[0])


def sampled(structure: Structure, down: Tensor, rows: Tensor) -> Tensor:
    """Return the products [nnz] of a target's row of `down` with a source's row of `rows`, an entry each."""
    pattern = structure.matrix(torch.zeros(structure.nnz))
    result: Tensor = torch.sparse.sampled_addmm(pattern, down, rows.t(), beta=0.0)
    return result.values()
