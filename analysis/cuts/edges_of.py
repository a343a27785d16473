"""The edges of one node: who is at the other end, what both have in common, and when each direction went."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.cuts.closeness import Closeness
from analysis.cuts.fates import CAUSES
from glt.data.graph import Graph, IntArray
from glt.masks import EdgeMask
from glt.methods.base import Cause

Rounds = NDArray[np.integer[Any]]
Causes = NDArray[np.integer[Any]]


def edges_of(
    graph: Graph, closeness: Closeness, node: int, gone: Rounds, mask: EdgeMask, causes: Causes | None = None
) -> pd.DataFrame:
    """Return a row for each neighbour of `node`, those whose edge went first on top.

    Columns: `edge` (column of the graph's edges), `neighbour` (node index), `label` (its class), `same_class`,
    `sent` and `received` (the round in which the message to and from the neighbour went, 0 when it survives, from
    `removal_rounds`), `sent_cause` and `received_cause` (words, from `removal_causes`; None where the message survives
    or the cause is not known), `degree` and `degree_left` of the neighbour, `common_neighbours` and
    `common_neighbours_left`, `common_features` and `jaccard`, or of dense features their `cosine`. What is left is
    counted under `mask`, either way.
    """
    low, high = graph.edges
    edges = np.flatnonzero((low == node) | (high == node))
    is_low = low[edges] == node
    others = np.where(is_low, high[edges], low[edges])
    kept = mask.either_way()
    labels = graph.labels
    table = pd.DataFrame(
        {
            "edge": edges,
            "neighbour": others,
            "label": labels[others],
            "same_class": (labels[others] == labels[node]) & (labels[node] >= 0),
            "sent": np.where(is_low, gone[0, edges], gone[1, edges]),
            "received": np.where(is_low, gone[1, edges], gone[0, edges]),
            "sent_cause": _cause_words(causes, edges, np.where(is_low, 0, 1)),
            "received_cause": _cause_words(causes, edges, np.where(is_low, 1, 0)),
            "degree": degrees(graph)[others],
            "degree_left": degrees(graph, mask)[others],
            "common_neighbours": closeness.common_neighbours(node, others),
            "common_neighbours_left": closeness.common_neighbours(node, others, kept),
            **closeness.alike(node, others),
        }
    )
    return table.iloc[_first_gone_first(table)].reset_index(drop=True)


def _cause_words(causes: Causes | None, edges: IntArray, ways: IntArray) -> list[Cause | None]:
    numbers = np.zeros(edges.size, dtype=np.int8) if causes is None else causes[ways, edges]
    return [CAUSES[number] for number in numbers]


def degrees(graph: Graph, mask: EdgeMask | None = None) -> IntArray:
    """Return how many neighbours each node has, [N]; under a mask those over an edge that survives either way."""
    edges = graph.edges if mask is None else graph.edges[:, mask.either_way()]
    return np.bincount(edges.ravel(), minlength=graph.num_nodes)


def _first_gone_first(table: pd.DataFrame) -> IntArray:
    """Order by the round in which the last direction went, then the first one; survivors come last."""
    never = 1 + max(table["sent"].max(), table["received"].max()) if len(table) else 1
    sent, received = (table[way].replace(0, never).to_numpy() for way in ("sent", "received"))
    return np.lexsort((table["neighbour"], np.minimum(sent, received), np.maximum(sent, received)))
