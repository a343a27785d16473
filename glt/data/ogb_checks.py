"""What OGB's tables must hold to be the data set that their name promises; DataError names the file that does not."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np

from glt.data.graph import DenseArray, IntArray, LinkSplit, Split, simple_edges
from glt.data.ogb_files import refusal
from glt.data.ogb_reading import Array, OgbRead, as_int_array
from glt.formats import count

# Negatives drawn at random may be edges of their part: fewer than one in the published set, some in a small one.
BY_CHANCE = 0.05


def node_ids(read: OgbRead, name: str, ids: IntArray) -> IntArray:
    """Return ids after making sure that the graph has such nodes."""
    if ids.size and not (ids.min() >= 0 and ids.max() < read.nodes):
        wrong = ids[(ids < 0) | (ids >= read.nodes)].flat[0]
        raise refusal(read.path(name), f"names node {wrong}, and nodes are 0 to {count(read.nodes - 1)}")
    return ids


def raw_edges(read: OgbRead) -> IntArray:
    """Return the raw edges [2, R] after checking the ids in them."""
    if read.pairs.shape[0] != 2:
        raise refusal(read.path("edge"), f"has {read.pairs.shape[0]} columns, not 2")
    return node_ids(read, "edge", read.pairs)


def simple(read: OgbRead, name: str, pairs: IntArray) -> tuple[IntArray, int, int]:
    """Return simple edges, duplicates and self-loops of raw [2, R] pairs after making sure that edges are left."""
    edges, duplicates, loops = simple_edges(pairs, read.nodes)
    if not edges.size:
        raise refusal(read.path(name), "holds self-loops only, so that no edge is left")
    return edges, duplicates, loops


def finite(read: OgbRead, name: str, columns: int) -> DenseArray:
    """Return a table of `columns` finite numbers a row as float32."""
    values = _table(read, name, columns)
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise refusal(read.path(name), "holds an entry that is no finite number")
    return np.asarray(values, dtype=np.float32)


def whole(read: OgbRead, name: str, columns: int, below: int | None = None) -> IntArray:
    """Return a table of `columns` whole numbers a row, all in 0 to below - 1."""
    values = _table(read, name, columns)
    if values.dtype.kind not in "iu":
        raise refusal(read.path(name), "holds an entry that is no whole number")
    if below is not None and not (values.min() >= 0 and values.max() < below):
        raise refusal(
            read.path(name), f"holds {values.min()} to {values.max()}, and what it numbers runs from 0 to {below - 1}"
        )
    return as_int_array(values)


def _table(read: OgbRead, name: str, columns: int) -> Array:
    values = read.tables[name]
    if values.shape[1] != columns:
        raise refusal(read.path(name), f"has {values.shape[1]} columns, not {columns}")
    return values


def node_split(read: OgbRead) -> Split:
    """Return the parts sorted, after making sure that none is empty and no node is listed twice."""
    parts = {part: np.sort(node_ids(read, part, as_int_array(read.split[part]))) for part in read.split}
    for part, nodes in parts.items():
        if not nodes.size:
            raise refusal(read.path(part), "lists no node")
        if np.unique(nodes).size != nodes.size:
            raise refusal(read.path(part), "lists a node twice")
    for (one, nodes), (other, others) in combinations(parts.items(), 2):
        if shared := np.intersect1d(nodes, others).size:
            raise refusal(read.path(other), f"shares {count(shared)} nodes with the part {one}")
    return Split(*(parts[part] for part in ("train", "valid", "test")))


def link_split(read: OgbRead) -> tuple[LinkSplit, tuple[int, int, int]]:
    """Return the parts as LinkSplit, and of the training part raw rows, duplicates and self-loops.

    Training edges are simple and sorted; what is scored, positives and negatives, is as the files have it.
    """
    listed = _pairs(read, "train", "edge")
    train, duplicates, loops = simple(read, "train", listed)
    scored = [_pairs(read, part, kind) for kind in ("edge", "edge_neg") for part in ("valid", "test")]
    links = LinkSplit(train, *scored)
    _check_negatives(read, "valid", links.val, links.val_negatives)
    _check_negatives(read, "test", links.test, links.test_negatives)
    return links, (listed.shape[1], duplicates, loops)


def _check_negatives(read: OgbRead, part: str, edges: IntArray, negatives: IntArray) -> None:
    """Refuse a part whose edges are to be told from themselves, and say so of the few pairs that chance brings there.

    Who wrote together in training may do so again later: that is no fault.
    """
    shared = int(np.isin(_codes(negatives, read.nodes), _codes(edges, read.nodes)).sum())
    told = f"lists {count(shared)} of {count(negatives.shape[1])} pairs in 'edge_neg' as edges too"
    if shared > BY_CHANCE * negatives.shape[1]:
        raise refusal(read.path(part), told)
    if shared:
        print(f"{read.path(part)} {told}: they stay as they are.", file=sys.stderr, flush=True)


def _codes(pairs: IntArray, nodes: int) -> IntArray:
    """Number undirected pairs [2, n]: the same pair, the same number."""
    codes: IntArray = pairs.min(axis=0) * nodes + pairs.max(axis=0)
    return codes


def check_weights(read: OgbRead) -> None:
    """Make sure that weights of edges are numbers from 0; no network here uses them."""
    if finite(read, "edge_weight", 1).min() < 0:
        raise refusal(read.path("edge_weight"), "holds a number below 0")


def _pairs(read: OgbRead, part: str, kind: str) -> IntArray:
    held = read.split[part]
    if not isinstance(held, dict) or kind not in held:
        raise refusal(read.path(part), f"holds no array {kind!r}")
    pairs = np.asarray(held[kind])
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not pairs.size or pairs.dtype.kind not in "iu":
        raise refusal(read.path(part), f"holds in {kind!r} no pairs of nodes")
    return node_ids(read, part, np.ascontiguousarray(as_int_array(pairs).T))
