"""Graphs as one file: equal after reading, equal bytes after writing twice, damage in one sentence."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from glt.data import Graph, Provenance, Split
from glt.data.archive import read_graph, write_graph
from glt.errors import DataError


def make(rng: np.random.Generator, nodes: int, features: int, binary: bool) -> Graph:
    pairs = np.stack(np.triu_indices(nodes, 1))
    matrix = rng.random((nodes, features), dtype=np.float32) * (rng.random((nodes, features)) < 0.3)
    split = np.split(rng.permutation(nodes), [nodes // 3, nodes // 2])
    return Graph(
        name="made",
        edges=pairs[:, rng.random(pairs.shape[1]) < 0.2],
        features=csr_array((matrix > 0).astype(np.float32) if binary else matrix),
        labels=rng.integers(-1, 400, nodes),
        split=Split(*(np.sort(part) for part in split)),
        provenance=Provenance("made", 10, 2, 1),
        class_names=("a", "ü <b>"),
    )


def same(one: Graph, other: Graph) -> bool:
    plain = ("name", "provenance", "class_names", "node_ids")
    return one.content_hash == other.content_hash and all(getattr(one, x) == getattr(other, x) for x in plain)


@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 40), features=st.integers(1, 9), binary=st.booleans())
def test_a_graph_survives_the_file(
    tmp_path_factory: pytest.TempPathFactory, seed: int, nodes: int, features: int, binary: bool
) -> None:
    path = tmp_path_factory.mktemp("archive") / "graph.npz"
    graph = make(np.random.default_rng(seed), nodes, features, binary)
    write_graph(path, graph)
    read = read_graph(path)
    assert same(graph, read)
    assert read.features.dtype == np.float32
    assert (read.features != graph.features).nnz == 0


def test_equal_graphs_give_equal_bytes_and_nothing_beside(tmp_path: Path) -> None:
    graph = dataclasses.replace(make(np.random.default_rng(0), 30, 5, binary=True), node_ids=tuple(map(str, range(30))))
    write_graph(tmp_path / "one.npz", graph)
    write_graph(tmp_path / "two.npz", read_graph(tmp_path / "one.npz"))
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_truncated_file_is_one_sentence(tmp_path: Path, share: float) -> None:
    path = tmp_path / "graph.npz"
    write_graph(path, make(np.random.default_rng(0), 30, 5, binary=True))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DataError, match="cannot be read as a graph") as caught:
        read_graph(path)
    assert str(path) in str(caught.value)


def test_pickles_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    np.savez(path, edges=np.array([{"an": "object"}], dtype=object))
    with pytest.raises(DataError, match="allow_pickle=False"):
        read_graph(path)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_graph(tmp_path / "none.npz")


def test_a_flipped_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path, graph = tmp_path / "graph.npz", make(np.random.default_rng(0), 30, 5, binary=True)
    write_graph(path, graph)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with suppress(DataError):
            assert read_graph(path).content_hash == graph.content_hash
