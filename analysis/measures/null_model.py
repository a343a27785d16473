"""Random graphs of equal density: the reference for every measure of a pruned graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glt.errors import ConfigError
from glt.masks import BoolArray, EdgeMask
from glt.removal_causes import SearchStep

DRAWS = 5


def random_survivors(num_edges: int, kept: int, seed: int | Sequence[int]) -> BoolArray:
    """Return [num_edges] survivors, exactly `kept` of them, drawn uniformly with `seed`.

    Undirected edges are drawn, so both graphs have the same density. The paper's random pruning draws directed entries
    and keeps an edge with either direction, which leaves more edges.

    >>> int(random_survivors(10, 4, seed=0).sum())
    4
    """
    if not 0 <= kept <= num_edges:
        raise ConfigError(f"{kept} edges cannot be kept of {num_edges}: choose a number from 0 to {num_edges}.")
    chosen = np.random.default_rng(seed).choice(num_edges, size=kept, replace=False)
    survivors = np.zeros(num_edges, dtype=np.bool_)
    survivors[chosen] = True
    return survivors


def reach_survivors(steps: Sequence[SearchStep], num_edges: int, seed: int | Sequence[int]) -> BoolArray:
    """Return [num_edges] survivors of random removals that respect the reach of each search, drawn with `seed`.

    Every step removes as many edges as the search did, uniformly among the remaining ones with as many directions in
    reach. If those are too few, the rest is drawn from all others.

    >>> step = SearchStep(np.array([2, 2, 0], dtype=np.int8), lost=(0, 0, 2))
    >>> reach_survivors([step], 3, seed=0).tolist()
    [False, False, True]
    """
    generator, alive = np.random.default_rng(seed), np.ones(num_edges, dtype=np.bool_)

    def drawn(among: BoolArray, count: int) -> NDArray[np.int64]:
        return generator.choice(np.flatnonzero(among), count, replace=False, shuffle=False)

    for step in steps:
        back = drawn(~alive, step.returned)
        left = int(alive.sum()) - sum(step.lost)
        for directions, count in enumerate(step.lost):
            part = alive & (step.in_reach == directions)
            alive[drawn(part, min(count, int(part.sum())))] = False
        alive[drawn(alive, int(alive.sum()) - left)] = False
        alive[back] = True
    return alive


def random_twins(masks: Sequence[tuple[int, EdgeMask]], draws: int = DRAWS) -> list[EdgeMask]:
    """Return at least `draws` random undirected masks, equally many for each (seed, mask) pair and as dense as it.

    A draw depends only on the seed and the density of its pair.
    """
    rounds = range(-(-draws // len(masks))) if masks else ()
    return [
        EdgeMask("undirected", random_survivors(mask.num_edges, int(mask.either_way().sum()), [seed, draw]))
        for draw in rounds
        for seed, mask in masks
    ]
