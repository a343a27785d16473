"""Nodes and edges ranked by betweenness, before and after pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.measures.elements import Betweenness
from analysis.measures.graph import MeasuredGraph
from analysis.measures.ranks import TIE, ranks_from_the_top, tie_groups
from analysis.subgraphs.subgraph import classes_of, has_classes, node_name
from glt.data import Graph
from glt.masks import EdgeMask

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]
Order = Literal["original", "pruned", "change"]

REMOVED, ONE_WAY, BOTH_WAYS = "removed", "one way", "both ways"


def node_table(graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness, order: Order) -> pd.DataFrame:
    """Return one row a node, ranked: `node`, `label`, degree, clustering, betweenness and rank in both graphs.

    Columns end in `_original` and `_pruned`; `original`, `pruned` and `change` are the betweenness.

    Values that differ by less than a billionth (`ranks.TIE`) share a rank, and no change is that small.
    `order` is the betweenness in the original or the pruned graph, largest first, or the size of the change.
    """
    import pandas as pd

    # NetworkX takes a third of a second to import.
    from analysis.measures.networkx_engine import node_clustering

    whole = MeasuredGraph.of(graph)
    pruned = whole.keeping(mask.either_way())
    table = pd.DataFrame(
        {
            "node": np.arange(graph.num_nodes),
            "label": graph.labels,
            "degree_original": whole.degrees,
            "degree_pruned": pruned.degrees,
            "clustering_original": node_clustering(whole),
            "clustering_pruned": node_clustering(pruned),
            **_values(before.nodes, after.nodes),
        }
    )
    return _ranked(table, order)


def edge_table(graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness, order: Order) -> pd.DataFrame:
    """Return one row an edge of the original graph, ranked: its ends, whether it survives, betweenness, both ranks.

    A removed edge has no betweenness in the pruned graph (NaN) and no change.
    """
    import pandas as pd

    kept = mask.either_way()
    pruned = np.full(graph.num_edges, np.nan)
    pruned[kept] = after.edges
    survives = np.where(mask.both_ways(), BOTH_WAYS, np.where(kept, ONE_WAY, REMOVED))
    ends = {"low": graph.edges[0], "high": graph.edges[1], "survives": survives}
    return _ranked(pd.DataFrame({**ends, **_values(before.edges, pruned)}), order)


def with_names(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `node_table` with the data set's own ids and the names of classes in place of their numbers.

    Where no class is known, there is no column of them.
    """
    ids = [node_name(graph, node) for node in table["node"].tolist()]
    if not has_classes(graph):
        return table.assign(node=ids).drop(columns="label")
    return table.assign(node=ids, label=classes_of(graph, table["node"].to_numpy())).rename(columns={"label": "class"})


def _values(before: FloatArray, after: FloatArray) -> dict[str, FloatArray]:
    change = np.where(np.isclose(after, before, rtol=TIE, atol=0), 0.0, after - before)
    return {"original": before, "pruned": after, "change": change}


def _ranked(table: pd.DataFrame, order: Order) -> pd.DataFrame:
    ranks = {f"rank_{name}": ranks_from_the_top(table[name].to_numpy()) for name in ("original", "pruned")}
    table = table.assign(**ranks)
    wanted = table["change"].abs() if order == "change" else table[order]
    # By groups of ties, so that rounding does not shuffle equal values; those without a value come last.
    return table.iloc[np.argsort(-tie_groups(wanted.to_numpy()), kind="stable")].reset_index(drop=True)
