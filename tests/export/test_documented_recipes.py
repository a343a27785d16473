"""The recipes of docs/ticket-file.md beside the loader: its commands, and how NetworkX reads the sparse graph."""

from __future__ import annotations

import re
import runpy
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from glt.cli.main import main
from glt.data import Graph
from glt.export.graph_formats import GRAPH_FORMATS
from glt.export.sparse_graph import SparseGraph
from glt.masks import EdgeMask
from glt.store import SeedRun
from tests.export.test_plain_pyg import DOCUMENT, blocks_of

# Entries of the small graph: (0,1) (0,2) (1,2) (2,3) (4,5), then the same the other way round.
MASKS = {
    "directed": EdgeMask("directed", np.array([1, 0, 1, 1, 0, 1, 1, 0, 0, 0])),
    "undirected": EdgeMask("undirected", np.array([1, 0, 1, 1, 0])),
}
LEFT = {"directed": {(0, 1), (1, 2), (2, 3), (1, 0), (2, 0)}, "undirected": {(0, 1), (1, 2), (2, 3)}}
# Names that pandas takes for a missing value, unless it is told not to.
IDS = ("NA", "null", "c", "nan", "5", "06")


@pytest.fixture
def graph(small_graph: Graph) -> Graph:
    return replace(small_graph, node_ids=IDS, labels=np.array([0, 1, 0, 1, 2, -1]))


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("form", GRAPH_FORMATS)
def test_networkx_reads_the_graph_by_the_recipe(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    sparse = SparseGraph.under(graph, MASKS[kind], "small")
    name = f"graph{GRAPH_FORMATS[form].ending}"
    Path(name).write_bytes(GRAPH_FORMATS[form].write(sparse))
    (recipe,) = [block for block in blocks_of("The sparse graph alone") if name in block]
    Path("recipe.py").write_text(recipe, encoding="utf-8")
    read: nx.Graph = runpy.run_path("recipe.py")["graph"]
    if form == "graphml":
        read = nx.relabel_nodes(read, dict(read.nodes(data="label")))
    assert read.is_directed() == (kind == "directed")
    expected = nx.DiGraph() if kind == "directed" else nx.Graph()
    expected.add_edges_from((IDS[low], IDS[high]) for low, high in LEFT[kind])
    if form != "csv":
        expected.add_nodes_from(IDS)
    assert nx.utils.graphs_equal(bare(read), expected)
    if form == "npz":
        assert read.nodes["06"]["label"] == -1


def bare(graph: nx.Graph) -> nx.Graph:
    """A graph without what its nodes and edges are called."""
    found = type(graph)(list(graph.edges()))
    found.add_nodes_from(graph)
    return found


def test_every_command_of_the_document_runs(
    draw: Callable[..., SeedRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = draw().path.parent
    commands = re.findall(r"`python -m glt ([^`]*)`", DOCUMENT.read_text(encoding="utf-8"))
    assert {command.split()[0] for command in commands} == {"export", "import"}
    for command in commands:
        words = shlex.split(command.replace("RUN", str(run)).replace("--round K", "--round 1"))
        # The masks of this run are drawn: its record states scores that its check does not find.
        assert main(words) == (1 if words[0] == "import" else 0)
        told = capsys.readouterr()
        assert told.err == ""
        assert "Wrote" in told.out or "checksums fit" in told.out
