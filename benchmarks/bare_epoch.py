"""A two-layer GCN epoch as bare kernels, without autograd or training loop; start at `BareEpoch`.

Each sparse product uses the fastest implementation found. `SeenEpoch` leaves out rows that neither loss nor scores
depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn import functional

from benchmarks.results import cpu_seconds
from glt.datasets.graph import Graph, IntArray
from glt.errors import ConfigError
from glt.masks import EdgeMask
from glt.sparse import GraphOperator, Structure, row_normalised
from glt.sparse.operator import SMALLEST_DEGREE
from glt.training.problem import Problem

TRIES = 5
# Rows or columns of a wide gradient that stay in the cache.
ROWS_OF_A_BLOCK, COLUMNS_OF_A_BLOCK = 512, 64

Product = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Pattern:
    """A matrix [rows, columns] in compressed rows: pointers [rows + 1], column numbers [nnz], values [nnz]."""

    pointers: Tensor
    columns: Tensor
    values: Tensor
    shape: tuple[int, int]


def pattern_of(matrix: csr_array) -> Pattern:
    """Return a SciPy matrix as 32-bit tensors."""
    parts = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)
    pointers, columns, values = (torch.from_numpy(part) for part in parts)
    return Pattern(pointers, columns, values, (int(matrix.shape[0]), int(matrix.shape[1])))


def by_bags(pattern: Pattern) -> Product:
    """Return torch's embedding_bag: each row is a weighted bag of rows."""
    options = {"mode": "sum", "per_sample_weights": pattern.values, "include_last_offset": True}
    return lambda dense: functional.embedding_bag(pattern.columns, dense, pattern.pointers, **options)


def by_mkl(pattern: Pattern) -> Product:
    """Return addmm of a CSR tensor, which torch passes to MKL."""
    matrix = _tensor(pattern)

    def times(dense: Tensor) -> Tensor:
        result = dense.new_empty(pattern.shape[0], dense.shape[1])
        return torch.addmm(result, matrix, dense, beta=0, out=result)

    return times


def by_reduction(pattern: Pattern) -> Product:
    """Return torch's sparse.mm with a reduction, a separate kernel."""
    matrix = _tensor(pattern)
    return lambda dense: torch.sparse.mm(matrix, dense, reduce="sum")


def by_scipy(pattern: Pattern) -> Product:
    """Return SciPy's product of CSR and dense arrays."""
    parts = pattern.values.numpy(), pattern.columns.numpy(), pattern.pointers.numpy()
    matrix = csr_array(parts, shape=pattern.shape)
    return lambda dense: torch.from_numpy(matrix @ dense.numpy())


def by_blocks_of_rows(pattern: Pattern) -> Product:
    """Return MKL's product, summed over blocks of dense rows that stay in the cache."""
    blocks = [_tensor(block) for block in _blocks(pattern)]

    def times(dense: Tensor) -> Tensor:
        result = dense.new_empty(pattern.shape[0], dense.shape[1])
        for number, (block, part) in enumerate(zip(blocks, dense.split(ROWS_OF_A_BLOCK), strict=True)):
            torch.addmm(result, block, part, beta=min(number, 1), out=result)
        return result

    return times


def by_bags_of_rows(pattern: Pattern) -> Product:
    """Return embedding_bag, summed over blocks of dense rows that stay in the cache."""
    blocks = [by_bags(block) for block in _blocks(pattern)]

    def times(dense: Tensor) -> Tensor:
        parts = zip(blocks, dense.split(ROWS_OF_A_BLOCK), strict=True)
        return reduce(Tensor.add_, (bags(part) for bags, part in parts))

    return times


def by_bags_of_columns(pattern: Pattern) -> Product:
    """Return embedding_bag on blocks of dense columns that stay in the cache."""
    bags = by_bags(pattern)

    def times(dense: Tensor) -> Tensor:
        return torch.cat([bags(part.contiguous()) for part in dense.split(COLUMNS_OF_A_BLOCK, dim=1)], dim=1)

    return times


IMPLEMENTATIONS: Mapping[str, Callable[[Pattern], Product]] = {
    "embedding_bag": by_bags,
    "embedding_bag, columns in blocks": by_bags_of_columns,
    "embedding_bag, rows in blocks": by_bags_of_rows,
    "MKL": by_mkl,
    "MKL, rows in blocks": by_blocks_of_rows,
    "sparse.mm with reduction": by_reduction,
    "scipy": by_scipy,
}


# For matrices whose values never change.
PREPARED = ("embedding_bag, rows in blocks", "MKL, rows in blocks")


def fastest(pattern: Pattern, dense: Tensor, names: Sequence[str] = tuple(IMPLEMENTATIONS)) -> str:
    """Return the name of the fastest implementation, by CPU time of a few tries."""
    products = {name: IMPLEMENTATIONS[name](pattern) for name in names}
    seconds = dict.fromkeys(names, float("inf"))
    for _ in range(TRIES):
        for name, times in products.items():
            seconds[name] = min(seconds[name], cpu_seconds(partial(times, dense)))
    return min(seconds, key=lambda name: seconds[name])


def _blocks(pattern: Pattern) -> list[Pattern]:
    parts = pattern.values.numpy(), pattern.columns.numpy(), pattern.pointers.numpy()
    columns = csr_array(parts, shape=pattern.shape).tocsc()
    starts = range(0, pattern.shape[1], ROWS_OF_A_BLOCK)
    return [pattern_of(columns[:, start : start + ROWS_OF_A_BLOCK].tocsr()) for start in starts]


def _tensor(pattern: Pattern) -> Tensor:
    parts = pattern.pointers, pattern.columns, pattern.values
    return torch.sparse_csr_tensor(*parts, size=pattern.shape, check_invariants=False)


# Normalised adjacency.


class BareEdges:
    """D^-1/2 (m * A + I) D^-1/2 and its gradient by hand; D sums what a node sends."""

    def __init__(self, graph: Graph, mask: EdgeMask) -> None:
        self.structure = GraphOperator(graph, mask).structure
        entries = mask.kept
        # Self-loops read the 1 after the mask's values.
        self._number = self.structure.order.clamp(max=entries)
        self._place = torch.argsort(self.structure.order.long())[:entries]
        self._one = torch.ones(1)
        self.values = torch.ones(self.structure.nnz)

    def normalise(self, mask: Tensor) -> None:
        """Compute `values` [nnz] of mask values [entries]."""
        structure = self.structure
        self._raw = torch.cat([mask, self._one])[self._number]
        self._sums = self._raw.new_zeros(structure.shape[0]).index_add_(0, structure.col, self._raw)
        self._root = self._sums.clamp(min=SMALLEST_DEGREE).rsqrt_()
        self._at_source, self._at_target = self._root[structure.col], self._root[structure.row]
        self.values = self._raw * self._at_source * self._at_target
        self.of_transpose = self.values[structure.transpose_order]

    def gradient(self, to_values: Tensor) -> Tensor:
        """Return the gradient of mask values [entries] from that of `values` [nnz]."""
        structure = self.structure
        down = to_values * self._raw
        to_root = self._root.new_zeros(self._root.shape)
        to_root.index_add_(0, structure.col, down * self._at_target).index_add_(
            0, structure.row, down * self._at_source
        )
        to_sums = to_root.mul_(self._root.pow(3)).mul_(-0.5).mul_(self._sums > SMALLEST_DEGREE)
        to_raw = to_values * self._at_source * self._at_target + to_sums[structure.col]
        return to_raw[self._place]

    def pattern(self) -> Pattern:
        """Return the matrix with its present values."""
        return Pattern(self.structure.crow, self.structure.col, self.values, self.structure.shape)

    def transposed(self) -> Pattern:
        """Return its transpose."""
        structure = self.structure
        parts = structure.transpose_crow, structure.transpose_col, self.of_transpose
        return Pattern(*parts, structure.shape[::-1])


# Epochs.

SPARSE_PRODUCTS = ("X W", "X^T G", "A H", "A^T G", "A Z", "A^T dZ")


@dataclass(frozen=True)
class Kernel:
    """A step of an epoch and its implementation; equal names are the same kernel."""

    name: str
    by: str
    run: Callable[[], object]


class BareEpoch:
    """Tensors and kernels of an epoch, of a search (with soft masks) or of retraining.

    Rates and penalties are the config's; masks have weight decay as in the preset `official`. The first layer is
    computed once, for evaluation and the next training pass.
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
            raise ConfigError("A bare epoch needs a two-layer GCN with dropout 0.5 and degree 'source'.")
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
        """Compute the first layer, as the pass before the first epoch."""
        for kernel in self._stem():
            kernel.run()
        self._rectify()

    def kernels(self) -> list[Kernel]:
        """Return an epoch's kernels in order."""
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
        # Adjacency values change at every step of a search, so nothing can be prepared.
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
    """Return the mean cross-entropy of rows [n, C] with labels [n, 1], and twice its gradient.

    Two is the scale of dropout at 0.5.
    """
    chosen = logits.log_softmax(1)
    loss = -chosen.gather(1, labels).mean()
    gradient = chosen.exp_().scatter_add_(1, labels, chosen.new_full(labels.shape, -1))
    return loss, gradient.mul_(2 / labels.shape[0])


def sampled(structure: Structure, down: Tensor, rows: Tensor) -> Tensor:
    """Return the product [nnz] of target row of `down` and source row of `rows` per entry."""
    pattern = structure.matrix(torch.zeros(structure.nnz))
    result: Tensor = torch.sparse.sampled_addmm(pattern, down, rows.t(), beta=0.0)
    return result.values()


# The epoch on receptive fields.


@dataclass(frozen=True, eq=False)
class Corner:
    """Some rows and columns of a matrix: their pattern and the places of their values."""

    structure: Structure
    place: Tensor

    @classmethod
    def of(cls, whole: Structure, rows: IntArray, columns: IntArray) -> Corner:
        """Cut out sorted `rows` and `columns`."""
        places = csr_array((np.arange(whole.nnz) + 1, whole.col.numpy(), whole.crow.numpy()), shape=whole.shape)
        part = places[rows][:, columns].tocoo()
        structure = Structure.from_entries(*(ends.astype(np.int64) for ends in part.coords), part.shape)
        return cls(structure, torch.from_numpy(part.data - 1)[structure.order])

    def pattern(self, values: Tensor) -> Pattern:
        """Return the matrix, from the values [nnz] of the whole."""
        return Pattern(self.structure.crow, self.structure.col, values[self.place], self.structure.shape)

    def transposed(self, values: Tensor) -> Pattern:
        """Return its transpose."""
        structure = self.structure
        own = values[self.place][structure.transpose_order]
        return Pattern(structure.transpose_crow, structure.transpose_col, own, structure.shape[::-1])


class SeenEpoch(BareEpoch):
    """The same epoch on the receptive fields of training and of scored nodes.

    Random bits are drawn for all rows, so that results are the same.
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
