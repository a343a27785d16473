"""What a sampler is given and what it must say of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from analysis.subgraphs.growing import Neighbours
from glt.data.graph import Graph, IntArray
from glt.masks import BoolArray

# What a sampler asks for beside graph, size and draw.
Wish = Literal["center", "label", "cut", "nodes"]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a sampler chooses from.

    `draw` is the number that seeds the generator; `center` is always a node; `label` is a class, or None for the
    center's; `cut` [E] says which edges a round has removed; `nodes` are those asked for by name.
    """

    graph: Graph
    neighbours: Neighbours
    size: int
    draw: int
    generator: Generator
    center: int
    label: int | None
    cut: BoolArray
    nodes: IntArray


@dataclass(frozen=True)
class Sampler:
    """One way to choose nodes: what users read about it, which wishes it heeds, and the choice itself."""

    name: str
    label: str
    description: str
    order: int
    choose: Callable[[Choice], IntArray]
    uses: frozenset[Wish] = frozenset()

    @property
    def needs_more(self) -> bool:
        """Whether it cannot choose from the graph alone, but needs a round or a list of nodes."""
        return bool(self.uses & {"cut", "nodes"})
