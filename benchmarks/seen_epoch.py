"""The bare epoch without the rows that neither loss nor scores see: what an engine that leaves them out could reach.

A logit depends on the hidden rows of a node's neighbours, those on the inputs of theirs. Training nodes are few, so
that most hidden rows have no gradient; of a large graph most rows are not seen by any scored node either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn import functional

from benchmarks.bare_epoch import BareEpoch, Kernel, loss_and_gradient, sampled
from benchmarks.sparse_products import IMPLEMENTATIONS, Pattern, pattern_of
from glt.datasets.graph import IntArray
from glt.sparse import Structure, row_normalised


@dataclass(frozen=True, eq=False)
class Corner:
    """Some rows and columns of a structure's matrix: its own pattern, and where its values lie among all of them."""

    structure: Structure
    place: Tensor

    @classmethod
    def of(cls, whole: Structure, rows: IntArray, columns: IntArray) -> Corner:
        """Cut out `rows` and `columns`, both rising."""
        places = csr_array((np.arange(whole.nnz) + 1, whole.col.numpy(), whole.crow.numpy()), shape=whole.shape)
        part = places[rows][:, columns].tocoo()
        structure = Structure.from_entries(*(ends.astype(np.int64) for ends in part.coords), part.shape)
        return cls(structure, torch.from_numpy(part.data - 1)[structure.order])

    def pattern(self, values: Tensor) -> Pattern:
        """Return the matrix of the values [nnz] of the whole."""
        return Pattern(self.structure.crow, self.structure.col, values[self.place], self.structure.shape)

    def transposed(self, values: Tensor) -> Pattern:
        """Return its transpose."""
        structure = self.structure
        own = values[self.place][structure.transpose_order]
        return Pattern(structure.transpose_crow, structure.transpose_col, own, structure.shape[::-1])


class SeenEpoch(BareEpoch):
    """The same epoch on the rows that are seen: training on those the loss sees, evaluation on those scores see.

    Random bits are drawn for all rows, as results would not be the same otherwise.
    """

    def start(self) -> None:
        """Cut the matrices, then compute the first layer."""
        self._cut()
        super().start()

    def _cut(self) -> None:
        whole, split = self._edges.structure, self._graph.split
        adjacency = csr_array((np.ones(whole.nnz), whole.col.numpy(), whole.crow.numpy()), shape=whole.shape)

        def seen_by(nodes: IntArray) -> IntArray:
            return np.unique(adjacency[nodes].indices).astype(np.int64)

        scored = np.union1d(split.val, split.test)
        trained = np.sort(split.train)
        hidden, trained_hidden = seen_by(np.union1d(scored, trained)), seen_by(trained)
        inputs, trained_inputs = seen_by(hidden), seen_by(trained_hidden)
        self._first, self._scored = Corner.of(whole, hidden, inputs), Corner.of(whole, scored, hidden)
        self._first_back = Corner.of(whole, trained_hidden, trained_inputs)
        self._trained = Corner.of(whole, trained, trained_hidden)
        self._rows_of_hidden = torch.from_numpy(np.searchsorted(hidden, trained_hidden))
        self._rows_of_inputs = torch.from_numpy(np.searchsorted(inputs, trained_inputs))
        self._nodes_of_hidden = torch.from_numpy(trained_hidden)
        self._trained_labels = self._labels[torch.from_numpy(trained)][:, None]
        self._parts = [(np.searchsorted(scored, nodes), self._labels[nodes]) for nodes in (split.val, split.test)]
        features = row_normalised(self._graph.features)
        needed = {"X W": features[inputs], "X^T G": features[trained_inputs].T.tocsr()}
        for name, matrix in needed.items():
            self._constant[name] = IMPLEMENTATIONS[self.chosen[name]](pattern_of(matrix))

    def _forward(self) -> list[Kernel]:
        return [
            Kernel("dropout bits", "SFC64, one bit an element, unpacked", self._draw),
            Kernel("dropout", "rows chosen, product in place", self._choose_rows),
            Kernel("H W2", "linear", self._trained_product),
            Kernel("A Z", self.chosen["A Z"], self._trained_sum),
            Kernel("loss and its gradient", "softmax of training rows", self._loss),
        ]

    def _evaluation(self) -> list[Kernel]:
        return [
            Kernel("ReLU", "in place", self._rectify),
            Kernel("H W2", "linear", self._second_product),
            Kernel("A Z", self.chosen["A Z"], self._second_sum),
            Kernel("scores", "argmax", self._score),
        ]

    def _first_sum(self) -> None:
        self.hidden = self._times("A H", self._first.pattern(self._edges.values), self._transformed)

    def _choose_rows(self) -> None:
        self._rows_trained = self.hidden[self._rows_of_hidden].mul_(self._keep[self._nodes_of_hidden])

    def _trained_product(self) -> None:
        self._narrow = self._effective[1].t().contiguous()
        self._rows = functional.linear(self._rows_trained, self._narrow)

    def _trained_sum(self) -> None:
        self.logits = self._times("A Z", self._trained.pattern(self._edges.values), self._rows)

    def _loss(self) -> None:
        self.loss, self._down = loss_and_gradient(self.logits.mul_(2), self._trained_labels)

    def _second_sum(self) -> None:
        self.logits = self._times("A Z", self._scored.pattern(self._edges.values), self._rows)

    def _second_sum_back(self) -> None:
        self._down_rows = self._times("A^T dZ", self._trained.transposed(self._edges.values), self._down)

    def _rectify_back(self) -> None:
        gradient = self._down_hidden
        torch.ops.aten.threshold_backward.grad_input(gradient, self._rows_trained, 0, grad_input=gradient)

    def _second_weight_back(self) -> None:
        self._to_effective_second = (self._down_rows.t() @ self._rows_trained).t()
        if not self._soft:
            self.weights[1].grad = self._to_effective_second.contiguous()

    def _first_sum_back(self) -> None:
        transposed = self._first_back.transposed(self._edges.values)
        self._down_transformed = self._times("A^T G", transposed, self._down_hidden)

    def _sample_classes(self) -> None:
        self._to_values = torch.zeros_like(self._edges.values)
        self._to_values[self._trained.place] = sampled(self._trained.structure, self._down, self._rows)

    def _sample_hidden(self) -> None:
        rows = self._transformed[self._rows_of_inputs]
        self._to_values[self._first_back.place] += sampled(self._first_back.structure, self._down_hidden, rows)

    def _score(self) -> None:
        predicted = self.logits.argmax(dim=1)
        self.scores = [int((predicted[rows] == labels).sum()) / labels.numel() for rows, labels in self._parts]
