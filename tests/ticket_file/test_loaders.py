"""The loaders and recipes of docs/ticket-file.md and of the README in a ticket file run without this program."""

from __future__ import annotations

import io
import re
import runpy
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch

from glt.cli.main import main
from glt.datasets import Graph
from glt.masks import EdgeMask
from glt.models import MODELS
from glt.store import SeedRun
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph
from glt.ticket_file.io import SHARED, ticket_bytes
from glt.ticket_file.io import loaders as readme_loaders
from glt.ticket_file.ticket import Ticket, make_ticket

DOCUMENT = Path(__file__).parents[2] / "docs" / "ticket-file.md"
LINK = {"task": "link", "link_objective": "bce"}


def blocks_of(section: str) -> list[str]:
    """Return the code blocks of a section of the document."""
    text = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def documented_program(folder: Path) -> dict[str, Any]:
    """Run the loader's code blocks in the document, as they stand there, on the file `ticket.zip` in a folder."""
    blocks = blocks_of("Load it in plain PyTorch Geometric")
    script = folder / "load.py"
    script.write_text("\n".join(blocks).replace('"ticket.zip"', repr(str(folder / "ticket.zip"))), encoding="utf-8")
    return runpy.run_path(str(script))


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gcn"},
        {"model": "gcn", "degree": "target", "layers": 3},
        {"model": "gcn", "degree": "both", "edge_mask": "undirected"},
        {"model": "gcn", "degree": "fixed"},
        {"model": "gcn", **LINK},
        {"model": "gin"},
        {"model": "gin", "preset": "official"},
        {"model": "gin", "gin_aggregation": "mean", "gin_degree": "surviving", "layers": 3},
        {"model": "gin", "preset": "official", **LINK},
        {"model": "resgcn", "layers": 3},
        {"model": "resgcn", "layers": 3, "gen_mlp": 3, "gen_norm": "layer", "gen_self_loops": True, "gen_t": 0.5},
        {"model": "gat", "gat_heads": 2},
        {"model": "gat", "gat_heads": 3, "preset": "official", "layers": 3, "gat_slope": 0.1},
    ],
    ids=lambda settings: " ".join(map(str, settings.values())),
)
def test_the_documented_loader_gives_the_same_outputs(
    draw: Callable[..., SeedRun], tmp_path: Path, settings: dict[str, object]
) -> None:
    ticket = make_ticket(draw(**settings), 1)
    (tmp_path / "ticket.zip").write_bytes(ticket_bytes(ticket))
    found = documented_program(tmp_path)
    assert ticket.masks.edges.sparsity > 0.39
    assert torch.isfinite(found["outputs"]).all()
    assert found["outputs"].abs().max() > 0.1
    # Sums over neighbours make a GIN's outputs large, and single precision is relative.
    largest = max(1.0, float(np.abs(ticket.outputs).max()))
    assert (found["outputs"] - torch.from_numpy(ticket.outputs)).abs().max() <= 1e-5 * largest


def test_another_normalisation_is_noticed(draw: Callable[..., SeedRun], tmp_path: Path) -> None:
    """PyG's own degrees are those of the receiving side: the test above must not pass by chance."""
    ticket = make_ticket(draw(model="gcn"), 1)
    (tmp_path / "ticket.zip").write_bytes(ticket_bytes(ticket))
    found = documented_program(tmp_path)
    tensors = {**found["t"], "edge_weight": torch.ones_like(found["t"]["edge_weight"])}
    with torch.no_grad():
        other = found["gcn"](found["about"], tensors, found["x"])
    assert (other - found["outputs"]).abs().max() > 1e-3


WITHOUT_US = """
import runpy, sys
for name in ("glt", "analysis", "app"):
    sys.modules[name] = None
runpy.run_path("load.py", run_name="__main__")
"""


def program(readme: str) -> str:
    (block,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    return block


def run_readme(ticket: Ticket, folder: Path, unpacked: bool = False) -> str:
    """Do what the README of a ticket file says, with the file alone; return what the program prints."""
    content = ticket_bytes(ticket)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (folder / "load.py").write_text(program(archive.read("README.md").decode()), encoding="utf-8")
        if unpacked:
            archive.extractall(folder / "ticket")
        else:
            (folder / "ticket.zip").write_bytes(content)
    name = "ticket" if unpacked else "ticket.zip"
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_US, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gcn"},
        {"model": "gcn", **LINK},
        {"model": "gin", "preset": "official"},
        {"model": "gat", "gat_heads": 2},
        {"model": "resgcn", "layers": 3},
    ],
    ids=lambda settings: " ".join(map(str, settings.values())),
)
def test_the_program_in_the_readme_runs_without_glt(
    draw: Callable[..., SeedRun], tmp_path: Path, settings: dict[str, object]
) -> None:
    told = run_readme(make_ticket(draw(**settings), 1), tmp_path)
    assert "the outputs are those of the file: [2708, " in told
    assert ("test accuracy: " in told) == (settings.get("task") != "link")


def test_it_finds_the_score_that_the_file_states_in_the_unpacked_folder_too(ticket: Ticket, tmp_path: Path) -> None:
    told = run_readme(ticket, tmp_path, unpacked=True)
    assert float(told.split("test accuracy: ")[1]) == pytest.approx(ticket.about.record.test, abs=1e-9)


def test_a_zip_that_was_packed_again_in_a_folder_runs_too(ticket: Ticket, tmp_path: Path) -> None:
    content = ticket_bytes(ticket)
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(tmp_path / "again.zip", "w") as again:
        (tmp_path / "load.py").write_text(program(archive.read("README.md").decode()), encoding="utf-8")
        for name in archive.namelist():
            again.writestr(f"my ticket/{name}", archive.read(name))
            again.writestr(f"__MACOSX/my ticket/._{name}", b"junk")
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_US, "again.zip"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the outputs are those of the file" in done.stdout


def test_other_outputs_end_the_program(ticket: Ticket, tmp_path: Path) -> None:
    """The program compares: it must not pass whatever the file holds."""
    ticket.weights["layers.1.weight"][0] += 1.0
    with pytest.raises(AssertionError, match="other outputs than the file's"):
        run_readme(ticket, tmp_path)


def test_the_readme_points_nowhere_that_is_not_there(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        readme = archive.read("README.md").decode()
    assert "docs/" not in readme


def test_document_and_readme_have_the_same_loaders() -> None:
    *documented, _ = blocks_of("Load it in plain PyTorch Geometric")
    assert documented == list(readme_loaders().values())
    assert set(readme_loaders()) == {SHARED, *MODELS.names()}


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
    commands = re.findall(r"`glt ([^`]*)`", DOCUMENT.read_text(encoding="utf-8"))
    assert {command.split()[0] for command in commands} == {"export", "import"}
    for command in commands:
        words = shlex.split(command.replace("RUN", str(run)).replace("--round K", "--round 1"))
        # The masks of this run are drawn: its record states scores that its check does not find.
        assert main(words) == (1 if words[0] == "import" else 0)
        told = capsys.readouterr()
        assert told.err == ""
        assert "Wrote" in told.out or "checksums fit" in told.out
