"""Nodes whose class nobody knows, such as 15 papers of Citeseer: in no class in any file, table, picture or measure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.text import Text

from analysis.export import FigureChoices, draw
from analysis.measures import MeasuredGraph, measure_graph
from analysis.measures.centrality import betweenness
from analysis.measures.tables import node_table, with_names
from analysis.removal.groups import by_pair, edge_groupings, loss_table, node_groupings
from analysis.subgraphs import Sample, original_panel, sample_nodes, take
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.overview import overview_png
from analysis.subgraphs.panel import classes_of
from glt.data import DATASETS, Graph, load_graph
from glt.errors import ConfigError
from glt.masks import EdgeMask, Masks, WeightMask
from glt.presets import resolve
from glt.store import Store
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph
from glt.ticket_file.io import read_ticket, ticket_bytes
from glt.ticket_file.ticket import Ticket, arrays_of, make_ticket
from glt.ticket_file.verify import check
from glt.training.problem import Problem
from tests.conftest import made_up
from tests.ticket_file.conftest import changed

UNKNOWN = "unknown class"


@pytest.fixture
def graph() -> Graph:
    return load_graph("citeseer")


@pytest.fixture
def nobody(graph: Graph) -> list[int]:
    """The nodes of no class."""
    found = np.flatnonzero(graph.labels == -1).tolist()
    assert len(found) == 15
    return found


@pytest.fixture
def ticket(tmp_path: Path, graph: Graph) -> Ticket:
    """A ticket on Citeseer, drawn and not trained."""
    seed = Store(tmp_path).create(resolve({"dataset": "citeseer", "hidden": 4, "rounds": 1})).seed(0)
    problem, generator = Problem(seed.config, graph), np.random.default_rng(0)
    weights = {spec.name: generator.normal(size=spec.shape).astype("f4") for spec in problem.specs}
    with seed.lock():
        seed.write_init(weights)
        seed.write_round(made_up(0, problem.full_masks(), seed), problem.full_masks(), weights)
    return make_ticket(seed, 0)


def test_a_ticket_has_no_class_for_them(ticket: Ticket, nobody: list[int], tmp_path: Path) -> None:
    assert arrays_of(ticket)["labels"][nobody].tolist() == [-1] * 15
    path = tmp_path / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    again = read_ticket(path)
    assert again.graph.labels[nobody].tolist() == [-1] * 15
    assert check(again, path).contradictions == ()


def test_a_ticket_of_an_earlier_version_still_passes(ticket: Ticket, graph: Graph, tmp_path: Path) -> None:
    """Its 15 nodes have class 0 there, and its hash is that of then."""
    path = tmp_path / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    (former,) = DATASETS.get("citeseer").former_hashes

    def change(document: dict[str, Any]) -> None:
        document["data"]["hash"] = document["environment"]["data_hash"] = former

    report = check(read_ticket(changed(path, change, labels=np.maximum(graph.labels, 0))), path)
    assert report.contradictions == ()
    assert graph.has_content(report.graph_hash)


def test_the_sparse_graph_has_no_class_for_them(graph: Graph, nobody: list[int]) -> None:
    sparse = SparseGraph.under(graph, EdgeMask.full("undirected", graph.num_edges), "Citeseer")
    read = nx.parse_graphml(GRAPH_FORMATS["graphml"].write(sparse).decode())
    classes = dict(read.nodes(data="class"))
    assert {name for name, told in classes.items() if not told} == {f"n{node}" for node in nobody}
    with np.load(io.BytesIO(GRAPH_FORMATS["npz"].write(sparse))) as held:
        assert np.flatnonzero(held["labels"] == -1).tolist() == nobody


def test_homophily_leaves_their_edges_out(graph: Graph) -> None:
    assert measure_graph(graph, names=["edge_homophily"])["edge_homophily"] == pytest.approx(0.73765, abs=1e-5)


def test_tables_say_so(graph: Graph, nobody: list[int]) -> None:
    assert classes_of(graph, nobody) == [UNKNOWN] * 15
    found = betweenness(MeasuredGraph.of(graph), 8)
    table = with_names(graph, node_table(graph, EdgeMask.full("directed", graph.num_edges), found, found, "original"))
    assert (table["class"] == UNKNOWN).sum() == 15


def test_groups_count_them_as_none(graph: Graph, nobody: list[int]) -> None:
    edges = int(np.isin(graph.edges, nobody).any(axis=0).sum())
    relation = next(each for each in edge_groupings(graph) if each.name == "relation")
    assert relation.sizes[2] == edges == graph.num_edges - by_pair(graph).sizes.sum() > 0
    (by_class,) = [each for each in node_groupings(graph) if each.name == "class"]
    linked = np.unique(graph.edges)
    assert by_class.sizes.sum() == linked.size - np.isin(nobody, linked).sum()
    table = loss_table(graph, EdgeMask.full("directed", graph.num_edges), draws=2)
    assert table.loc[(table["grouping"] == "relation") & (table["group"] == 2), "size"].tolist() == [edges]


def test_pictures_have_a_key_for_them(graph: Graph, nobody: list[int]) -> None:
    part = take(graph, sample_nodes(graph, "nodes", 30, nodes=nobody))
    assert part.legend_labels()[-1] == -1
    assert part.label_name(-1) == UNKNOWN
    assert f"{UNKNOWN}</li>" in panels_html([original_panel(graph, part)], False, 400)
    assert overview_png(original_panel(graph, part), np.array([0]))[:4] == b"\x89PNG"
    known = take(graph, np.flatnonzero(graph.labels == 2)[:5])
    assert known.legend_labels() == [2]


def test_a_figure_for_paper_has_a_key_for_them(graph: Graph, nobody: list[int], tmp_path: Path) -> None:
    run = Store(tmp_path).create(resolve({"dataset": "citeseer", "rounds": 1}))
    with run.seed(0).lock():
        masks = Masks(EdgeMask.full("directed", graph.num_edges), WeightMask.full({"layers.0.weight": (3703, 2)}))
        run.seed(0).write_init({"layers.0.weight": np.ones((3703, 2), dtype="f4")})
        run.seed(0).write_round(made_up(0, masks, run.seed(0)), masks, {"layers.0.weight": np.ones((3703, 2), "f4")})
    for grey in (False, True):
        choices = FigureChoices(sample=Sample("nodes", 30, nodes=tuple(nobody)), round=0, grey=grey)
        words = [text.get_text() for text in draw("subgraphs", [run], choices).findobj(Text)]
        assert words.count(UNKNOWN) == 1


def test_a_sample_of_one_class_is_never_theirs(graph: Graph, nobody: list[int]) -> None:
    with pytest.raises(ConfigError, match=rf"The class of node '{nobody[0]}' in citeseer is unknown: choose a class"):
        sample_nodes(graph, "class", 10, center=nobody[0])
    for label in range(graph.num_classes):
        assert (graph.labels[sample_nodes(graph, "class", 10, center=nobody[0], label=label)] == label).all()
