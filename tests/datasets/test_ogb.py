"""OGB data sets: reading sample folders, the cache, and downloads."""

from __future__ import annotations

import builtins
import gzip
import io
import shutil
import ssl
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from glt.datasets import DATASETS, Graph, cache
from glt.datasets.graph import Provenance, Sizes
from glt.errors import DataError
from glt.formats import file_size
from tests.conftest import imported_by
from tests.datasets.conftest import FOLDERS, files_under, lines_of, refusal, write_lines

SIZES = {
    "ogbn-arxiv": Sizes(200, 879, 128, 40),
    "ogbn-proteins": Sizes(150, 955, 16, 112, 8),
    "ogbl-collab": Sizes(120, 749, 128, 0),
}
ROWS = {"ogbn-arxiv": 898, "ogbn-proteins": 993, "ogbl-collab": 792}


@pytest.fixture
def root(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The samples as a data root that ogb has been using, read-only as they are."""
    monkeypatch.setenv("GLT_DATA", str(samples))
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    return samples


def table(root: Path, name: str, file: str) -> NDArray[np.float64]:
    with gzip.open(root / FOLDERS[name] / file) as lines:
        return np.loadtxt(lines, delimiter=",", ndmin=2)


def first_of_each(rows: NDArray[np.float64]) -> dict[tuple[int, int], int]:
    """Return the undirected simple edges with the first row that lists each."""
    found: dict[tuple[int, int], int] = {}
    for number, (one, other) in enumerate(rows.astype(int).tolist()):
        if one != other:
            found.setdefault((min(one, other), max(one, other)), number)
    return dict(sorted(found.items()))


def load(name: str) -> Graph:
    return DATASETS.get(name).load()


@pytest.mark.parametrize("name", SIZES)
def test_ogb_sizes_edges_and_dropped_entries(root: Path, name: str) -> None:
    """Sizes are counted before the first reading; the second reading is the first."""
    spec = DATASETS.get(name)
    assert spec.sizes == replace(SIZES[name], edges=ROWS[name])
    graph, again = load(name), load(name)
    simple = first_of_each(table(root, name, "raw/edge.csv.gz"))
    assert spec.sizes == graph.sizes == SIZES[name]
    assert list(map(tuple, graph.edges.T.tolist())) == list(simple)
    assert graph.provenance == Provenance(f"OGB {name}", ROWS[name], ROWS[name] - len(simple), 0)
    assert again is not graph
    assert again.content_hash == graph.content_hash
    assert (again.provenance, again.class_names) == (graph.provenance, graph.class_names)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.usefixtures("ogb_root")
def test_sizes_without_files_are_the_published_ones(name: str) -> None:
    spec = DATASETS.get(name)
    assert spec.counted is not None
    assert spec.counted() is None
    assert (spec.sizes.nodes, spec.sizes.edges) == (spec.nodes, spec.edges)


@pytest.mark.parametrize("name", ["ogbn-arxiv", "ogbn-proteins"])
def test_the_split_equals_the_files(root: Path, name: str) -> None:
    graph = load(name)
    kind = {"ogbn-arxiv": "time", "ogbn-proteins": "species"}[name]
    for part, nodes in zip(("train", "valid", "test"), vars(graph.split).values(), strict=True):
        listed = table(root, name, f"split/{kind}/{part}.csv.gz")[:, 0]
        assert nodes.tolist() == sorted(listed.astype(int).tolist())


def test_arxiv_has_dense_features_areas_as_classes_and_a_split_by_year(root: Path) -> None:
    graph = load("ogbn-arxiv")
    features = table(root, "ogbn-arxiv", "raw/node-feat.csv.gz")
    assert isinstance(graph.features, np.ndarray)
    np.testing.assert_array_equal(graph.features, features.astype(np.float32))
    assert graph.labels.tolist() == table(root, "ogbn-arxiv", "raw/node-label.csv.gz")[:, 0].astype(int).tolist()
    # The four largest classes of the published set: vision, learning, information theory, language.
    assert [graph.class_names[k] for k in (16, 24, 28, 30)] == ["cs.CV", "cs.LG", "cs.IT", "cs.CL"]
    assert graph.num_classes == 40
    years = table(root, "ogbn-arxiv", "raw/node_year.csv.gz")[:, 0]
    assert years[graph.split.train].max() <= 2017
    assert set(years[graph.split.val]) == {2018}
    assert years[graph.split.test].min() >= 2019


def test_proteins_have_targets_edge_features_and_features_from_both(root: Path) -> None:
    graph = load("ogbn-proteins")
    rows = table(root, "ogbn-proteins", "raw/edge-feat.csv.gz")
    simple = first_of_each(table(root, "ogbn-proteins", "raw/edge.csv.gz"))
    np.testing.assert_array_equal(graph.edge_features, rows[list(simple.values())].astype(np.float32))
    np.testing.assert_array_equal(graph.targets, table(root, "ogbn-proteins", "raw/node-label.csv.gz"))
    assert graph.targets is not None
    assert graph.targets.dtype == np.uint8
    species = table(root, "ogbn-proteins", "raw/node_species.csv.gz")[:, 0].astype(int)
    assert graph.class_names == ("3702", "4932", "6239", "7227", "7955", "9606", "10090", "511145")
    assert [graph.class_names[k] for k in graph.labels] == list(map(str, species))

    expected = np.zeros((150, 16))
    expected[np.arange(150), graph.labels] = 1
    for (low, high), number in simple.items():
        expected[[low, high], 8:] += rows[number]
    np.testing.assert_allclose(graph.features, expected, rtol=1e-6)
    # Large arrays are mapped, not read.
    for array in (graph.features, graph.edge_features):
        assert isinstance(array, np.ndarray)
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable


def test_collab_has_its_own_split_of_links_and_no_classes(root: Path) -> None:
    graph = load("ogbl-collab")
    links = graph.links
    assert links is not None
    assert np.array_equal(links.train, graph.edges)
    numbers = [np.ndarray, np.dtype, np.empty(0).__reduce__()[0], type(np.dtype("i8"))]
    for part, positives, negatives in (
        ("valid", links.val, links.val_negatives),
        ("test", links.test, links.test_negatives),
    ):
        with torch.serialization.safe_globals(numbers):
            held = torch.load(root / "ogbl_collab" / "split" / "time" / f"{part}.pt", weights_only=True)
        np.testing.assert_array_equal(positives, held["edge"].T)
        np.testing.assert_array_equal(negatives, held["edge_neg"].T)
        assert (positives.shape, negatives.shape) == ((2, 50), (2, 200))
    assert (graph.labels == -1).all()
    assert not any(part.size for part in vars(graph.split).values())
    np.testing.assert_array_equal(graph.features, table(root, "ogbl-collab", "raw/node-feat.csv.gz").astype("f4"))


ALONE = """
import sys, threading

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise AssertionError(event)

sys.addaudithook(watch)
from glt.datasets import DATASETS
graph = DATASETS.get(sys.argv[1]).load()
assert threading.active_count() == 1, threading.enumerate()
assert "outdated" not in sys.modules
print(graph.content_hash)
"""


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.usefixtures("root")
def test_reading_makes_no_request_and_prints_nothing(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, name], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [load(name).content_hash]
    sizes = SIZES[name]
    reading, *by_chance, counts = done.stderr.splitlines()
    assert reading.startswith(f"Reading {name} from ")
    assert all(" pairs in 'edge_neg' as edges too: they are kept" in line for line in by_chance)
    assert bool(by_chance) == (name == "ogbl-collab")
    assert counts == (
        f"{name} has {sizes.nodes} nodes and {sizes.edges} undirected edges; {ROWS[name] - sizes.edges} duplicates and "
        "0 self-loops were dropped."
    )


@pytest.mark.usefixtures("root")
def test_cached_graphs_are_read_without_torch() -> None:
    expected = load("ogbn-arxiv").content_hash
    code = f"from glt.datasets import load_graph; assert load_graph('ogbn-arxiv').content_hash == {expected!r}"
    assert imported_by(code, "torch ogb pandas") == set()


Copy = Callable[[str], Path]


def test_changed_files_or_version_replace_the_cached_graph(
    copied: Copy, ogb_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier version may have accepted files that are refused now."""
    folder = copied("ogbn-arxiv")
    before = files_under(ogb_root)

    def cached() -> Path:
        (found,) = (tmp_path / "cache" / "graphs").glob("ogbn-*")
        return found

    with monkeypatch.context() as earlier:
        earlier.setattr("glt.datasets.ogb._CACHE_VERSION", 1)
        first = load("ogbn-arxiv")
    of_earlier = cached()
    load("ogbn-arxiv")
    assert cached() != of_earlier
    labels = folder / "raw/node-label.csv.gz"
    write_lines(labels, ["39", *lines_of(labels)[1:]])
    assert load("ogbn-arxiv").labels[0] == 39 != first.labels[0]
    assert cached() != of_earlier
    # Nothing is written beside the files.
    assert files_under(ogb_root) == before
    assert {path.name for path in (tmp_path / "cache").iterdir()} == {"graphs"}


@pytest.mark.parametrize("file", ["graph.npz", "features.npy", "sizes.json"])
def test_a_damaged_cache_is_rebuilt(copied: Copy, tmp_path: Path, file: str) -> None:
    copied("ogbn-arxiv")
    expected = load("ogbn-arxiv").content_hash
    (cached,) = (tmp_path / "cache" / "graphs").glob(f"*/{file}")
    for damaged in (b"", cached.read_bytes()[:-20], b"damaged"):
        cached.write_bytes(damaged)
        assert load("ogbn-arxiv").content_hash == expected
        assert cached.stat().st_size > 50
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert load("ogbn-arxiv").content_hash == expected


def test_published_counts_apply_to_the_published_edges_only(copied: Copy) -> None:
    folder = copied("ogbn-arxiv")
    for name, count in (("num-node-list", 169_343), ("num-edge-list", 1_166_243)):
        write_lines(folder / f"raw/{name}.csv.gz", [str(count)])
    assert DATASETS.get("ogbn-arxiv").sizes.edges == 1_157_799
    write_lines(folder / "raw/num-edge-list.csv.gz", ["1166242"])
    assert DATASETS.get("ogbn-arxiv").sizes.edges == 1_166_242


def test_the_app_reads_data_in_a_subprocess(copied: Copy, ogb_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("read or fetched in this process")

    cache.only_cached.set()
    for name in ("OgbFolder.checked", "download"):
        monkeypatch.setattr(f"glt.datasets.ogb.{name}", refuse)
    with pytest.raises(DataError, match="is not on this machine: start a run on it"):
        load("ogbn-arxiv")
    folder = copied("ogbn-arxiv")
    graph = load("ogbn-arxiv")
    assert graph.num_nodes == 200
    with (folder / "raw" / "node-label.csv.gz").open("wb") as file:
        file.write(b"no table")
    with pytest.raises(DataError, match=r"node-label\.csv\.gz"):
        load("ogbn-arxiv")


# What OGB calls the archive and the folder in it.
ARCHIVES = {"ogbn-arxiv": "arxiv", "ogbn-proteins": "proteins", "ogbl-collab": "collab"}


class Free(NamedTuple):
    total: int
    used: int
    free: int


class Answer(io.BytesIO):
    """An answer of a web server."""

    def info(self) -> dict[str, str]:
        return {"Content-Length": str(len(self.getvalue()))}


def packed(samples: Path, name: str, leave_out: str = "") -> bytes:
    buffer = io.BytesIO()
    folder = samples / FOLDERS[name]
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != leave_out:
                archive.write(path, f"{ARCHIVES[name]}/{path.relative_to(folder)}")
    return buffer.getvalue()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], list[str]]:
    """Answer every request with `content`; returns the list of addresses asked for."""

    def start(content: bytes) -> list[str]:
        requests: list[str] = []

        def answer(url: str, timeout: float) -> Answer:
            requests.append(url)
            return Answer(content)

        monkeypatch.setattr(urllib.request, "urlopen", answer)
        return requests

    return start


def certificate_error() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed (_ssl.c:1006)")
    error.verify_message = "unable to get local issuer certificate"
    return error


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(prompt: object = "") -> str:
        pytest.fail(f"asked {prompt}")

    monkeypatch.setattr(builtins, "input", ask)


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_download_is_announced(
    name: str, ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    content = packed(samples, name)
    requests = serve(content)
    graph = load(name)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"Downloading {name} (" in printed.err
    assert f"kB) to {ogb_root / FOLDERS[name]}" in printed.err
    assert "free)." in printed.err
    assert f" of {file_size(len(content))}" in printed.err
    assert all(url.endswith(f"/{ARCHIVES[name]}.zip") for url in requests)
    assert files_under(ogb_root / FOLDERS[name]) == files_under(samples / FOLDERS[name])
    assert {path.name for path in ogb_root.iterdir()} == {FOLDERS[name]}
    assert graph.num_nodes == int(lines_of(samples / FOLDERS[name] / "raw/num-node-list.csv.gz")[0])
    requests.clear()
    load(name)
    assert not requests


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(-2, "Name or service not known"), "Name or service not known): connect to the network"),
        (certificate_error(), "the server's certificate is not valid: unable to get local issuer certificate"),
        (ssl.SSLEOFError(8, "[SSL: UNEXPECTED_EOF_WHILE_READING] EOF (_ssl.c:1006)"), "a secure connection to the"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"), "a secure connection to"),
    ],
)
def test_a_failed_connection_is_one_sentence_and_leaves_nothing(
    ogb_root: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, why: str
) -> None:
    def fail(url: str, timeout: float) -> None:
        raise URLError(error)

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    message = refusal("ogbn-arxiv")
    assert message == refusal("ogbn-arxiv")
    assert message.startswith(f"ogbn-arxiv could not be downloaded ({why}")
    assert "_ssl.c" not in message
    assert f"put its files (raw, split and RELEASE_v1.txt) into {ogb_root / 'ogbn_arxiv'}; GLT_DATA sets" in message
    assert not ogb_root.exists()
    # Remains of a failed download need no confirmation.
    (ogb_root / "ogbn_arxiv" / "raw").mkdir(parents=True)
    assert refusal("ogbn-arxiv") == message


@pytest.mark.parametrize("kept", [set(), {"notes.txt"}])
def test_remains_of_a_failed_ogb_download_are_replaced(
    ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]], kept: set[str]
) -> None:
    (ogb_root / "ogbn_arxiv" / "raw").mkdir(parents=True)
    for name in ("RELEASE_v1.txt", *kept):
        (ogb_root / "ogbn_arxiv" / name).touch()
    serve(packed(samples, "ogbn-arxiv"))
    load("ogbn-arxiv")
    assert files_under(ogb_root / "ogbn_arxiv") == files_under(samples / "ogbn_arxiv") | kept


@pytest.mark.parametrize("what", ["cut short", "a page", "without a file"])
def test_partial_or_wrong_downloads_are_discarded(
    what: str, ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]]
) -> None:
    whole = packed(samples, "ogbn-arxiv")
    contents = {
        "cut short": whole[: len(whole) // 2],
        "a page": b"<html>Sign in</html>",
        "without a file": packed(samples, "ogbn-arxiv", leave_out="node-label.csv.gz"),
    }
    serve(contents[what])
    message = refusal("ogbn-arxiv")
    assert message.startswith("ogbn-arxiv could not be downloaded (")
    assert ".download-" not in message
    assert message == refusal("ogbn-arxiv")
    assert files_under(ogb_root) == set()


def test_too_little_disk_space_is_reported_before_writing(
    ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed(samples, "ogbn-arxiv")
    serve(content)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Free(10**9, 10**9 - len(content), len(content)))
    message = refusal("ogbn-arxiv")
    assert "are needed to download ogbn-arxiv" in message
    assert "free some space" in message
    assert not ogb_root.exists()


def test_a_data_root_that_cannot_be_used_is_one_sentence(
    ogb_root: Path, tmp_path: Path, samples: Path, serve: Callable[[bytes], list[str]]
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    serve(packed(samples, "ogbn-arxiv"))
    message = refusal("ogbn-arxiv")
    assert "set GLT_DATA to a folder with write access" in message
    assert str(ogb_root / "ogbn_arxiv") in message
