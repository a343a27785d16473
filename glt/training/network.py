"""A network under masks: binary ones for retraining, soft ones for search.

`Network` multiplies weights theta by their masks and hides pruned edges; `SoftMasks` are the trainable values of a
search. A search that prunes while training has `Survivors` (entries left) and a `Narrowing` (their number by epoch).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.datasets.graph import IntArray
from glt.masks import EdgeMask, Masks, WeightMask, lowest
from glt.sparse import Dropout, Features, GraphOperator
from glt.training.problem import Arrays, Mismatch, Problem, part
from glt.training.tasks import TrainingPass

EDGES = "edges"
WEIGHTS = "weights"
# Size of the sample that estimates the share of masks at zero, and its tolerance: ten standard errors.
SAMPLE, SAMPLING = 4096, 0.08


@dataclass(frozen=True, eq=False)
class SoftMasks:
    """Trainable mask values: [survivors] for edges, full-shape tensors (zero where pruned) for weights.

    A search that removes no edges has none for edges, one that removes no weights none for weights.
    """

    edges: Tensor | None
    weights: dict[str, Tensor]

    @classmethod
    def around_one(
        cls,
        masks: Masks,
        noise: float,
        generator: np.random.Generator,
        device: str,
        kinds: Collection[str] = (EDGES, WEIGHTS),
    ) -> SoftMasks:
        """Start every survivor of these kinds at 1 + U(-noise, noise), which breaks ties."""

        def start(keep: NDArray[np.bool_]) -> Tensor:
            values = 1 + noise * generator.uniform(-1, 1, keep.shape)
            return torch.from_numpy((values * keep).astype(np.float32)).to(device).requires_grad_()

        # All are drawn, so that the values of one kind do not depend on the other.
        edges = start(np.ones(masks.edges.kept, dtype=np.bool_))
        weights = {name: start(keep) for name, keep in masks.weights.keep.items()}
        return cls(edges if EDGES in kinds else None, weights if WEIGHTS in kinds else {})

    def named(self) -> dict[str, Tensor]:
        """Return all trainable tensors by name: `edges`, then those of the weights."""
        return {**({} if self.edges is None else {EDGES: self.edges}), **self.weights}


class Survivors:
    """The entries of soft masks that are left: `edges` [entries], and `weights` by tensor.

    Removed entries never return: their value is 0 in every pass, without gradient.
    """

    def __init__(self, masks: Masks, device: str) -> None:
        self._start = masks
        self._device = device
        self.edges: Tensor
        self.weights: dict[str, Tensor]
        self._take(masks)

    def masks(self) -> Masks:
        """Return the survivors as binary masks."""
        keep = self._start.edges.keep.copy()
        keep[keep] = self.edges.cpu().numpy()
        weights = WeightMask({name: alive.cpu().numpy() for name, alive in self.weights.items()})
        return Masks(EdgeMask(self._start.edges.kind, keep), weights)

    def narrow(self, soft: SoftMasks, edges: int, weights: int) -> None:
        """Remove the lowest magnitudes until `edges` and `weights` entries remain, ties by index."""
        left = self.masks()
        kept_edges, kept_weights = left.edges, left.weights
        if soft.edges is not None:
            edge_scores = soft.edges.detach()[self.edges].abs().cpu().numpy()
            kept_edges = left.edges.prune_exactly(edge_scores, left.edges.kept - edges)
        if soft.weights:
            weight_scores = {name: values.detach().abs().cpu().numpy() for name, values in soft.weights.items()}
            kept_weights = left.weights.prune_exactly(weight_scores, left.weights.kept - weights)
        self._take(Masks(kept_edges, kept_weights))

    def still(self, soft: SoftMasks) -> None:
        """Set the gradients of removed entries to zero."""
        for name, values in soft.named().items():
            if values.grad is not None:
                values.grad.mul_(self.left(name))

    def left(self, name: str) -> Tensor:
        """Mark the entries left of one soft mask."""
        return self.edges if name == EDGES else self.weights[name]

    def state(self) -> dict[str, NDArray[np.bool_]]:
        """Return a boolean for every entry, from which a search can resume."""
        return {name: alive.cpu().numpy() for name, alive in {EDGES: self.edges, **self.weights}.items()}

    def restore(self, state: Mapping[str, NDArray[np.bool_]]) -> None:
        """Resume from a `state`; raise Mismatch if it is of other masks."""
        known = self.state()
        found = {name: part(name, alive.shape, state, np.bool_) for name, alive in known.items()}
        tensors = {name: torch.from_numpy(values.copy()).to(self._device) for name, values in found.items()}
        self.edges = tensors.pop(EDGES)
        self.weights = tensors

    def _take(self, masks: Masks) -> None:
        self.edges = torch.from_numpy(masks.edges.keep[self._start.edges.keep]).to(self._device)
        kept = masks.weights.keep
        self.weights = {name: torch.from_numpy(keep.copy()).to(self._device) for name, keep in kept.items()}


@dataclass(frozen=True)
class Narrowing:
    """First and last number of edge entries and of weights in a search that prunes."""

    edges: tuple[int, int]
    weights: tuple[int, int]

    def after(self, epoch: int, epochs: int) -> tuple[int, int]:
        """Return how many edge entries and weights remain after `epoch` of `epochs` (from 1).

        Slices are equal up to rounding; the last ends exactly at the target.

        >>> [Narrowing((10, 3), (8, 8)).after(epoch, 3) for epoch in (1, 2, 3)]
        [(8, 8), (6, 8), (3, 8)]
        """
        edges, weights = (start - (start - end) * epoch // epochs for start, end in (self.edges, self.weights))
        return edges, weights


@dataclass(frozen=True, eq=False)
class View:
    """Input of a pass: operator, features, and the nodes of its outputs (None: all)."""

    operator: GraphOperator
    features: Features
    nodes: Tensor | None = None


class Network:
    """Masked weights theta on the surviving graph.

    Pruned weights start at zero and get no gradient, so momentum and weight decay leave them there. Pruned edges are
    not in the operator, unless the model keeps them on purpose. `alive` is set by a search that prunes.
    """

    def __init__(self, problem: Problem, masks: Masks, theta: Arrays, soft: SoftMasks | None = None) -> None:
        self.problem = problem
        self.soft = soft
        self.alive: Survivors | None = None
        self._searched = _searched(masks, soft, problem.device) if soft else {}
        self._samples = {name: _sample(found) for name, found in self._searched.items()}
        keeps_pruned = problem.model.keeps_pruned_edges(problem.config) is not None
        edges = problem.full_masks().edges if keeps_pruned else masks.edges
        self.operator = GraphOperator(problem.graph, edges, problem.device)
        clusters = problem.model.clusters(problem.config)
        restarts = soft and clusters and clusters.fresh_masks
        first_edges = soft.edges if soft and restarts else None
        self._first_edges = None if first_edges is None else first_edges.detach().clone()
        self._places = torch.from_numpy(np.flatnonzero(masks.edges.keep)).to(problem.device) if keeps_pruned else None
        # Factors of ones would only cost time.
        searches_weights = soft is not None and soft.weights
        pruned = {} if searches_weights else {name: keep for name, keep in masks.weights.keep.items() if not keep.all()}
        self._prunable = tuple(masks.weights.keep)
        self._binary = {
            name: torch.from_numpy(keep.astype(np.float32)).to(problem.device) for name, keep in pruned.items()
        }
        self.theta = {}
        for name, value in theta.items():
            keep = masks.weights.keep.get(name)
            start = torch.from_numpy(value.copy() if keep is None else value * keep)
            self.theta[name] = start.to(problem.device).requires_grad_()

    def stem(self, weights: Mapping[str, Tensor], view: View | None = None, order: Tensor | None = None) -> Any:
        """Run the deterministic first part of the pass, on the whole graph or a view.

        With an `order`, node i has the features of node order[i].
        """
        problem, view = self.problem, view or View(self.operator, self.problem.features)
        features = view.features if order is None else view.features.shuffled(order)
        return problem.model.stem(view.operator, self._edge_values(), features, weights, problem.config)

    def part(self, operator: GraphOperator) -> View:
        """Return the view of a part of the operator."""
        nodes = self.nodes(operator.nodes)
        return View(operator, self.problem.features.of_nodes(nodes), nodes)

    def head(self, stem: Any, weights: Mapping[str, Tensor], dropout: Dropout) -> Tensor:
        """Finish the pass."""
        return self.problem.model.head(stem, weights, dropout, self.problem.config)

    def step(
        self,
        stem: Any,
        weights: Mapping[str, Tensor],
        dropout: Dropout,
        generator: np.random.Generator,
        batch: Any = None,
        view: View | None = None,
    ) -> TrainingPass:
        """Finish the pass and return the input of the task's loss."""

        def shuffled(order: Tensor) -> Tensor:
            return self.head(self.stem(weights, view, order), weights, dropout)

        nodes = None if view is None else view.nodes
        return TrainingPass(self.head(stem, weights, dropout), weights, generator, shuffled, batch, nodes)

    def effective_weights(self) -> dict[str, Tensor]:
        """Return mask * theta, differentiable in theta and soft masks."""
        factors = (self.soft and self.soft.weights) or self._binary
        if self.soft and self.alive:
            factors = {name: values * self.alive.weights[name] for name, values in factors.items()}
        return {name: value * factors[name] if name in factors else value for name, value in self.theta.items()}

    def add_penalty_gradient(self, gamma_graph: float, gamma_weight: float) -> None:
        """Add the gradient of gamma1 |m_g|_1 + gamma2 |m_theta|_1 (paper, equation 3)."""
        if self.soft is None:
            return
        for name, mask in self.soft.named().items():
            if mask.grad is not None:
                mask.grad.add_(mask.detach().sign(), alpha=gamma_graph if name == EDGES else gamma_weight)
        if self.alive:
            self.alive.still(self.soft)

    def shares_at_zero(self) -> dict[str, float]:
        """Return the share of soft masks at or below zero, by kind; empty without any."""
        return {kind: self._share_at_zero(names) for kind, names in self._kinds().items()}

    def have_reached_zero(self, share: float, known: Collection[str] = ()) -> list[str]:
        """Return the kinds of soft masks, except `known`, with this share at or below zero.

        All masks are counted only if a sample suggests it: counting takes 2 % of an epoch on Cora.
        """
        found = []
        for kind, names in self._kinds().items():
            if kind not in known:
                positive, count = map(sum, zip(*map(self._sampled, names), strict=True))
                if positive <= (1 - share + SAMPLING) * count and self._share_at_zero(names) >= share:
                    found.append(kind)
        return found

    def _kinds(self) -> dict[str, list[str]]:
        if self.soft is None:
            return {}
        names = {EDGES: [] if self.soft.edges is None else [EDGES], WEIGHTS: list(self.soft.weights)}
        return {kind: of_kind for kind, of_kind in names.items() if of_kind}

    def _share_at_zero(self, names: Sequence[str]) -> float:
        parts = [self._soft_and_alive(name) for name in names]
        count = sum(int(alive.sum()) for _, alive in parts)
        positive = sum(int(torch.count_nonzero((values.detach() > 0) & alive)) for values, alive in parts)
        return 1 - positive / count if count else 0.0

    def _soft_and_alive(self, name: str) -> tuple[Tensor, Tensor]:
        """Return a tensor's soft masks, and which of them are left."""
        assert self.soft is not None
        return self.soft.named()[name], self.alive.left(name) if self.alive else self._searched[name]

    def _sampled(self, name: str) -> tuple[int, int]:
        """Estimate how many of a tensor's soft masks are positive, and how many are left."""
        (values, alive), (places, step) = self._soft_and_alive(name), self._samples[name]
        positive = values.detach().reshape(-1).index_select(0, places) > 0
        if not self.alive:
            return step * int(torch.count_nonzero(positive)), step * places.numel()
        counts = alive.reshape(-1).index_select(0, places)
        return step * int(torch.count_nonzero(positive & counts)), step * int(torch.count_nonzero(counts))

    def narrow(self, edges: int, weights: int) -> None:
        """Keep the given numbers of edge entries and weights with the largest soft masks."""
        if self.soft and self.alive:
            self.alive.narrow(self.soft, edges, weights)

    @torch.no_grad()
    def restart_edges(self, values: Tensor) -> None:
        """Reset the soft masks of some surviving edge entries to their start."""
        if self.soft is not None and self.soft.edges is not None and self._first_edges is not None:
            self.soft.edges[values] = self._first_edges[values]

    @torch.no_grad()
    def keep_largest_weights(self, count: int) -> None:
        """Set all but the `count` prunable weights of largest magnitude to 0, jointly over all tensors, ties by index.

        The projection on an l0 ball (TEDDY, Seo et al. 2024). Adam's moments stay, so that a weight can return.
        """
        tensors = [self.theta[name] for name in self._prunable]
        magnitudes = np.concatenate([tensor.abs().cpu().numpy().ravel() for tensor in tensors])
        ends = np.cumsum([tensor.numel() for tensor in tensors])[:-1]
        smallest = np.split(lowest(magnitudes, magnitudes.size - count), ends)
        for tensor, gone in zip(tensors, smallest, strict=True):
            tensor.masked_fill_(torch.from_numpy(gone).to(tensor.device).view_as(tensor), 0.0)

    def snapshot(self) -> dict[str, Tensor]:
        """Copy all trainable tensors."""
        return {name: tensor.clone() for name, tensor in self.state().items()}

    def state(self) -> dict[str, Tensor]:
        """Return all trainable tensors, not copied."""
        return {name: tensor.detach() for name, tensor in self.trainable().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set all trainable tensors from a `state`; raise Mismatch for other names or shapes."""
        for name, values in self.fitting(arrays).items():
            self.trainable()[name].data.copy_(values)

    def fitting(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
        """Return arrays as tensors; raise Mismatch unless names and shapes fit `state`."""
        known = self.trainable()
        if arrays.keys() != known.keys():
            raise Mismatch(f"tensors are {', '.join(sorted(arrays)) or 'none'} instead of {', '.join(sorted(known))}")
        found = {name: part(name, tuple(tensor.shape), arrays) for name, tensor in known.items()}
        return {name: torch.from_numpy(values.copy()).to(self.problem.device) for name, values in found.items()}

    def trainable(self) -> dict[str, Tensor]:
        """Return the parameters by name: theta, then soft masks."""
        named = {f"theta/{name}": tensor for name, tensor in self.theta.items()}
        if self.soft:
            named.update({f"mask/{name}": tensor for name, tensor in self.soft.named().items()})
        return named

    def nodes(self, numbers: IntArray) -> Tensor:
        """Return node numbers as a tensor on the network's device."""
        return torch.from_numpy(numbers).to(self.problem.device)

    def _edge_values(self) -> Tensor | None:
        values = self.soft.edges if self.soft else None
        if values is not None and self.alive:
            values = values * self.alive.edges
        if self._places is None:
            return values
        survivors = torch.ones(self._places.shape, device=self._places.device) if values is None else values
        return survivors.new_zeros(self.operator.num_values).index_put((self._places,), survivors)


def _searched(masks: Masks, soft: SoftMasks, device: str) -> dict[str, Tensor]:
    """Mark the searched entries of soft masks, by tensor."""
    keep = {EDGES: np.ones(masks.edges.kept, dtype=np.bool_), **masks.weights.keep}
    return {name: torch.from_numpy(keep[name]).to(device) for name in soft.named()}


def _sample(searched: Tensor) -> tuple[Tensor, int]:
    """Return the places of a sample of searched entries, and its step."""
    places = torch.nonzero(searched.reshape(-1)).squeeze(1)
    step = max(places.numel() // SAMPLE, 1)
    return places[::step].clone(), step
