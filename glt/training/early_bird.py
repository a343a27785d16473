"""The early-bird criterion: a search can end when its binary masks have settled (GEBT, You et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.masks import BoolArray, Masks, lowest
from glt.training.network import Network
from glt.training.problem import part

DISTANCES = "distances"


class EarlyBird:
    """Compares the binary masks that a search would give after each epoch with those of the epoch before.

    A distance is the share of the surviving edge entries whose binary mask differs plus that of the weights, each mask
    cut to what a round keeps. The criterion is met when the largest of the last `patience` distances is below
    `threshold`. It does not tell masks that have settled from masks that have not moved yet.
    """

    def __init__(self, masks: Masks, removed: Mapping[str, int], threshold: float, patience: int) -> None:
        """Take the masks before the search, and how many entries of each kind (edges, weights) it will remove."""
        kept = masks.weights.keep
        self._weights = list(kept)
        self._survivors = np.flatnonzero(np.concatenate([np.empty(0, bool), *(keep.ravel() for keep in kept.values())]))
        self._sizes = {"edges": masks.edges.kept, "weights": self._survivors.size}
        self._removed = dict(removed)
        self._threshold = threshold
        self._cuts: dict[str, BoolArray] = {}
        self._distances = np.full(patience, math.inf)

    @property
    def is_met(self) -> bool:
        """Whether the masks have settled."""
        return bool(self._distances.max() < self._threshold)

    def compare(self, network: Network) -> None:
        """Cut the soft masks of an epoch, and compare them with the cut of the last one."""
        cuts = {
            kind: lowest(values, self._removed[kind])
            for kind, values in self._magnitudes(network).items()
            if values.size
        }
        known = self._cuts.keys() == cuts.keys()
        distance = sum(float(np.mean(cut != self._cuts[kind])) for kind, cut in cuts.items()) if known else math.inf
        self._distances = np.append(self._distances[1:], distance)
        self._cuts = cuts

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what later epochs depend on, as arrays."""
        return {DISTANCES: self._distances, **self._cuts}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state`; raise Mismatch if it is of another search."""
        self._distances = part(DISTANCES, self._distances.shape, arrays, np.float64).copy()
        known = [kind for kind in self._sizes if kind in arrays]
        self._cuts = {kind: part(kind, (self._sizes[kind],), arrays, np.bool_).copy() for kind in known}

    def _magnitudes(self, network: Network) -> dict[str, NDArray[np.float32]]:
        soft, found = network.soft, dict[str, NDArray[np.float32]]()
        assert soft is not None
        if soft.edges is not None:
            found["edges"] = soft.edges.detach().abs().cpu().numpy()
        if soft.weights:
            flat = np.concatenate([soft.weights[name].detach().cpu().numpy().ravel() for name in self._weights])
            found["weights"] = np.abs(flat[self._survivors])
        return found
