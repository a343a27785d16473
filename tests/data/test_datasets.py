"""The registered data sets: what they promise is what they load, with the facts that loaders like to lose."""

from __future__ import annotations

import numpy as np
import pytest

from glt.data import DATASETS, Graph, load_graph
from glt.errors import ConfigError

# Raw rows, duplicates and self-loops dropped; nodes without edges; rows without features.
FACTS = {
    "cora": ((5429, 151, 0), 0, 0),
    "citeseer": ((4732, 56, 124), 48, 15),
    "pubmed": ((44338, 11, 3), 0, 0),
}
SPLITS = {"cora": (140, 500, 1000), "citeseer": (120, 500, 1000), "pubmed": (60, 500, 1000)}
COUNTS = {"cora": (2708, 5278, 1433, 7), "citeseer": (3327, 4552, 3703, 6), "pubmed": (19717, 44324, 500, 3)}


def counts(graph: Graph) -> tuple[int, int, int, int]:
    return graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes


def test_the_three_planetoid_sets_are_registered() -> None:
    assert set(COUNTS) <= set(DATASETS.names())
    assert [spec.name for spec in DATASETS if spec.bundled] == ["citeseer", "cora", "pubmed"]


@pytest.mark.parametrize("name", COUNTS)
def test_counts_facts_and_splits(name: str) -> None:
    spec = DATASETS.get(name)
    graph = spec.load()
    assert counts(graph) == COUNTS[name] == (spec.nodes, spec.edges, spec.features, spec.classes)
    assert graph.split.train.size == spec.trained

    rows, isolated, empty = FACTS[name]
    source = graph.provenance
    assert (source.raw_rows, source.duplicates_dropped, source.self_loops_dropped) == rows
    assert graph.num_nodes - np.unique(graph.edges).size == isolated
    assert int((np.diff(graph.features.indptr) == 0).sum()) == empty

    parts = (graph.split.train, graph.split.val, graph.split.test)
    assert tuple(part.size for part in parts) == SPLITS[name]
    assert np.unique(np.concatenate(parts)).size == sum(SPLITS[name])
    assert all((np.diff(part) > 0).all() for part in parts)
    assert len(graph.class_names) == graph.num_classes


def test_citeseer_papers_in_no_table_have_no_words_no_class_and_no_part_but_edges() -> None:
    graph = DATASETS.get("citeseer").load()
    wordless = np.flatnonzero(np.diff(graph.features.indptr) == 0)
    assert wordless.size == 15
    assert np.array_equal(np.flatnonzero(graph.labels == -1), wordless)
    assert np.isin(wordless, graph.edges).all()
    assert not np.isin(wordless, np.concatenate([graph.split.train, graph.split.val, graph.split.test])).any()


def test_citeseer_class_names_stand_at_classes_of_their_size() -> None:
    # Sizes of the named classes where the set was first published (LINQS).
    published = {
        "Agents": 596,
        "Artificial Intelligence": 249,
        "Databases": 701,
        "Information Retrieval": 668,
        "Machine Learning": 590,
        "Human-Computer Interaction": 508,
    }
    graph = DATASETS.get("citeseer").load()
    sizes = np.bincount(graph.labels[graph.labels >= 0])
    assert dict(zip(graph.class_names, sizes.tolist(), strict=True)) == published


def test_a_graph_is_read_once_a_process() -> None:
    assert load_graph("cora") is load_graph("cora")


def test_an_unknown_data_set_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Unknown data set 'coar': did you mean 'cora'"):
        load_graph("coar")
