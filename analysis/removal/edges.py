"""Rounds and causes of removed edges, the edges of one node, and how similar their ends are.

`removal_rounds` and `removal_causes` are computed from masks; `edges_of` is the table of one node's edges;
`removal_sentence` describes one direction of an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from analysis import palette
from analysis.labels import dataset_label
from glt import formats
from glt.config import RunConfig
from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask
from glt.methods.base import Cause
from glt.removal_causes import CAUSES, Codes, Source, cuts_of, no_source

Shares = NDArray[np.float64]


class Closeness:
    """Common neighbours and similar features of pairs of nodes of one graph.

    Sparse features count as present or absent. Dense features, which may be in a file, are compared by their cosine;
    only the rows of the nodes concerned are read.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @property
    def counts_words(self) -> bool:
        """Whether features are sparse, so that shared ones can be counted."""
        return isinstance(self._graph.features, csr_array)

    def alike(self, node: int, others: IntArray) -> dict[str, NDArray[Any]]:
        """Return the similarity of a node's features with those of each of `others`, by column name."""
        if self.counts_words:
            return {"common_features": self.common_features(node, others), "jaccard": self.jaccard(node, others)}
        rows = np.asarray(self._graph.features[np.append(others, node)], dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1)
        product = lengths[:-1] * lengths[-1]
        return {"cosine": np.divide(rows[:-1] @ rows[-1], product, out=np.zeros(others.size), where=product > 0)}

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
        """The Jaccard index of the features of both ends of every edge, [E]."""
        low, high = self._graph.edges
        shared = np.asarray(self.features[low].multiply(self.features[high]).sum(axis=1)).ravel()
        return self._jaccard(shared, low, high)

    def common_features(self, node: int, others: IntArray) -> IntArray:
        """Return how many features a node shares with each of `others`."""
        return np.asarray((self.features[others] @ self.features[[node]].T).toarray(), dtype=np.int64).ravel()

    def jaccard(self, node: int, others: IntArray) -> Shares:
        """Return the Jaccard index of the features, 0 where neither node has any."""
        nodes = np.full(others.size, node)
        return self._jaccard(self.common_features(node, others), nodes, others)

    def common_neighbours(self, node: int, others: IntArray, kept: BoolArray | None = None) -> IntArray:
        """Return how many neighbours a node shares with each of `others`, over the `kept` [E] edges or all."""
        edges = self._graph.edges if kept is None else self._graph.edges[:, kept]
        low, high = edges
        is_neighbour = np.zeros(self._graph.num_nodes, dtype=np.bool_)
        is_neighbour[high[low == node]] = is_neighbour[low[high == node]] = True
        # Every edge into the neighbourhood counts for its other end.
        ends = np.concatenate([low[is_neighbour[high]], high[is_neighbour[low]]])
        return np.bincount(ends, minlength=self._graph.num_nodes)[others]

    def _jaccard(self, shared: IntArray, one: IntArray, other: IntArray) -> Shares:
        either = self.features_set[one] + self.features_set[other] - shared
        return np.asarray(np.divide(shared, either, out=np.zeros(shared.size), where=either > 0))


# Rounds and causes of removals


def removal_rounds(masks: Sequence[EdgeMask]) -> NDArray[np.int16]:
    """Return [2, E] the round that removed each direction, 0 where the last of `masks` keeps it.

    `masks` are those of rounds 0, 1, ...; row 0 is the message from the lower node to the higher one. Where the rounds
    of a method are not nested a direction may return, and the last removal counts.

    >>> once = [EdgeMask("undirected", np.array(keep)) for keep in ([1, 1, 1], [1, 0, 0], [1, 1, 0])]
    >>> removal_rounds(once)[0].tolist()
    [0, 0, 1]
    """
    # int16, because several of these are kept for large graphs.
    gone = np.zeros((2, masks[0].num_edges), dtype=np.int16)
    for number, mask in enumerate(masks):
        alive = mask.directions()
        gone[alive] = 0
        gone[~alive & (gone == 0)] = number
    return gone


def removal_causes(
    config: RunConfig, graph: Graph, masks: Sequence[EdgeMask], source: Source = no_source
) -> NDArray[np.int8]:
    """Return [2, E] the cause of each direction's removal, as indices into CAUSES; see `removal_rounds`.

    `graph` is the one that carries the run's messages, `source` reads the causes of another run (`seed_source`).
    """
    return by_direction(causes_by_round(config, graph, masks, source)[-1], masks[0])


def by_direction(codes: Codes, mask: EdgeMask) -> NDArray[np.int8]:
    """Return the codes of entries as [2, E]; both directions of an undirected mask's edge have the same."""
    return codes.reshape(2, -1) if mask.kind == "directed" else np.stack([codes, codes])


@dataclass(frozen=True, eq=False)
class Removals:
    """The removals of m edges up to a round: round (0: kept) and code of the cause of each direction, [2, m]."""

    rounds: NDArray[np.int16]
    causes: NDArray[np.int8]

    @property
    def decisive(self) -> NDArray[np.int8]:
        """The cause [m] of the removal of each edge's last direction; 0 where it is kept or unknown.

        If one round removed both, a gradient on either one counts.
        """
        first, second = self.rounds
        last = np.where(first > second, self.causes[0], self.causes[1])
        # The code of a gradient is the lowest one.
        cause = np.where(first == second, self.causes.min(axis=0), last)
        return np.where((self.rounds > 0).all(axis=0), cause, 0).astype(np.int8)

    def words(self, edge: int, low: str, high: str) -> str:
        """Say in which round and why each direction of an edge between two named nodes was removed; "" if none was."""
        fates = [
            f"removed in round {number}{f', {CAUSES[cause]}' if cause else ''}" if number else "kept"
            for number, cause in zip(self.rounds[:, edge].tolist(), self.causes[:, edge].tolist(), strict=True)
        ]
        if not self.rounds[:, edge].any():
            return ""
        if fates[0] == fates[1]:
            return fates[0].capitalize()
        return f"{low} to {high}: {fates[0]}\n{high} to {low}: {fates[1]}"


def removal_history(masks: Sequence[EdgeMask], causes: Sequence[Codes], edges: IntArray) -> Iterator[Removals]:
    """Yield the removals of some `edges` after rounds 0, 1, ..., given the masks and causes of all entries."""
    gone = np.zeros((2, edges.size), dtype=np.int16)
    for number, (mask, codes) in enumerate(zip(masks, causes, strict=False)):
        alive = mask.directions()[:, edges]
        gone[alive] = 0
        gone[~alive & (gone == 0)] = number
        yield Removals(gone.copy(), by_direction(codes, mask)[:, edges])


def causes_by_round(
    config: RunConfig, graph: Graph, masks: Sequence[EdgeMask], source: Source = no_source
) -> list[Codes]:
    """Return the codes [entries] of the causes after rounds 0, 1, ...; arguments as of `removal_causes`."""
    nothing = np.zeros(masks[0].keep.size, dtype=np.int8)
    return [nothing, *(cuts.codes for cuts in cuts_of(config, graph, masks, source))]


# The edges of one node

Rounds = NDArray[np.integer[Any]]
Causes = NDArray[np.integer[Any]]


def edges_of(
    graph: Graph, closeness: Closeness, node: int, gone: Rounds, mask: EdgeMask, causes: Causes | None = None
) -> pd.DataFrame:
    """Return one row per neighbour of `node`, edges that were removed first on top.

    Columns: `edge` (column of the graph's edges), `neighbour` (node index), `label` (its class), `same_class`,
    `sent` and `received` (the round that removed the message to and from the neighbour, 0 where it is kept, from
    `removal_rounds`), `sent_cause` and `received_cause` (from `removal_causes`; None where the message is kept or the
    cause is unknown), `degree` and `degree_left` of the neighbour, `common_neighbours` and `common_neighbours_left`,
    `common_features` and `jaccard`, or for dense features `cosine`. Columns `_left` count the edges that `mask` keeps
    either way.
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
    # By the round of the last removed direction, then of the first; kept edges come last.
    never = 1 + max(table["sent"].max(), table["received"].max()) if len(table) else 1
    sent, received = (table[way].replace(0, never).to_numpy() for way in ("sent", "received"))
    order = np.lexsort((table["neighbour"], np.minimum(sent, received), np.maximum(sent, received)))
    return table.iloc[order].reset_index(drop=True)


def _cause_words(causes: Causes | None, edges: IntArray, ways: IntArray) -> list[Cause | None]:
    numbers = np.zeros(edges.size, dtype=np.int8) if causes is None else causes[ways, edges]
    return [CAUSES[number] for number in numbers]


def degrees(graph: Graph, mask: EdgeMask | None = None) -> IntArray:
    """Return each node's number of neighbours, [N]; under a mask over edges kept either way."""
    edges = graph.edges if mask is None else graph.edges[:, mask.either_way()]
    return np.bincount(edges.ravel(), minlength=graph.num_nodes)


# Removals in words

CAUSE_WORDS: dict[Cause, str] = {
    "gradient": "The training loss depended on its mask.",
    "no gradient": "The training loss did not depend on its mask, so its rank is the noise of the mask's start.",
    "score": "Its score was among the lowest.",
    "random": "It was drawn at random.",
    "solver": "The solver set it to zero.",
}


@dataclass(frozen=True)
class Way:
    """One direction of an edge: sender, receiver, the round that removed it (0: it is kept), and the cause."""

    sender: str
    receiver: str
    gone: int
    cause: Cause | None = None


def removal_sentence(way: Way, shown: int, last: int, scores: pd.DataFrame, cut: int, about: bool = False) -> str:
    """Describe a direction up to round `last`, seen from the round `shown`, and its score.

    `scores` are the rows of `score_table` for this direction, `cut` is the number of entries removed in the deciding
    round, `about` marks ranks as approximate.
    """
    if way.gone == 0:
        fate = f"is kept in all {last} rounds"
    elif way.gone > shown:
        fate = f"is kept in round {shown} and removed in round {way.gone}"
    else:
        fate = f"was removed in round {way.gone}"
    rows = scores[scores["round"] == (way.gone or last)]
    score = _by_score(rows.iloc[0], cut, about) if len(rows) else ""
    sentence = f"The message from {way.sender} to {way.receiver} {fate}{score}."
    return sentence + (f" Cause: {way.cause}. {CAUSE_WORDS[way.cause]}" if way.gone and way.cause else "")


def _by_score(row: pd.Series, cut: int, about: bool) -> str:
    roughly = "about " if about else ""
    below, equal, entries = (formats.count(row[name]) for name in ("below", "equal", "entries"))
    where = "" if row["cut"] else f" in round {row['round']}"
    # A stored rank covers 1 in 256 entries, so few equal ones mean nothing.
    several = row["equal"] > (row["entries"] / 100 if about else 1)
    same = f", {roughly}{equal} have the same stored score," if several else ""
    return (
        f": {roughly}{below} of the {entries} remaining entries{where} scored lower{same} and the lowest "
        f"{formats.count(cut)} were removed"
    )


def no_classes(graph: Graph) -> str:
    """Return the note for a graph without classes."""
    return f"{dataset_label(graph.name)} has no classes, so tables by class are left out."


def no_scores(method: str) -> str:
    """Return the note for a method without edge scores."""
    label = palette.label(method)
    if method == "random":
        return f"{label} removes edges at random: there are no scores, and a removal says nothing about the edge."
    return f"{label} stores no edge scores: only the round of each removal is known."
