"""A network on a graph under masks: binary ones for retraining, soft ones for search."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.data.graph import IntArray
from glt.masks import Masks
from glt.sparse import Dropout, Features, GraphOperator
from glt.training.narrowing import EDGES, Survivors
from glt.training.problem import Arrays, Problem
from glt.training.stage_state import Mismatch, part
from glt.training.tasks import TrainingPass

WEIGHTS = "weights"
# So many masks of a tensor say whether half of them may have reached zero: within 0.8 points, and ten times that is
# allowed for.
SAMPLE, SAMPLING = 4096, 0.08


@dataclass(frozen=True, eq=False)
class SoftMasks:
    """Trainable mask values: [survivors] for edges, full-shape tensors (zero where pruned) for weights."""

    edges: Tensor
    weights: dict[str, Tensor]

    @classmethod
    def around_one(cls, masks: Masks, noise: float, generator: np.random.Generator, device: str) -> SoftMasks:
        """Start every survivor at 1 + U(-noise, noise); the noise breaks ties."""

        def start(keep: NDArray[np.bool_]) -> Tensor:
            values = 1 + noise * generator.uniform(-1, 1, keep.shape)
            return torch.from_numpy((values * keep).astype(np.float32)).to(device).requires_grad_()

        edges = start(np.ones(masks.edges.kept, dtype=np.bool_))
        return cls(edges, {name: start(keep) for name, keep in masks.weights.keep.items()})

    def parameters(self) -> list[Tensor]:
        """Return all trainable tensors."""
        return [self.edges, *self.weights.values()]


@dataclass(frozen=True, eq=False)
class View:
    """What a pass sees: an operator, the features it starts from, and the nodes whose outputs it gives (None: all)."""

    operator: GraphOperator
    features: Features
    nodes: Tensor | None = None


class Network:
    """Weights theta, masked, on the surviving graph.

    Pruned weights start at zero and get no gradient (their mask is zero), so momentum and weight decay leave them
    exactly there; pruned edges are not in the operator at all, unless the model keeps them on purpose. A search that
    removes entries as it goes says in `alive` which ones still count.
    """

    def __init__(self, problem: Problem, masks: Masks, theta: Arrays, soft: SoftMasks | None = None) -> None:
        self.problem = problem
        self.soft = soft
        self.alive: Survivors | None = None
        self._searched = _searched(masks, problem.device) if soft else {}
        self._samples = {name: _sample(found) for name, found in self._searched.items()}
        keeps_pruned = problem.model.keeps_pruned_edges(problem.config) is not None
        edges = problem.full_masks().edges if keeps_pruned else masks.edges
        self.operator = GraphOperator(problem.graph, edges, problem.device)
        clusters = problem.model.clusters(problem.config)
        restarts = soft and clusters and clusters.fresh_masks
        self._first_edges = soft.edges.detach().clone() if soft and restarts else None
        self._places = torch.from_numpy(np.flatnonzero(masks.edges.keep)).to(problem.device) if keeps_pruned else None
        self._binary = {} if soft else _binary_factors(masks, problem.device)
        self.theta = {name: self._start(name, value, masks) for name, value in theta.items()}

    def stem(self, weights: Mapping[str, Tensor], view: View | None = None, order: Tensor | None = None) -> Any:
        """Run the part of the pass that holds no randomness, on the whole graph or a view of it.

        With an `order`, node i of those has the features of node order[i].
        """
        problem, view = self.problem, view or View(self.operator, self.problem.features)
        features = view.features if order is None else view.features.shuffled(order)
        return problem.model.stem(view.operator, self._edge_values(), features, weights, problem.config)

    def part(self, operator: GraphOperator) -> View:
        """Return the view of one of the operator's parts."""
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
        """Finish the pass, on the whole graph or a view, and return it as the task's objective sees it."""

        def shuffled(order: Tensor) -> Tensor:
            return self.head(self.stem(weights, view, order), weights, dropout)

        nodes = None if view is None else view.nodes
        return TrainingPass(self.head(stem, weights, dropout), weights, generator, shuffled, batch, nodes)

    def effective_weights(self) -> dict[str, Tensor]:
        """Return mask * theta, differentiable in theta and in soft masks."""
        factors: Mapping[str, Tensor] = self.soft.weights if self.soft else self._binary
        if self.soft and self.alive:
            factors = self.alive.weight_factors(self.soft)
        return {name: value * factors[name] if name in factors else value for name, value in self.theta.items()}

    def add_penalty_gradient(self, gamma_graph: float, gamma_weight: float) -> None:
        """Add the gradient of gamma1 |m_g|_1 + gamma2 |m_theta|_1 (paper, equation 3) to the soft masks'."""
        if self.soft is None:
            return
        rates = [gamma_graph, *[gamma_weight] * len(self.soft.weights)]
        for mask, rate in zip(self.soft.parameters(), rates, strict=True):
            if mask.grad is not None:
                mask.grad.add_(mask.detach().sign(), alpha=rate)
        if self.alive:
            self.alive.still(self.soft)

    def shares_at_zero(self) -> dict[str, float]:
        """Return the share at or below zero of the soft masks of surviving edge entries, and of surviving weights.

        Empty without soft masks.
        """
        return {kind: _at_zero([self._soft_and_alive(name) for name in names]) for kind, names in self._kinds().items()}

    def have_reached_zero(self, share: float, known: Collection[str] = ()) -> list[str]:
        """Return the kinds of soft masks (edges, weights), `known` ones left out, with this share at or below zero.

        A sample decides whether all of them are looked at: that would take a fiftieth of an epoch on Cora.
        """
        found = []
        for kind, names in self._kinds().items():
            if kind not in known:
                positive, count = _summed([self._sampled(name) for name in names])
                near = positive <= (1 - share + SAMPLING) * count
                if near and _at_zero([self._soft_and_alive(name) for name in names]) >= share:
                    found.append(kind)
        return found

    def _kinds(self) -> dict[str, list[str]]:
        return {EDGES: [EDGES], WEIGHTS: list(self.soft.weights)} if self.soft else {}

    def _soft_and_alive(self, name: str) -> tuple[Tensor, Tensor]:
        """Return the soft masks of a tensor, and whether each still counts."""
        assert self.soft is not None
        if self.alive:
            alive = self.alive.edges if name == EDGES else self.alive.weights[name]
        else:
            alive = self._searched[name]
        return self.soft.edges if name == EDGES else self.soft.weights[name], alive

    def _sampled(self, name: str) -> tuple[int, int]:
        """Return about how many of a tensor's soft masks are above zero, and how many count."""
        (values, alive), (places, step) = self._soft_and_alive(name), self._samples[name]
        positive = values.detach().reshape(-1).index_select(0, places) > 0
        if not self.alive:
            return step * int(torch.count_nonzero(positive)), step * places.numel()
        counts = alive.reshape(-1).index_select(0, places)
        return step * int(torch.count_nonzero(positive & counts)), step * int(torch.count_nonzero(counts))

    def narrow(self, edges: int, weights: int) -> None:
        """Leave so many edge entries and weights in a search, those with the largest soft masks."""
        if self.soft and self.alive:
            self.alive.narrow(self.soft, edges, weights)

    @torch.no_grad()
    def restart_edges(self, values: Tensor) -> None:
        """Put the soft edge masks of some surviving entries back to where they started."""
        if self.soft is not None and self._first_edges is not None:
            self.soft.edges[values] = self._first_edges[values]

    def snapshot(self) -> dict[str, Tensor]:
        """Copy all trainable tensors, so that the best epoch can be kept."""
        return {name: tensor.clone() for name, tensor in self.state().items()}

    def state(self) -> dict[str, Tensor]:
        """Return every tensor that training changes, not copied."""
        return {name: tensor.detach() for name, tensor in self.trainable().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set every tensor that training changes to what `state` gave; raises Mismatch for other names or shapes."""
        for name, values in self.fitting(arrays).items():
            self.trainable()[name].data.copy_(values)

    def fitting(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
        """Return arrays as tensors of their own; raises Mismatch unless they have the names and shapes of `state`."""
        known = self.trainable()
        if arrays.keys() != known.keys():
            raise Mismatch(f"tensors {', '.join(sorted(arrays)) or 'none'} where {', '.join(sorted(known))} belong")
        found = {name: part(name, tuple(tensor.shape), arrays) for name, tensor in known.items()}
        return {name: torch.from_numpy(values.copy()).to(self.problem.device) for name, values in found.items()}

    def trainable(self) -> dict[str, Tensor]:
        """Return the parameters by name: those of theta, then the soft masks."""
        named = {f"theta/{name}": tensor for name, tensor in self.theta.items()}
        if self.soft:
            named["mask/edges"] = self.soft.edges
            named.update({f"mask/{name}": tensor for name, tensor in self.soft.weights.items()})
        return named

    def nodes(self, numbers: IntArray) -> Tensor:
        """Return numbers of nodes as a tensor on the network's device."""
        return torch.from_numpy(numbers).to(self.problem.device)

    def _edge_values(self) -> Tensor | None:
        values = self.soft.edges if self.soft else None
        if self.soft and self.alive:
            values = self.alive.edge_values(self.soft)
        if self._places is None:
            return values
        survivors = torch.ones(self._places.shape, device=self._places.device) if values is None else values
        return survivors.new_zeros(self.operator.num_values).index_put((self._places,), survivors)

    def _start(self, name: str, value: NDArray[np.float32], masks: Masks) -> Tensor:
        keep = masks.weights.keep.get(name)
        start = value.copy() if keep is None else value * keep
        return torch.from_numpy(start).to(self.problem.device).requires_grad_()


def _searched(masks: Masks, device: str) -> dict[str, Tensor]:
    """Say of each soft mask, by tensor, whether its entry is among those searched; of edges these are all."""
    edges = torch.ones(masks.edges.kept, dtype=torch.bool, device=device)
    return {EDGES: edges, **{name: torch.from_numpy(keep).to(device) for name, keep in masks.weights.keep.items()}}


def _sample(searched: Tensor) -> tuple[Tensor, int]:
    """Return the places of some thousand of the entries that are searched, and of how many each is one."""
    places = torch.nonzero(searched.reshape(-1)).squeeze(1)
    step = max(places.numel() // SAMPLE, 1)
    return places[::step].clone(), step


def _summed(counts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(one for one, _ in counts), sum(other for _, other in counts)


def _at_zero(parts: Sequence[tuple[Tensor, Tensor]]) -> float:
    """Return the share at or below zero of soft masks, given as values and whether each counts."""
    count = sum(int(counts.sum()) for _, counts in parts)
    positive = sum(int(torch.count_nonzero((values.detach() > 0) & counts)) for values, counts in parts)
    return 1 - positive / count if count else 0.0


def _binary_factors(masks: Masks, device: str) -> dict[str, Tensor]:
    """Return 0/1 factors of the tensors that have lost something; a factor of ones would only cost time."""
    pruned = {name: keep for name, keep in masks.weights.keep.items() if not keep.all()}
    return {name: torch.from_numpy(keep.astype(np.float32)).to(device) for name, keep in pruned.items()}
