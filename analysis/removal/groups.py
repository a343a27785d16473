"""Ways to sort edges and nodes into groups that may lose more or less than others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.measures.null_model import random_survivors
from analysis.removal.edges import degrees
from analysis.subgraphs.panel import class_names, has_classes
from glt import formats
from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask

# Degrees from one of these to the next one stand together.
DEGREE_STEPS = (1, 2, 3, 4, 6, 11, 21, 51)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of every edge or node (-1: in none), and what the groups are called."""

    name: str
    label: str
    group: IntArray
    names: tuple[str, ...]

    @property
    def sizes(self) -> IntArray:
        """How many belong to each group."""
        return self.count(np.ones(self.group.size, dtype=np.bool_))

    def count(self, chosen: np.ndarray) -> IntArray:
        """Return how many of the `chosen` belong to each group."""
        return np.bincount(self.group[chosen & (self.group >= 0)], minlength=len(self.names))


def edge_groupings(graph: Graph) -> list[Grouping]:
    """Return the groupings of edges: all, by same or different class, by degree of the ends, by pair of classes.

    Where no class is known, those by class are left out.
    """
    everything = Grouping("all", "All edges", np.zeros(graph.num_edges, dtype=np.int64), ("All edges",))
    ends = np.sort(degrees(graph)[graph.edges], axis=0)
    smaller = _by_degree("smaller_degree", "Smaller degree of both ends", ends[0])
    larger = _by_degree("larger_degree", "Larger degree of both ends", ends[1])
    if not has_classes(graph):
        return [everything, smaller, larger]
    return [everything, _by_relation(graph), smaller, larger, by_pair(graph)]


def node_groupings(graph: Graph) -> list[Grouping]:
    """Return the groupings of nodes that have an edge in the unpruned graph: all, and where one is known, by class."""
    linked = degrees(graph) > 0
    everything = Grouping("all_nodes", "All nodes", np.where(linked, 0, -1), ("All nodes",))
    by_class = [Grouping("class", "Class", np.where(linked, graph.labels, -1), class_names(graph))]
    return [everything, *(by_class if has_classes(graph) else [])]


def by_pair(graph: Graph) -> Grouping:
    """Return the edges by the classes of their ends, whichever end has which: group a C + b with a <= b."""
    names = class_names(graph)
    low, high = np.sort(graph.labels[graph.edges], axis=0)
    group = np.where(low >= 0, low * len(names) + high, -1)
    return Grouping("pair", "Classes of both ends", group, tuple(f"{a}, {b}" for a in names for b in names))


def _by_relation(graph: Graph) -> Grouping:
    low, high = graph.labels[graph.edges]
    group = np.where((low < 0) | (high < 0), 2, np.where(low == high, 0, 1))
    return Grouping("relation", "Classes of both ends", group, ("Same class", "Different classes", "A class unknown"))


def _by_degree(name: str, label: str, degree: IntArray) -> Grouping:
    group = np.searchsorted(DEGREE_STEPS, degree, side="right") - 1
    return Grouping(name, label, group, tuple(_degree_words()))


def _degree_words() -> list[str]:
    """Name the groups of degrees.

    >>> _degree_words()
    ['1', '2', '3', '4 to 5', '6 to 10', '11 to 20', '21 to 50', '51 or more']
    """
    words = [str(low) if next_ == low + 1 else f"{low} to {next_ - 1}" for low, next_ in pairwise(DEGREE_STEPS)]
    return [*words, f"{DEGREE_STEPS[-1]} or more"]


# Who loses: the share of each group that a mask cut, beside what chance would cut at the same density.


DRAWS = 100
# Of a graph with more edges, so few graphs are drawn to see which nodes chance leaves alone.
MOST_EDGES, FEW_DRAWS = 300_000, 20
# The interval that chance stays in: the middle 95 % of the draws.
LEVEL = 0.95

Lost = tuple[Grouping, BoolArray]


def loss_table(graph: Graph, mask: EdgeMask, draws: int = DRAWS) -> pd.DataFrame:
    """Return what each group lost and what it would lose at random, one row a group that is not empty.

    Columns: `kind` ("edges" cut or "nodes" left without an edge), `grouping`, `group` (number), `name`, `size`, `lost`,
    `share`, then of `draws` graphs with as many undirected edges, kept at random (`measures.null_model`, seeds 0, 1,
    ...): `null` (mean share), `null_low`, `null_high` (their middle 95 %). An edge is cut when neither direction is
    left. Of a large graph FEW_DRAWS graphs tell of nodes, and of edges as many draws of how many of each group go.
    """
    edges, nodes = edge_groupings(graph), node_groupings(graph)
    kept = mask.either_way()
    left = int(kept.sum())
    if graph.num_edges > MOST_EDGES:
        of_edges = [_drawn_counts(grouping, graph.num_edges - left, draws) for grouping in edges]
        of_nodes = _drawn(graph, left, [], nodes, min(draws, FEW_DRAWS))
    else:
        together = _drawn(graph, left, edges, nodes, draws)
        of_edges, of_nodes = together[: len(edges)], together[len(edges) :]
    real = _lost(graph, kept, edges, nodes)
    kinds = ["edges"] * len(edges) + ["nodes"] * len(nodes)
    rows = zip([*edges, *nodes], real, [*of_edges, *of_nodes], kinds, strict=True)
    return pd.concat([_rows(*row) for row in rows], ignore_index=True)


def _drawn(
    graph: Graph, left: int, edges: list[Grouping], nodes: list[Grouping], draws: int
) -> list[NDArray[np.int64]]:
    """Return what each group loses in graphs drawn with as many edges, [draws, groups] of every grouping."""
    graphs = [_lost(graph, random_survivors(graph.num_edges, left, seed), edges, nodes) for seed in range(draws)]
    return [np.stack(lost) for lost in zip(*graphs, strict=True)]


def _drawn_counts(grouping: Grouping, cut: int, draws: int) -> NDArray[np.int64]:
    """Return how many of each group are among `cut` edges drawn at random, [draws, groups], without drawing graphs."""
    sizes = grouping.sizes
    outside = grouping.group.size - sizes.sum()
    drawn = np.random.default_rng(0).multivariate_hypergeometric([*sizes, outside], cut, draws, method="marginals")
    return np.asarray(drawn[:, :-1], dtype=np.int64)


def pair_matrix(table: pd.DataFrame, classes: int, column: str) -> NDArray[np.float64]:
    """Return a column of `loss_table` as a symmetric [C, C] matrix over pairs of classes, NaN without an edge."""
    rows = table[table["grouping"] == "pair"]
    matrix = np.full((classes, classes), np.nan)
    low, high = np.divmod(rows["group"].to_numpy(), classes)
    matrix[low, high] = matrix[high, low] = rows[column].to_numpy(dtype=np.float64)
    return matrix


def outside(table: pd.DataFrame) -> pd.Series:
    """Say of each row whether its share lies outside what chance gives."""
    return (table["share"] < table["null_low"]) | (table["share"] > table["null_high"])


def _lost(graph: Graph, kept: BoolArray, edges: list[Grouping], nodes: list[Grouping]) -> list[NDArray[np.int64]]:
    alone = np.bincount(graph.edges[:, kept].ravel(), minlength=graph.num_nodes) == 0
    return [grouping.count(~kept) for grouping in edges] + [grouping.count(alone) for grouping in nodes]


def _rows(grouping: Grouping, lost: NDArray[np.int64], chance: NDArray[np.int64], kind: str) -> pd.DataFrame:
    sizes = grouping.sizes
    there = np.flatnonzero(sizes)
    shares = chance[:, there] / sizes[there]
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return pd.DataFrame(
        {
            "kind": kind,
            "grouping": grouping.name,
            "group": there,
            "name": [grouping.names[group] for group in there],
            "size": sizes[there],
            "lost": lost[there],
            "share": lost[there] / sizes[there],
            "null": shares.mean(axis=0),
            "null_low": low,
            "null_high": high,
        }
    )


def sentences(table: pd.DataFrame) -> Iterator[str]:
    """Say in plain words how much went, which edges went more often than by chance, and how many nodes are alone."""
    rows = table.set_index(["grouping", "group"])
    everything, alone = rows.loc[("all", 0)], rows.loc[("all_nodes", 0)]
    yield f"{everything['lost']:,} of {everything['size']:,} edges removed, {formats.percent(everything['share'])}."
    if ("relation", 1) in rows.index and ("relation", 0) in rows.index:
        same, other = rows.loc[("relation", 0)], rows.loc[("relation", 1)]
        yield (f"Between different classes {_with_chance(other)}, inside a class {_with_chance(same)}.")
    low, high = (formats.count(alone[name] * alone["size"]) for name in ("null_low", "null_high"))
    yield f"Nodes that lost their last edge: {alone['lost']:,}; by chance {low} to {high}."


def _with_chance(row: pd.Series) -> str:
    share, low, high = (formats.percent(row[name]) for name in ("share", "null_low", "null_high"))
    return f"{share} removed (by chance {low} to {high})"
