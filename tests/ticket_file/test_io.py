"""Ticket files: round trip, damage in one sentence, loading without this program, other formats."""

from __future__ import annotations

import io
import json
import pickle
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
import pandas as pd
import pytest
import safetensors.torch
import scipy.sparse
import torch
from safetensors.numpy import load

from glt.cli.main import main
from glt.datasets import Graph, load_graph
from glt.errors import ConfigError, DataError, StoreError
from glt.masks import EdgeMask
from glt.models import MODELS
from glt.store import SeedRun
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph, adjacency, edge_list, graphml, read_adjacency
from glt.ticket_file.io import SHARED, members, read_ticket, ticket_bytes
from glt.ticket_file.io import loaders as readme_loaders
from glt.ticket_file.schema import ABOUT, TENSORS
from glt.ticket_file.ticket import Ticket, make_ticket
from glt.zip_files import zip_bytes
from tests.ticket_file.conftest import Arrays, changed, checked, summed, unzipped, zipped


def test_a_ticket_file_round_trips(ticket: Ticket, path: Path) -> None:
    read = read_ticket(path)
    assert read.about == ticket.about
    assert read.graph.content_hash == ticket.graph.content_hash == load_graph("cora").content_hash
    assert np.array_equal(read.masks.edges.keep, ticket.masks.edges.keep)
    assert np.array_equal(read.outputs, ticket.outputs)
    for name in ticket.weights:
        assert np.array_equal(read.weights[name], ticket.weights[name])
        assert np.array_equal(read.theta0[name], ticket.theta0[name])
        assert np.array_equal(read.masks.weights.keep[name], ticket.masks.weights.keep[name])
    assert ticket_bytes(read) == path.read_bytes()


def test_a_missing_tensor_is_named(path: Path) -> None:
    with pytest.raises(DataError, match=r"is damaged \(it lacks the tensors outputs\)"):
        read_ticket(changed(path, outputs=None))


def test_labels_and_features_that_do_not_fit_are_named(ticket: Ticket, path: Path) -> None:
    labels = ticket.graph.labels.copy()
    labels[5] = 77
    with pytest.raises(DataError, match=r"\(labels from 0 to 77 for outputs of 7 classes\)"):
        read_ticket(changed(path, labels=labels))
    wide = {"labels": ticket.graph.labels, "features.shape": np.array([2708, 10**12])}
    with pytest.raises(DataError, match=r"weight.layers.0.weight is \[1433, 16\], but settings, features and labels"):
        read_ticket(changed(path, **wide))


def test_a_flipped_bit_is_detected(path: Path) -> None:
    members = unzipped(path)
    tensors = bytearray(members[TENSORS])
    tensors[-5] ^= 1
    with pytest.raises(DataError, match=r"is damaged \(the checksum of tensors.safetensors"):
        read_ticket(zipped(path, {**members, TENSORS: bytes(tensors)}))
    text = members[ABOUT].replace(b'"seed": 0', b'"seed": 1')
    with pytest.raises(DataError, match=r"is damaged \(the checksum of ticket.json"):
        read_ticket(zipped(path, {**members, ABOUT: text}))


@pytest.mark.parametrize("share", [0.2, 0.6, 0.999])
def test_a_truncated_file_is_detected(path: Path, share: float) -> None:
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataError, match=r"is damaged or truncated .*: copy it again\."):
        read_ticket(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weight.layers.0.weight", lambda values: values[..., :-1]),
        ("mask.layers.1.weight", np.zeros_like),
        ("edge_mask", lambda values: values[..., :-1]),
        ("edge_mask", np.ones_like),
        ("edge_weight", lambda values: values * 1.01),
        ("edge_index", lambda values: values[::-1]),
        ("edges", lambda values: values + 1_000_000),
        ("features.columns", lambda values: values + 1_000_000),
        ("features.rows", lambda values: values * 3),
        ("split.test", lambda values: values + 1_000_000),
        ("labels", lambda values: values + 3),
    ],
)
def test_tensors_that_do_not_fit_are_detected(path: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    with pytest.raises(DataError, match="is damaged"):
        read_ticket(changed(path, **{name: change(load(unzipped(path)[TENSORS])[name])}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda about: about.update(class_names=["a"]), r"\(1 class name for 7 classes\)"),
        (lambda about: about.update(node_ids=["1", "2"]), r"\(2 node ids for 2,708 nodes\)"),
        (lambda about: about.update(node_ids=["1"] * 2708), r"\(2,?707 repeated node ids\)"),
        (lambda about: about.update({"\x1b[31mred": 1}), r"\( ?\[31mred: Extra"),
        (lambda about: about.update(format="another"), "was not written by GLT Studio"),
        (lambda about: about.update(version=2), "newer GLT Studio"),
        (lambda about: about.update(seed="x"), "is damaged"),
        (lambda about: about.update(more=1), "is damaged"),
        (lambda about: about.update(edge_mask="undirected"), "is damaged"),
        (lambda about: about["config"].update(model="gnc"), "is damaged"),
        (lambda about: about["config"].update(layers=0), "is damaged"),
        (lambda about: about["config"].update(hidden=17), "is damaged"),
        (lambda about: about["config"].update(model="gat", options={"gat_heads": "many"}), "is damaged"),
        (lambda about: about["record"]["macs"].update(published=10**400), "contains numbers that are too large"),
        (lambda about: about["record"].update(macs={}), "lacks the MACs dense_features"),
    ],
)
def test_bad_documents_are_one_sentence(path: Path, change: Callable[[Arrays], None], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read_ticket(changed(path, change))


def test_foreign_files_are_one_sentence(tmp_path: Path) -> None:
    pickled = tmp_path / "weights.pt"
    pickled.write_bytes(pickle.dumps({"weight": 1}))
    archive = zipped(tmp_path / "other.zip", {"data.pkl": pickle.dumps(1)})
    empty = tmp_path / "empty.zip"
    empty.touch()
    with pytest.raises(DataError, match=r"empty.zip is empty: copy it again\."):
        read_ticket(empty)
    for path in (pickled, archive, tmp_path):
        with pytest.raises(DataError, match=r"is not a ticket file|is not a file|cannot be read"):
            read_ticket(path)
    with pytest.raises(DataError, match="does not exist"):
        read_ticket(tmp_path / "nowhere.zip")


def test_rounds_without_a_ticket_are_refused(draw: Callable[..., SeedRun]) -> None:
    seed_run = draw(model="gat", gat_heads=2, gat_mask="logit")
    with pytest.raises(ConfigError, match=r"exp\(0\)"):
        make_ticket(seed_run, 1)
    with pytest.raises(StoreError, match="There is no round 7 in"):
        make_ticket(draw(), 7)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_flipped_byte_is_detected_in_every_packing(path: Path, packing: int) -> None:
    whole, printed = zip_bytes(unzipped(path), packing), []
    for place in range(100, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read_ticket(path)
        except DataError as error:
            printed.append(str(error))
    # A byte of the README, or of a date, says nothing of the ticket.
    assert sum("is damaged" in each or "uses a compression" in each for each in printed) > 20


JUNK = {"__MACOSX/{0}/._ticket.json": b"\0\5\x16\7", "__MACOSX/{0}/ticket.json": b"", "{0}/.DS_Store": b"\0\0\0\1Bud1"}


def packed_again(path: Path, folder: str, separator: str = "/") -> Path:
    """Write the members of a ticket file into a folder of a new zip, as a desktop's "Compress" does."""
    junk = {name.format(folder): content for name, content in JUNK.items()}
    held = {f"{folder}{separator}{name}": content for name, content in unzipped(path).items()}
    return zipped(path.with_name("again.zip"), {f"{folder}/": b"", **junk, **held})


@pytest.mark.parametrize("folder", ["ticket", "Größe (2)", "a/b/c", "../ticket"])
@pytest.mark.parametrize("separator", ["/", "\\"])
def test_a_repacked_folder_is_read(path: Path, folder: str, separator: str) -> None:
    again = packed_again(path, folder, separator)
    assert members(again) == members(path)
    assert read_ticket(again).about == read_ticket(path).about


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a/ticket.json", "b/tensors.safetensors"], "is not a ticket file: it does not contain ticket.json"),
        (["a/ticket.json", "tensors.safetensors"], "is not a ticket file: it does not contain ticket.json"),
        (["__MACOSX/a/ticket.json", "__MACOSX/a/tensors.safetensors"], "is not a ticket file"),
        (
            [f"{place}/{name}" for place in "ab" for name in ("ticket.json", "tensors.safetensors")],
            "contains 2 tickets",
        ),
    ],
)
def test_archives_without_exactly_one_ticket_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], sentence: str
) -> None:
    assert main(["import", str(zipped(tmp_path / "x.zip", dict.fromkeys(names, b"{}")))]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert sentence in printed


def test_size_limits_apply_inside_a_folder(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = packed_again(path, "ticket")
    with zipfile.ZipFile(again, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ticket/more", bytes(3 << 20))
    assert main(["import", str(again), "--most-mb", "2"]) == 1
    assert "would unpack to" in capsys.readouterr().err


REAL = ("weight.", "theta_0.", "features.values", "edge_weight", "outputs")


def in_type(path: Path, kind: torch.dtype, names: tuple[str, ...]) -> Path:
    """Write the file again with these tensors in another type, and sums that fit it."""
    held = unzipped(path)
    tensors = safetensors.torch.load(held[TENSORS])
    changed = {name: each.to(kind) if name.startswith(names) else each for name, each in tensors.items()}
    return summed(path, json.loads(held[ABOUT]), safetensors.torch.save(changed))


def test_double_precision_passes(path: Path) -> None:
    before = read_ticket(path)
    report = checked(in_type(path, torch.float64, REAL))
    assert report.passed
    assert all(np.array_equal(read_ticket(path).weights[name], values) for name, values in before.weights.items())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_read_as_rounded_values(path: Path, kind: torch.dtype) -> None:
    """Rounded weights give rounded outputs: the check computes them and reports a difference."""
    whole = read_ticket(path).weights
    report = checked(in_type(path, kind, ("weight.",)))
    assert 1e-5 < report.max_output_difference < 0.1
    for name, values in read_ticket(path).weights.items():
        assert values.dtype == np.float32
        assert np.array_equal(values, torch.from_numpy(whole[name]).to(kind).float().numpy())


def test_integer_masks_are_accepted(path: Path) -> None:
    assert checked(in_type(path, torch.uint8, ("mask.", "edge_mask"))).passed


@pytest.mark.parametrize(
    ("kind", "names", "sentence"),
    [
        (torch.int64, ("weight.",), "has type int64; it must contain floating-point numbers"),
        (torch.bool, ("outputs",), "outputs has type bool; it must contain floating-point numbers"),
        (torch.float32, ("labels",), "labels has type float32; it must contain whole numbers"),
        (torch.float32, ("edge_mask",), "edge_mask has type float32; it must contain only true and false"),
        (torch.float8_e4m3fn, ("weight.",), "has the unsupported type F8_E4M3"),
        (torch.complex64, ("weight.",), "has the unsupported type C64"),
    ],
    ids=str,
)
def test_a_wrong_tensor_type_is_one_sentence(
    path: Path, capsys: pytest.CaptureFixture[str], kind: torch.dtype, names: tuple[str, ...], sentence: str
) -> None:
    assert main(["import", str(in_type(path, kind, names))]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert sentence in printed.err
    assert "export the ticket again" in printed.err


@pytest.mark.parametrize(("value", "sentence"), [(1e300, "beyond single precision"), (np.nan, "not numbers")])
def test_weights_beyond_single_precision_fail(
    path: Path, capsys: pytest.CaptureFixture[str], value: float, sentence: str
) -> None:
    values = read_ticket(path).weights["layers.1.weight"].astype(np.float64)
    values[np.nonzero(values)[0][0], np.nonzero(values)[1][0]] = value
    assert main(["import", str(changed(path, **{"weight.layers.1.weight": values}))]) == 1
    printed = capsys.readouterr()
    assert sentence in printed.out + printed.err
    assert "Unexpected" not in printed.err


DOCUMENT = Path(__file__).parents[2] / "docs" / "ticket-file.md"
LINK = {"task": "link", "link_objective": "bce"}


def blocks_of(section: str) -> list[str]:
    """Return the code blocks of a section of the document."""
    text = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def documented_program(ticket: Ticket, folder: Path) -> dict[str, Any]:
    """Run the loader's code blocks in the document, as they stand there, on a ticket's file."""
    (folder / "ticket.zip").write_bytes(ticket_bytes(ticket))
    blocks = blocks_of("Load it in plain PyTorch Geometric")
    script = folder / "load.py"
    script.write_text("\n".join(blocks).replace('"ticket.zip"', repr(str(folder / "ticket.zip"))), encoding="utf-8")
    return runpy.run_path(str(script))


def assert_documented_program_agrees(ticket: Ticket, folder: Path) -> None:
    outputs = documented_program(ticket, folder)["outputs"]
    assert torch.isfinite(outputs).all()
    assert outputs.abs().max() > 0.1
    # Sums over neighbours make a GIN's outputs large, and single precision is relative.
    largest = max(1.0, float(np.abs(ticket.outputs).max()))
    assert (outputs - torch.from_numpy(ticket.outputs)).abs().max() <= 1e-5 * largest


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
    assert ticket.masks.edges.sparsity > 0.39
    assert_documented_program_agrees(ticket, tmp_path)


def test_the_loader_test_detects_another_normalisation(draw: Callable[..., SeedRun], tmp_path: Path) -> None:
    """PyG's own degrees are those of the receiving side: the test above must not pass by chance."""
    found = documented_program(make_ticket(draw(model="gcn"), 1), tmp_path)
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


def run_readme(ticket: Ticket, folder: Path, packing: str = "as written") -> str:
    """Follow the README of a ticket file, with the file alone; return what the program prints."""
    path = folder / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    (program,) = re.findall(r"```python\n(.*?)```", unzipped(path)["README.md"].decode(), flags=re.DOTALL)
    (folder / "load.py").write_text(program, encoding="utf-8")
    if packing == "packed again":
        path = packed_again(path, "my ticket")
    elif packing == "unpacked":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder / "ticket")
        path = folder / "ticket"
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_US, path.name]
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
    printed = run_readme(make_ticket(draw(**settings), 1), tmp_path)
    assert "the outputs are those of the file: [2708, " in printed
    assert ("test accuracy: " in printed) == (settings.get("task") != "link")


@pytest.mark.parametrize("packing", ["unpacked", "packed again"])
def test_the_readme_program_reproduces_the_score(ticket: Ticket, tmp_path: Path, packing: str) -> None:
    printed = run_readme(ticket, tmp_path, packing)
    assert float(printed.split("test accuracy: ")[1]) == pytest.approx(ticket.about.record.test, abs=1e-9)


def test_the_readme_program_stops_on_changed_outputs(ticket: Ticket, tmp_path: Path) -> None:
    """The program compares outputs: it must not pass for every file."""
    ticket.weights["layers.1.weight"][0] += 1.0
    with pytest.raises(AssertionError, match="other outputs than the file's"):
        run_readme(ticket, tmp_path)


def test_links_of_the_readme_resolve(path: Path) -> None:
    assert b"docs/" not in unzipped(path)["README.md"]


def test_document_and_readme_have_the_same_loaders() -> None:
    *documented, _ = blocks_of("Load it in plain PyTorch Geometric")
    assert documented == list(readme_loaders().values())
    assert set(readme_loaders()) == {SHARED, *MODELS.names()}


# Entries of the small graph: (0,1) (0,2) (1,2) (2,3) (4,5), then the same the other way round.
MASKS = {
    "directed": EdgeMask("directed", np.array([1, 0, 1, 1, 0, 1, 1, 0, 0, 0])),
    "undirected": EdgeMask("undirected", np.array([1, 0, 1, 1, 0])),
}
DIRECTED, UNDIRECTED = MASKS.values()
LEFT = {"directed": {(0, 1), (1, 2), (2, 3), (1, 0), (2, 0)}, "undirected": {(0, 1), (1, 2), (2, 3)}}
# Names that pandas takes for a missing value, unless it is told not to.
IDS = ("NA", "null", "c", "nan", "5", "06")


@pytest.fixture
def graph(small_graph: Graph) -> Graph:
    return replace(small_graph, node_ids=IDS, labels=np.array([0, 1, 0, 1, 2, -1]))


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("form", GRAPH_FORMATS)
def test_the_networkx_recipe_reads_the_graph(
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
    """A graph without attributes of nodes and edges."""
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
        printed = capsys.readouterr()
        assert printed.err == ""
        assert "Wrote" in printed.out or "checksums fit" in printed.out


NAMES = ("a<b", "c&d", 'e"f', "g\x01h", "i,j", "=k")


@pytest.fixture
def named_graph(small_graph: Graph) -> Graph:
    named = replace(small_graph, node_ids=NAMES, class_names=("x", "y", "<z>"))
    return replace(named, labels=np.array([0, 1, 0, 1, 2, -1]))


def test_graphml_keeps_names_classes_and_isolated_nodes(named_graph: Graph) -> None:
    read = nx.read_graphml(io.BytesIO(graphml(SparseGraph.under(named_graph, DIRECTED, "one & only"))))
    nodes = list(read.nodes)
    assert {(nodes.index(source), nodes.index(target)) for source, target in read.edges} == LEFT["directed"]
    labels = [read.nodes[node]["label"] for node in nodes]
    assert labels == [name.replace("\x01", "\N{REPLACEMENT CHARACTER}") for name in NAMES]
    assert [read.nodes[node]["class"] for node in nodes] == ["x", "y", "x", "y", "<z>", ""]


def test_an_undirected_mask_gives_both_entries_of_an_edge_in_a_matrix(named_graph: Graph) -> None:
    sparse = SparseGraph.under(named_graph, UNDIRECTED, "t")
    assert set(pd.read_csv(io.BytesIO(edge_list(sparse)))["Type"]) == {"Undirected"}
    matrix = scipy.sparse.load_npz(io.BytesIO(adjacency(sparse)))
    assert (matrix != matrix.T).nnz == 0
    assert matrix.nnz == 6


def test_an_edge_list_has_names(named_graph: Graph) -> None:
    table = pd.read_csv(io.BytesIO(edge_list(SparseGraph.under(named_graph, DIRECTED, "t"))), dtype=str)
    assert list(table.columns) == ["Source", "Target", "Type"]
    assert set(zip(table["Source"], table["Target"], strict=True)) == {
        (NAMES[one], NAMES[other]) for one, other in LEFT["directed"]
    }


def test_a_matrix_has_sources_as_rows_and_needs_no_pickle(named_graph: Graph) -> None:
    content = adjacency(SparseGraph.under(named_graph, DIRECTED, "t"))
    read = nx.from_scipy_sparse_array(scipy.sparse.load_npz(io.BytesIO(content)), create_using=nx.DiGraph)
    assert (len(read), set(read.edges)) == (6, LEFT["directed"])
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert tuple(arrays["node_ids"]) == NAMES
        assert arrays["labels"].tolist() == [0, 1, 0, 1, 2, -1]


def test_nodes_and_classes_without_names_have_numbers(small_graph: Graph) -> None:
    sparse = SparseGraph.under(small_graph, DIRECTED, "t")
    assert list(sparse.node_ids) == list("012345")
    assert sparse.classes() == list("010122")


@pytest.mark.parametrize("mask", [DIRECTED, UNDIRECTED])
def test_a_matrix_round_trips_to_graph_and_mask(named_graph: Graph, mask: EdgeMask) -> None:
    sparse = SparseGraph.under(named_graph, mask, "t")
    read = read_adjacency(adjacency(sparse), "t", mask.kind == "directed", named_graph.class_names)
    assert {tuple(edge) for edge in read.edges.T.tolist()} == {tuple(edge) for edge in sparse.edges.T.tolist()}
    assert (list(read.node_ids), read.classes()) == (list(NAMES), sparse.classes())
    found = read.mask(named_graph)
    assert (found.kind, found.keep.tolist()) == (mask.kind, mask.keep.tolist())


def test_a_graph_outside_the_original_has_no_mask(named_graph: Graph) -> None:
    sparse = SparseGraph.under(named_graph, DIRECTED, "t")
    fewer = replace(named_graph, edges=named_graph.edges[:, 1:])
    with pytest.raises(DataError, match="is not a part of the local small"):
        sparse.mask(fewer)
