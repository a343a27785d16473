"""How much the two ends of an edge have in common: neighbours, and features by count or, of dense ones, by angle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from analysis.labels import dataset_label
from analysis.style import palette
from glt import formats
from glt.config import RunConfig
from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask
from glt.methods.base import Cause
from glt.removal_causes import cause_of, had_gradient, removed_in

Shares = NDArray[np.float64]


class Closeness:
    """Common neighbours and features of pairs of nodes of one graph.

    Sparse features are words that a node has or lacks. Dense ones, which may lie in a file, are compared by their
    cosine, and only the rows of the nodes that are asked for are read.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @property
    def counts_words(self) -> bool:
        """Whether features are there or not, so that shared ones can be counted."""
        return isinstance(self._graph.features, csr_array)

    def alike(self, node: int, others: IntArray) -> dict[str, NDArray[Any]]:
        """Return what tells how alike the features of a node and each of `others` are, by name of the column."""
        if not self.counts_words:
            return {"cosine": self.cosine(node, others)}
        return {"common_features": self.common_features(node, others), "jaccard": self.jaccard(node, others)}

    def cosine(self, node: int, others: IntArray) -> Shares:
        """Return the cosine of dense features with those of each of `others`, 0 where either has only zeros."""
        rows = np.asarray(self._graph.features[np.append(others, node)], dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1)
        product = lengths[:-1] * lengths[-1]
        return np.asarray(np.divide(rows[:-1] @ rows[-1], product, out=np.zeros(others.size), where=product > 0))

    @cached_property
    def features(self) -> csr_array:
        """Which features of each node are not zero, [N, F] of zeros and ones."""
        values = self._graph.sparse_features.copy()
        values.data = (values.data != 0).astype(np.int64)
        return values.astype(np.int64)

    @cached_property
    def features_set(self) -> IntArray:
        """How many features of each node are not zero, [N]."""
        return np.asarray(self.features.sum(axis=1), dtype=np.int64).ravel()

    @cached_property
    def jaccard_of_edges(self) -> Shares:
        """The Jaccard index of the features of both ends of every edge, [E] in edge order, ascending when sorted."""
        low, high = self._graph.edges
        shared = np.asarray(self.features[low].multiply(self.features[high]).sum(axis=1)).ravel()
        return self._jaccard(shared, low, high)

    def common_features(self, node: int, others: IntArray) -> IntArray:
        """Return how many features a node shares with each of `others`."""
        return np.asarray((self.features[others] @ self.features[[node]].T).toarray(), dtype=np.int64).ravel()

    def jaccard(self, node: int, others: IntArray) -> Shares:
        """Return shared features by features that either has, 0 where neither has any."""
        nodes = np.full(others.size, node)
        return self._jaccard(self.common_features(node, others), nodes, others)

    def common_neighbours(self, node: int, others: IntArray, kept: BoolArray | None = None) -> IntArray:
        """Return how many neighbours a node shares with each of `others`, over the `kept` [E] edges or all."""
        edges = self._graph.edges if kept is None else self._graph.edges[:, kept]
        low, high = edges
        beside = np.zeros(self._graph.num_nodes, dtype=np.bool_)
        beside[high[low == node]] = beside[low[high == node]] = True
        # Every edge into the neighbourhood counts for its other end.
        ends = np.concatenate([low[beside[high]], high[beside[low]]])
        return np.bincount(ends, minlength=self._graph.num_nodes)[others]

    def _jaccard(self, shared: IntArray, one: IntArray, other: IntArray) -> Shares:
        either = self.features_set[one] + self.features_set[other] - shared
        return np.asarray(np.divide(shared, either, out=np.zeros(shared.size), where=either > 0))


# When each direction of each edge went, and by what cause.


# What the numbers of `removal_causes` stand for; 0: the direction survives, or its cause is not known.
CAUSES: tuple[Cause | None, ...] = (None, "gradient", "no gradient", "score", "random", "solver")


def removal_rounds(masks: Sequence[EdgeMask]) -> NDArray[np.int16]:
    """Return [2, E] the round in which each direction went for good, 0 where it survives the last of `masks`.

    `masks` are those of rounds 0, 1, ...; row 0 is the message from the lower node to the higher one. Under a method
    whose rounds are not nested a direction may have been away before and come back: the last time counts.

    >>> once = [EdgeMask("undirected", np.array(keep)) for keep in ([1, 1, 1], [1, 0, 0], [1, 1, 0])]
    >>> removal_rounds(once)[0].tolist()
    [0, 0, 1]
    """
    # Two bytes are enough: of a large graph several of these are kept.
    gone = np.zeros((2, masks[0].num_edges), dtype=np.int16)
    for number, mask in enumerate(masks):
        alive = mask.directions()
        gone[alive] = 0
        gone[~alive & (gone == 0)] = number
    return gone


def removal_causes(config: RunConfig, graph: Graph, masks: Sequence[EdgeMask]) -> NDArray[np.int8]:
    """Return [2, E] what decided that each direction went for good, as places in CAUSES; see `removal_rounds`.

    `graph` is the one that carries the run's messages. A removal that came back later does not count.
    """
    causes = np.zeros(masks[0].keep.size, dtype=np.int8)
    for before, after in pairwise(masks):
        causes[after.keep] = 0
        # A direction that was gone before keeps the cause of the round in which it went.
        removed = removed_in(config, before, after) & (causes == 0)
        gradient = had_gradient(config, graph, before)
        if gradient is None:
            causes[removed] = CAUSES.index(cause_of(config, None))
        else:
            codes = [CAUSES.index(cause_of(config, known)) for known in (False, True)]
            causes[removed] = np.where(gradient[removed], codes[1], codes[0])
    return causes.reshape(2, -1) if masks[0].kind == "directed" else np.stack([causes, causes])


# The edges of one node: who is at the other end, what both have in common, and when each direction went.


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


# What became of a message along an edge, in one plain sentence.


CAUSE_WORDS: dict[Cause, str] = {
    "gradient": "The training loss depended on its mask.",
    "no gradient": "The training loss did not depend on its mask, so its rank is the noise of the mask's start.",
    "score": "Its score was among the lowest.",
    "random": "It was drawn at random.",
    "solver": "The solver set it to zero.",
}


@dataclass(frozen=True)
class Way:
    """One direction of an edge: who sends to whom, the round in which it went (0: it survives), and what decided it."""

    sender: str
    receiver: str
    gone: int
    cause: Cause | None = None


def removal_sentence(way: Way, shown: int, last: int, scores: pd.DataFrame, cut: int, about: bool = False) -> str:
    """Say what became of a direction up to round `last`, seen from the round `shown`, and how it scored.

    `scores` are the rows of `score_table` about this direction, `cut` is how many entries the deciding round cut;
    `about` says that ranks are rough.
    """
    what = f"The message from {way.sender} to {way.receiver} "
    if way.gone == 0:
        told = f"is kept in all {last} rounds"
    elif way.gone > shown:
        told = f"is kept in round {shown} and removed in round {way.gone}"
    else:
        told = f"was removed in round {way.gone}"
    decided = scores[scores["round"] == (way.gone or last)]
    sentence = what + told + (_by_score(decided.iloc[0], cut, about) if len(decided) else "") + "."
    return f"{sentence} {cause_sentence(way.cause)}".rstrip() if way.gone else sentence


def cause_sentence(cause: Cause | None) -> str:
    """Say what decided that an entry was removed; "" where that is not known.

    >>> cause_sentence("random")
    'Cause: random. It was drawn at random.'
    """
    return f"Cause: {cause}. {CAUSE_WORDS[cause]}" if cause else ""


def _by_score(row: pd.Series, cut: int, about: bool) -> str:
    roughly = "about " if about else ""
    below, equal, entries = (formats.count(row[name]) for name in ("below", "equal", "entries"))
    where = "" if row["cut"] else f" in round {row['round']}"
    # A stored rank stands for 1 in 256 entries; equals that are hardly more tell nothing.
    several = row["equal"] > (row["entries"] / 100 if about else 1)
    same = f", {roughly}{equal} the same as far as the stored scores tell," if several else ""
    return (
        f": {roughly}{below} of the {entries} remaining entries{where} scored lower{same} and the lowest "
        f"{formats.count(cut)} were removed"
    )


def no_classes(graph: Graph) -> str:
    """Say that a graph without classes has no losses by class."""
    return f"{dataset_label(graph.name)} has no classes, so tables by class are left out."


def no_scores(method: str) -> str:
    """Say why a method has no score to show."""
    label = palette.label(method)
    if method == "random":
        return f"{label} removes edges at random: there are no scores, and a removal says nothing about the edge."
    return f"{label} stores no edge scores: only the round of each removal is known."
