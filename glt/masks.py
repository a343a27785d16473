"""Binary masks over edges and weights that check themselves and prune exactly k entries.

Sparsity is the share REMOVED. Scores are plain float arrays; a mask holds only 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from glt.config import EdgeMaskKind

BoolArray = NDArray[np.bool_]

# Counts are computed up to a multiple of this, so that all rounds of a run share one cached result.
BLOCK = 64


def prune_count(rate: float, remaining: int) -> int:
    """Return floor(rate * remaining), exact for the decimal rate.

    >>> prune_count(0.05, 10_556), prune_count(0.1, 30)
    (527, 3)
    """
    return int(Fraction(repr(rate)) * remaining)


def remaining_after(rate: float, total: int, rounds: int) -> int:
    """Return the entries left of `total` after `rounds` rounds, each removing `rate`.

    >>> remaining_after(0.05, 10_556, 4)
    8600
    """
    return _course(rate, total, -(-rounds // BLOCK) * BLOCK)[rounds]


@lru_cache(maxsize=256)
def _course(rate: float, total: int, rounds: int) -> tuple[int, ...]:
    """Return what is left after 0 to `rounds` rounds."""
    steps = accumulate(range(rounds), lambda left, _: left - prune_count(rate, left), initial=total)
    return tuple(steps)


def lowest(scores: NDArray[np.floating], count: int) -> BoolArray:
    """Mark the `count` lowest scores, ties by index; raise ValueError on NaN.

    >>> lowest(np.array([2.0, 1.0, 1.0, 1.0]), 2).tolist()
    [False, True, True, False]
    """
    if np.isnan(scores).any():
        raise ValueError("scores contain NaN")
    if count == 0:
        return np.zeros(scores.shape, dtype=np.bool_)
    bound = np.partition(scores, count - 1)[count - 1]
    marked: BoolArray = scores < bound
    marked[np.flatnonzero(scores == bound)[: count - np.count_nonzero(marked)]] = True
    return marked


def as_binary(values: NDArray[np.generic]) -> BoolArray:
    """Return `values` as booleans; raise ValueError unless all are exactly 0 or 1."""
    array = np.asarray(values)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError("a mask must contain only 0 and 1")
    return np.array(array, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class EdgeMask:
    """The surviving entries of the edge index.

    `keep` has E values if `kind` is "undirected", 2E if "directed": first every edge (i, j) as the entry that carries
    the message from i to j, then every edge as (j, i).
    """

    kind: EdgeMaskKind
    keep: BoolArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", as_binary(self.keep))
        if self.keep.ndim != 1 or (self.kind == "directed" and self.keep.size % 2):
            raise ValueError("a directed edge mask must be a vector with two values per edge")

    @classmethod
    def full(cls, kind: EdgeMaskKind, num_edges: int) -> EdgeMask:
        """Return the mask that keeps every entry of `num_edges` undirected edges."""
        return cls(kind, np.ones(num_edges * (2 if kind == "directed" else 1), dtype=np.bool_))

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return self.keep.size // 2 if self.kind == "directed" else self.keep.size

    @property
    def kept(self) -> int:
        """Number of surviving entries."""
        return int(self.keep.sum())

    @property
    def sparsity(self) -> float:
        """Share of entries removed (0 for a graph without edges)."""
        return 1 - self.kept / self.keep.size if self.keep.size else 0.0

    def directions(self) -> BoolArray:
        """Return survivors [2, E]: row 0 the entries (i, j), row 1 the entries (j, i)."""
        return self.keep.reshape(2, -1) if self.kind == "directed" else np.stack([self.keep, self.keep])

    def either_way(self) -> BoolArray:
        """Mark the undirected edges [E] that survive in at least one direction."""
        return np.asarray(self.directions().any(axis=0))

    def both_ways(self) -> BoolArray:
        """Mark the undirected edges [E] that survive in both directions."""
        return np.asarray(self.directions().all(axis=0))

    def prune(self, scores: NDArray[np.floating], rate: float) -> EdgeMask:
        """Remove exactly floor(rate * kept) survivors, lowest `scores` (one per survivor) first."""
        return self.prune_exactly(scores, prune_count(rate, self.kept))

    def prune_exactly(self, scores: NDArray[np.floating], count: int) -> EdgeMask:
        """Remove exactly `count` survivors with the lowest `scores` (one per survivor), ties by index."""
        if scores.shape != (self.kept,):
            raise ValueError(f"{scores.shape} scores for {self.kept} surviving entries")
        keep = self.keep.copy()
        survivors = np.flatnonzero(keep)
        keep[survivors[lowest(scores, count)]] = False
        return EdgeMask(self.kind, keep)

    def within(self, other: EdgeMask) -> bool:
        """Return whether every entry kept here is kept in `other` too (nesting)."""
        return self.kind == other.kind and bool((self.keep <= other.keep).all())


@dataclass(frozen=True, eq=False)
class WeightMask:
    """The surviving entries of each prunable tensor; one threshold for all tensors."""

    keep: Mapping[str, BoolArray]

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", {name: as_binary(self.keep[name]) for name in sorted(self.keep)})

    @classmethod
    def full(cls, shapes: Mapping[str, tuple[int, ...]]) -> WeightMask:
        """Return the mask that keeps every entry of tensors with these shapes."""
        return cls({name: np.ones(shape, dtype=np.bool_) for name, shape in shapes.items()})

    @property
    def total(self) -> int:
        """Number of prunable weights."""
        return sum(keep.size for keep in self.keep.values())

    @property
    def kept(self) -> int:
        """Number of surviving weights."""
        return sum(int(keep.sum()) for keep in self.keep.values())

    @property
    def sparsity(self) -> float:
        """Share of prunable weights removed."""
        return 1 - self.kept / self.total if self.total else 0.0

    def prune(self, scores: Mapping[str, NDArray[np.floating]], rate: float) -> WeightMask:
        """Remove exactly floor(rate * kept) survivors with the lowest `scores`.

        Scores have the full shape of each tensor, unlike those of edges, which have one value per survivor.
        """
        return self.prune_exactly(scores, prune_count(rate, self.kept))

    def prune_exactly(self, scores: Mapping[str, NDArray[np.floating]], count: int) -> WeightMask:
        """Remove exactly `count` survivors with the lowest `scores` (full shape), ties by tensor name, then index."""
        flat = np.concatenate([self.keep[name].ravel() for name in self.keep])
        values = np.concatenate([scores[name].ravel() for name in self.keep])
        survivors = np.flatnonzero(flat)
        flat[survivors[lowest(values[survivors], count)]] = False
        parts = np.split(flat, np.cumsum([keep.size for keep in self.keep.values()])[:-1])
        return WeightMask({n: p.reshape(k.shape) for (n, k), p in zip(self.keep.items(), parts, strict=True)})

    def within(self, other: WeightMask) -> bool:
        """Return whether every weight kept here is kept in `other` too (nesting)."""
        return self.keep.keys() == other.keep.keys() and all(
            bool((self.keep[name] <= other.keep[name]).all()) for name in self.keep
        )


@dataclass(frozen=True, eq=False)
class Masks:
    """A round's masks: m_g over edges and m_theta over weights (paper, section 3.2)."""

    edges: EdgeMask
    weights: WeightMask

    def within(self, other: Masks) -> bool:
        """Return whether both masks are nested in the other's."""
        return self.edges.within(other.edges) and self.weights.within(other.weights)

    def alike(self, other: Masks) -> bool:
        """Return whether both have the same entries: kind, names and shapes."""
        shapes = [{name: keep.shape for name, keep in masks.weights.keep.items()} for masks in (self, other)]
        same_edges = self.edges.kind == other.edges.kind and self.edges.keep.shape == other.edges.keep.shape
        return same_edges and shapes[0] == shapes[1]
