"""Large graphs on disk: everything they have comes back, whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glt.data import Graph
from glt.data.graph import LinkSplit
from glt.data.mapped_archive import read_mapped, remove_others, sizes_of, write_mapped
from glt.errors import DataError


@pytest.fixture
def graph(small_graph: Graph) -> Graph:
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


def test_everything_comes_back(graph: Graph, tmp_path: Path) -> None:
    write_mapped(tmp_path / "graph", graph)
    again = read_mapped(tmp_path / "graph")
    assert replace(again).content_hash == again.content_hash == graph.content_hash
    assert again.sizes == graph.sizes == sizes_of(tmp_path / "graph")
    assert (again.name, again.class_names, again.provenance) == (graph.name, graph.class_names, graph.provenance)
    assert again.edges.dtype == again.labels.dtype == np.int64
    assert again.targets is not None
    assert again.targets.dtype == np.uint8


def test_the_hash_of_the_content_is_known_without_reading_it(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mapped(tmp_path / "graph", graph)
    expected = graph.content_hash
    monkeypatch.setattr(Graph, "_parts", lambda graph: pytest.fail("reads features that lie in a file"))
    assert read_mapped(tmp_path / "graph").content_hash == expected


def test_what_a_graph_has_not_is_not_there(graph: Graph, tmp_path: Path) -> None:
    write_mapped(tmp_path / "graph", replace(graph, targets=None, edge_features=None, links=None))
    again = read_mapped(tmp_path / "graph")
    assert (again.targets, again.edge_features, again.links) == (None, None, None)


def test_a_second_graph_takes_the_place_of_the_first(graph: Graph, tmp_path: Path) -> None:
    write_mapped(tmp_path / "graph", graph)
    other = replace(graph, labels=graph.labels[::-1].copy())
    write_mapped(tmp_path / "graph", other)
    again = read_mapped(tmp_path / "graph")
    assert replace(again).content_hash == again.content_hash == other.content_hash != graph.content_hash
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_a_write_that_fails_leaves_nothing(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space"):
        write_mapped(tmp_path / "graph", graph)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as a graph"):
        read_mapped(tmp_path / "graph")


def test_features_of_another_graph_are_refused(graph: Graph, tmp_path: Path) -> None:
    write_mapped(tmp_path / "graph", graph)
    np.save(tmp_path / "graph" / "features.npy", np.zeros((6, 5), np.float32))
    with pytest.raises(DataError, match=r"features\.npy holds \(6, 5\)"):
        read_mapped(tmp_path / "graph")


def test_only_other_folders_of_the_same_place_go(graph: Graph, tmp_path: Path) -> None:
    for name in ("set-1-here-a", "set-1-here-b", "set-1-there-a"):
        write_mapped(tmp_path / name, graph)
    remove_others(tmp_path / "set-1-here-b", "set-1-here-*")
    assert {path.name for path in tmp_path.iterdir()} == {"set-1-here-b", "set-1-there-a"}
