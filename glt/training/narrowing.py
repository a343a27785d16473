"""A search that removes entries as it goes: which ones still count, and how many do after each epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.masks import EdgeMask, Masks, WeightMask
from glt.training.stage_state import part

if TYPE_CHECKING:
    from glt.training.network import SoftMasks

EDGES = "edges"


@dataclass(frozen=True)
class Narrowing:
    """The numbers of entries in edge mask and weight masks that a search starts from and ends with."""

    edges: tuple[int, int]
    weights: tuple[int, int]

    def after(self, epoch: int, epochs: int) -> tuple[int, int]:
        """Return how many edge entries and weights are left after `epoch` of `epochs` (from 1).

        Slices are equal but for rounding, and the last one ends exactly where it has to.

        >>> [Narrowing((10, 3), (8, 8)).after(epoch, 3) for epoch in (1, 2, 3)]
        [(8, 8), (6, 8), (3, 8)]
        """
        edges, weights = (start - (start - end) * epoch // epochs for start, end in (self.edges, self.weights))
        return edges, weights


class Survivors:
    """Which entries of soft masks still count: `edges` [entries] and `weights`, by tensor; what is gone never returns.

    An entry that is gone has the value 0 in every pass and no gradient, whatever its soft value is.
    """

    def __init__(self, masks: Masks, device: str) -> None:
        self._start = masks
        self._device = device
        self.edges: Tensor
        self.weights: dict[str, Tensor]
        self._take(masks)

    def edge_values(self, soft: SoftMasks) -> Tensor:
        """Return the soft values of edges, 0 for those that are gone."""
        return soft.edges * self.edges

    def weight_factors(self, soft: SoftMasks) -> dict[str, Tensor]:
        """Return the soft values of weights, 0 for those that are gone."""
        return {name: values * self.weights[name] for name, values in soft.weights.items()}

    def masks(self) -> Masks:
        """Return what is left, as binary masks."""
        keep = self._start.edges.keep.copy()
        keep[keep] = self.edges.cpu().numpy()
        weights = WeightMask({name: alive.cpu().numpy() for name, alive in self.weights.items()})
        return Masks(EdgeMask(self._start.edges.kind, keep), weights)

    def narrow(self, soft: SoftMasks, edges: int, weights: int) -> None:
        """Remove the lowest magnitudes for good until so many edge entries and weights are left, ties by index."""
        left = self.masks()
        edge_scores = soft.edges.detach()[self.edges].abs().cpu().numpy()
        weight_scores = {name: values.detach().abs().cpu().numpy() for name, values in soft.weights.items()}
        self._take(
            Masks(
                left.edges.prune_exactly(edge_scores, left.edges.kept - edges),
                left.weights.prune_exactly(weight_scores, left.weights.kept - weights),
            )
        )

    def still(self, soft: SoftMasks) -> None:
        """Set the gradients of what is gone to zero."""
        for values, alive in zip(soft.parameters(), (self.edges, *self.weights.values()), strict=True):
            if values.grad is not None:
                values.grad.mul_(alive)

    def state(self) -> dict[str, NDArray[np.bool_]]:
        """Return, beside soft masks and weights, what a search has to know to go on: a boolean for every entry."""
        return {name: alive.cpu().numpy() for name, alive in {EDGES: self.edges, **self.weights}.items()}

    def restore(self, state: Mapping[str, NDArray[np.bool_]]) -> None:
        """Go on from a `state`; raises Mismatch when it is not one of these masks."""
        known = self.state()
        found = {name: part(name, alive.shape, state, np.bool_) for name, alive in known.items()}
        tensors = {name: torch.from_numpy(values.copy()).to(self._device) for name, values in found.items()}
        self.edges = tensors.pop(EDGES)
        self.weights = tensors

    def _take(self, masks: Masks) -> None:
        self.edges = torch.from_numpy(masks.edges.keep[self._start.edges.keep]).to(self._device)
        kept = masks.weights.keep
        self.weights = {name: torch.from_numpy(keep.copy()).to(self._device) for name, keep in kept.items()}
