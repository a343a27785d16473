"""Losses of groups of edges and nodes, compared with random removal of as many edges.

`loss_table` gives the share of each group that a mask removed, and the same share in random graphs: of as many edges,
or of as many edges in and out of the reach of each search (`chance_words`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.measures.null_model import random_survivors, reach_survivors
from analysis.removal.edges import degrees
from analysis.subgraphs.panel import class_names, has_classes
from glt import formats
from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask
from glt.removal_causes import SearchStep

# The lowest degree of each group, and its name.
DEGREE_STEPS = (1, 2, 3, 4, 6, 11, 21, 51)
DEGREE_WORDS = ("1", "2", "3", "4 to 5", "6 to 10", "11 to 20", "21 to 50", "51 or more")


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of every edge or node (-1: none), and the names of the groups."""

    name: str
    label: str
    group: IntArray
    names: tuple[str, ...]

    @property
    def sizes(self) -> IntArray:
        """The size of each group."""
        return self.count(np.ones(self.group.size, dtype=np.bool_))

    def count(self, chosen: np.ndarray) -> IntArray:
        """Return the number of `chosen` members of each group."""
        return np.bincount(self.group[chosen & (self.group >= 0)], minlength=len(self.names))


def edge_groupings(graph: Graph) -> list[Grouping]:
    """Return the groupings of edges: all, same or different class, degrees of the ends, pairs of classes.

    Groupings by class are left out where no class is known.
    """
    everything = Grouping("all", "All edges", np.zeros(graph.num_edges, dtype=np.int64), ("All edges",))
    ends = np.sort(degrees(graph)[graph.edges], axis=0)
    smaller = _by_degree("smaller_degree", "Smaller degree of both ends", ends[0])
    larger = _by_degree("larger_degree", "Larger degree of both ends", ends[1])
    if not has_classes(graph):
        return [everything, smaller, larger]
    low, high = graph.labels[graph.edges]
    group = np.where((low < 0) | (high < 0), 2, np.where(low == high, 0, 1))
    names = ("Same class", "Different classes", "A class unknown")
    relation = Grouping("relation", "Classes of both ends", group, names)
    return [everything, relation, smaller, larger, by_pair(graph)]


def node_groupings(graph: Graph) -> list[Grouping]:
    """Return the groupings of nodes with an edge in the unpruned graph: all, and by class where one is known."""
    linked = degrees(graph) > 0
    everything = Grouping("all_nodes", "All nodes", np.where(linked, 0, -1), ("All nodes",))
    by_class = [Grouping("class", "Class", np.where(linked, graph.labels, -1), class_names(graph))]
    return [everything, *(by_class if has_classes(graph) else [])]


def by_pair(graph: Graph) -> Grouping:
    """Return the edges by unordered pair of classes: group a C + b with a <= b."""
    names = class_names(graph)
    low, high = np.sort(graph.labels[graph.edges], axis=0)
    group = np.where(low >= 0, low * len(names) + high, -1)
    return Grouping("pair", "Classes of both ends", group, tuple(f"{a}, {b}" for a in names for b in names))


def _by_degree(name: str, label: str, degree: IntArray) -> Grouping:
    return Grouping(name, label, np.searchsorted(DEGREE_STEPS, degree, side="right") - 1, DEGREE_WORDS)


# Losses beside chance

DRAWS = 100
# For a graph with more edges, fewer random graphs are drawn to count nodes without an edge.
MOST_EDGES, FEW_DRAWS = 300_000, 20
# The interval of chance: the middle 95 % of the draws.
LEVEL = 0.95


def loss_table(graph: Graph, mask: EdgeMask, draws: int = DRAWS, steps: Sequence[SearchStep] = ()) -> pd.DataFrame:
    """Return the losses of each group and those of random removal, one row per group that is not empty.

    Columns: `kind` ("edges" removed or "nodes" left without an edge), `grouping`, `group` (number), `name`, `size`,
    `lost`, `share`, and over `draws` random graphs (seeds 0, 1, ...): `null` (mean share), `null_low`, `null_high` (the
    middle 95 %). An edge is removed when neither direction is kept. The `steps` of a search make the draws within its
    reach (`reach_survivors`); without them as many undirected edges are kept (`random_survivors`). On a large graph
    there are FEW_DRAWS within reach; else nodes are counted in FEW_DRAWS graphs, and for edges the number of removed
    ones in each group is drawn directly.
    """
    edges, nodes = edge_groupings(graph), node_groupings(graph)
    kept = mask.either_way()
    left = int(kept.sum())
    is_large = graph.num_edges > MOST_EDGES

    def survivors(seed: int) -> BoolArray:
        if not steps:
            return random_survivors(graph.num_edges, left, seed)
        return reach_survivors(steps, graph.num_edges, seed)

    if is_large and not steps:
        of_edges = []
        for grouping in edges:
            # How many of each group are among as many random edges, without drawing graphs.
            sizes = [*grouping.sizes, grouping.group.size - grouping.sizes.sum()]
            generator, gone = np.random.default_rng(0), graph.num_edges - left
            drawn = generator.multivariate_hypergeometric(sizes, gone, draws, method="marginals")
            of_edges.append(np.asarray(drawn[:, :-1], dtype=np.int64))
        of_nodes = _drawn(graph, survivors, [], nodes, min(draws, FEW_DRAWS))
    else:
        together = _drawn(graph, survivors, edges, nodes, min(draws, FEW_DRAWS) if is_large else draws)
        of_edges, of_nodes = together[: len(edges)], together[len(edges) :]
    real = _lost(graph, kept, edges, nodes)
    kinds = ["edges"] * len(edges) + ["nodes"] * len(nodes)
    rows = zip([*edges, *nodes], real, [*of_edges, *of_nodes], kinds, strict=True)
    return pd.concat([_rows(*row) for row in rows], ignore_index=True)


def chance_words(graph: Graph, within_reach: bool) -> str:
    """Say what `loss_table` compares with."""
    is_large = graph.num_edges > MOST_EDGES
    if within_reach:
        number = FEW_DRAWS if is_large else DRAWS
        return (
            f"{number} draws of as many undirected edges as each round removed, at random among those for which the "
            "masks of as many directions (none, one or both) had a gradient"
        )
    nodes = f" (of nodes {FEW_DRAWS})" if is_large else ""
    return f"{DRAWS} random draws{nodes} of as many undirected edges as the round keeps"


def _drawn(
    graph: Graph,
    survivors: Callable[[int], BoolArray],
    edges: list[Grouping],
    nodes: list[Grouping],
    draws: int,
) -> list[NDArray[np.int64]]:
    """Return the losses of each group in random graphs, [draws, groups] for every grouping."""
    graphs = [_lost(graph, survivors(seed), edges, nodes) for seed in range(draws)]
    return [np.stack(lost) for lost in zip(*graphs, strict=True)]


def pair_matrix(table: pd.DataFrame, classes: int, column: str) -> NDArray[np.float64]:
    """Return a column of `loss_table` as a symmetric [C, C] matrix over pairs of classes, NaN without an edge."""
    rows = table[table["grouping"] == "pair"]
    matrix = np.full((classes, classes), np.nan)
    low, high = np.divmod(rows["group"].to_numpy(), classes)
    matrix[low, high] = matrix[high, low] = rows[column].to_numpy(dtype=np.float64)
    return matrix


def outside(table: pd.DataFrame) -> pd.Series:
    """Return whether each row's share is outside the interval of chance."""
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
    """Yield sentences on the removed edges, on both relations of classes, and on nodes left without an edge."""
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
