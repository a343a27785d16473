"""Graphs, their files on disk, and the lock of the cache."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from glt.datasets import Graph, Provenance, Split, simple_edges
from glt.datasets.cache import file_lock, scratch_folder
from glt.datasets.graph import LinkSplit
from glt.datasets.npz import read_graph, read_mapped, remove_others, sizes_of, write_graph, write_mapped
from glt.errors import DataError
from tests.datasets.conftest import refused

MAX_NODES = 12
nodes = st.integers(0, MAX_NODES - 1)


def graph(edges: list[list[int]], nodes: int = 4, rows: int | None = None) -> Graph:
    none = np.empty(0, dtype=np.int64)
    return Graph(
        name="tiny",
        edges=np.array(edges, dtype=np.int64),
        features=csr_array(np.eye(nodes if rows is None else rows, dtype=np.float32)),
        labels=np.zeros(nodes, dtype=np.int64),
        split=Split(none, none, none),
        provenance=Provenance("by hand", len(edges), 0, 0),
    )


@given(st.lists(st.tuples(nodes, nodes), max_size=40))
def test_simple_edges_are_unique_unordered_pairs(rows: list[tuple[int, int]]) -> None:
    edges, duplicates, loops = simple_edges(np.array(rows, dtype=np.int64).reshape(-1, 2).T, MAX_NODES)
    expected = sorted({(min(row), max(row)) for row in rows if row[0] != row[1]})
    assert [tuple(pair) for pair in edges.T.tolist()] == expected
    assert loops == sum(a == b for a, b in rows)
    assert duplicates + loops + edges.shape[1] == len(rows)
    assert graph(edges.tolist(), MAX_NODES).num_edges == edges.shape[1]


@pytest.mark.parametrize(
    "edges",
    [
        [[1], [0]],  # the larger end first
        [[2], [2]],  # a self-loop
        [[0, 0], [1, 1]],  # a repeat
        [[1, 0], [2, 1]],  # not sorted
        [[0, 0], [3, 1]],  # not sorted in the second end
        [[0], [4]],  # beyond the last node
        [[-1], [0]],
        [[0, 1]],  # not pairs
    ],
)
def test_bad_edges_are_refused(edges: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"edges must be|not enough values"):
        graph(edges)


def test_entries_list_every_edge_in_both_directions() -> None:
    with pytest.raises(ValueError, match="3 feature rows for 4 nodes"):
        graph([[0], [1]], rows=3)
    assert graph([[0, 1], [1, 3]]).entries().tolist() == [[0, 1, 1, 3], [1, 3, 0, 1]]


def test_content_hash_depends_on_content_only() -> None:
    one = graph([[0, 1], [1, 3]])
    for same in (replace(one, name="other"), replace(one, edges=one.edges.astype(np.int32))):
        assert one.content_hash == same.content_hash
    for changed in (
        graph([[0, 1], [1, 2]]),
        replace(one, labels=np.array([0, 0, 0, 1])),
        replace(one, split=Split(*np.eye(3, dtype=np.int64))),
    ):
        assert one.content_hash != changed.content_hash


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
def test_a_graph_file_round_trips(
    tmp_path_factory: pytest.TempPathFactory, seed: int, nodes: int, features: int, binary: bool
) -> None:
    path = tmp_path_factory.mktemp("archive") / "graph.npz"
    graph = make(np.random.default_rng(seed), nodes, features, binary)
    write_graph(path, graph)
    read = read_graph(path)
    assert same(graph, read)
    assert read.features.dtype == np.float32
    assert (read.features != graph.features).nnz == 0


def test_equal_graphs_give_equal_bytes(tmp_path: Path) -> None:
    graph = replace(make(np.random.default_rng(0), 30, 5, binary=True), node_ids=tuple(map(str, range(30))))
    write_graph(tmp_path / "one.npz", graph)
    write_graph(tmp_path / "two.npz", read_graph(tmp_path / "one.npz"))
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda whole: b"", ""),
        (lambda whole: whole[: len(whole) // 2], ""),
        (lambda whole: whole[: int(len(whole) * 0.99)], ""),
        (lambda whole: pickled(), "allow_pickle=False"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_not_a_graph_is_one_sentence(
    tmp_path: Path, damage: Callable[[bytes], bytes] | None, why: str
) -> None:
    path = tmp_path / "graph.npz"
    if damage:
        write_graph(path, make(np.random.default_rng(0), 30, 5, binary=True))
        path.write_bytes(damage(path.read_bytes()))
    message = refused(lambda: read_graph(path))
    assert message.startswith(f"{path} cannot be read as a graph (")
    assert why in message


def pickled() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, edges=np.array([{"an": "object"}], dtype=object))
    return buffer.getvalue()


def test_a_flipped_byte_is_detected_or_harmless(tmp_path: Path) -> None:
    path, graph = tmp_path / "graph.npz", make(np.random.default_rng(0), 30, 5, binary=True)
    write_graph(path, graph)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with suppress(DataError):
            assert read_graph(path).content_hash == graph.content_hash


@pytest.fixture
def full_graph(small_graph: Graph) -> Graph:
    """The small graph with dense features and all that only some graphs have."""
    generator = np.random.default_rng(0)
    pairs = [generator.integers(0, 6, (2, count)) for count in (2, 3, 4, 5)]
    return replace(
        small_graph,
        features=generator.random((6, 4), dtype=np.float32),
        targets=generator.integers(0, 2, (6, 3)).astype(np.uint8),
        edge_features=generator.random((5, 2), dtype=np.float32),
        links=LinkSplit(small_graph.edges, *pairs),
        class_names=("a", "b", "ß"),
    )


def test_a_cached_graph_round_trips_and_can_be_replaced(
    full_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(full_graph, labels=full_graph.labels[::-1].copy(), targets=None, edge_features=None, links=None)
    for graph in (full_graph, bare):
        write_mapped(tmp_path / "graph", graph)
        again = read_mapped(tmp_path / "graph")
        assert same(graph, replace(again))
        assert again.sizes == graph.sizes == sizes_of(tmp_path / "graph")
        assert again.edges.dtype == again.labels.dtype == np.int64
        assert [path.name for path in tmp_path.iterdir()] == ["graph"]
        if graph.targets is None:
            assert (again.targets, again.edge_features, again.links) == (None, None, None)
        else:
            assert again.targets.dtype == np.uint8
    expected = graph.content_hash
    monkeypatch.setattr(Graph, "_parts", lambda graph: pytest.fail("reads features that lie in a file"))
    assert read_mapped(tmp_path / "graph").content_hash == expected


def test_a_write_that_fails_leaves_nothing(full_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space"):
        write_mapped(tmp_path / "graph", full_graph)
    assert list(tmp_path.iterdir()) == []


def test_features_that_do_not_belong_are_refused(full_graph: Graph, tmp_path: Path) -> None:
    write_mapped(tmp_path / "graph", full_graph)
    np.save(tmp_path / "graph" / "features.npy", np.zeros((6, 5), np.float32))
    assert "features.npy has shape (6, 5)" in refused(lambda: read_mapped(tmp_path / "graph"))
    assert "cannot be read as a graph" in refused(lambda: read_mapped(tmp_path / "none"))


def test_only_older_folders_of_the_same_data_are_removed(full_graph: Graph, tmp_path: Path) -> None:
    for name in ("set-1-here-a", "set-1-here-b", "set-1-there-a"):
        write_mapped(tmp_path / name, full_graph)
    remove_others(tmp_path / "set-1-here-b", "set-1-here-*")
    assert {path.name for path in tmp_path.iterdir()} == {"set-1-here-b", "set-1-there-a"}


OTHER = """
import sys
from pathlib import Path
from glt.datasets.cache import file_lock
print("started", flush=True)
with file_lock(Path(sys.argv[1]), "reading"):
    print(Path(sys.argv[2]).exists(), flush=True)
"""


def test_a_second_process_waits_with_a_message(tmp_path: Path) -> None:
    done = tmp_path / "done"
    with file_lock(tmp_path / "locks" / "lock", "reading"):
        other = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(tmp_path / "locks" / "lock"), str(done)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert other.stdout is not None
        assert other.stderr is not None
        assert other.stdout.readline() == "started\n"
        assert other.stderr.readline() == "Waiting: another process is reading.\n"
        done.touch()
    assert other.communicate(timeout=1800)[0] == "True\n"


def test_the_cache_works_without_locks_and_releases_on_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for lock in (tmp_path / "file" / "lock", tmp_path / "lock", tmp_path / "lock"):
        with pytest.raises(ValueError, match="inside"), file_lock(lock, "reading"):
            raise ValueError("inside")
    assert capsys.readouterr().err == ""


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    for name in (".ogb-old", ".ogb-new", "mine-old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    long_ago = time.time() - 2 * 86_400
    for name in (".ogb-old", "mine-old"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    with scratch_folder(tmp_path, ".ogb-") as made:
        assert made.parent == tmp_path
        assert {path.name for path in tmp_path.iterdir()} == {".ogb-new", "mine-old", made.name}
    assert not made.exists()
