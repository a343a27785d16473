"""ogbn-arxiv: a folder in OGB's layout, its loading, a store of its size, and the latency of pruned networks.

The structure is real: a folder with adjacency_csr.npz, node-label.csv.gz and node_year.csv.gz. Features are synthetic.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from benchmarks.results import command_parser
from glt.config import RunConfig
from glt.cost.latency import measure
from glt.datasets import DATASETS
from glt.datasets.graph import Graph, Provenance, Split, simple_edges
from glt.errors import DataError
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.presets import resolve
from glt.store import MAC_CONVENTIONS, Event, RoundRecord, Run, Status, Store
from glt.training.problem import full_masks, network_shape, tensor_specs
from glt.user_path import path_from_environment, user_path

FOLDER = "ogbn_arxiv"
LAYOUT_FEATURES = 128
SPREAD_OF_MEANS, SPREAD_OF_NODES = 0.12, 0.35
LAST_TRAINING_YEAR, VALIDATION_YEAR = 2017, 2018
# Starts per wanted node and share; parts then have nearly the mean degree of the whole graph, 13.7.
STARTS = 0.8

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Papers:
    """Citations (a paper cites along its row), classes [N] and years [N]."""

    citations: csr_array
    labels: IntArray
    years: IntArray

    def among(self, nodes: IntArray) -> Papers:
        """Return the papers `nodes` with the citations among them, numbered anew in their order."""
        return Papers(self.citations[nodes][:, nodes].tocsr(), self.labels[nodes], self.years[nodes])


def make_layout(words: Sequence[str]) -> dict[str, Any]:
    """Write the folder and return its contents' counts."""
    parser = command_parser("arxiv-layout", "Write ogbn-arxiv in OGB's layout, with synthetic features.")
    parser.add_argument("--structure", type=user_path, required=True, help="folder of the real structure")
    parser.add_argument("--out", type=user_path, required=True, help="data root to make ogbn_arxiv in")
    parser.add_argument("--share", type=float, default=1.0, help="share of the papers, at most 1 (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of features and of the choice of papers (default: 0)")
    parser.add_argument(
        "--noise", type=float, default=SPREAD_OF_NODES, help="spread of node features around the class mean"
    )
    given = parser.parse_args(words)
    if not 0 < given.share <= 1:
        parser.error("--share must be above 0 and at most 1")
    generator = np.random.default_rng(given.seed)
    papers = read_structure(given.structure)
    if given.share < 1:
        papers = papers.among(part(papers.citations, given.share, generator))
    folder = given.out / FOLDER
    write_layout(folder, papers, generator, given.noise)
    return {"folder": str(folder), "share": given.share, "seed": given.seed, "noise": given.noise, **counts(papers)}


def read_structure(folder: Path) -> Papers:
    """Return the real papers; raise DataError if a file is missing."""
    names = ("adjacency_csr.npz", "node-label.csv.gz", "node_year.csv.gz")
    for name in names:
        if not (folder / name).is_file():
            raise DataError(f"{folder / name} is missing: --structure names a folder that has {', '.join(names)}.")
    labels, years = (np.loadtxt(folder / name, dtype=np.int64) for name in names[1:])
    return Papers(csr_array(load_npz(folder / names[0])), labels, years)


def part(citations: csr_array, share: float, generator: np.random.Generator) -> IntArray:
    """Return the sorted nodes of a part with about the mean degree of the whole graph.

    It grows from random starts by one random neighbour of every node added last. Fewer starts give denser parts.
    """
    linked = (citations + citations.T).tocsr()
    nodes = linked.shape[0]
    wanted = max(1, round(share * nodes))
    starts = max(1, round(STARTS * share * wanted))
    inside = np.zeros(nodes, dtype=np.bool_)
    latest = np.zeros(0, dtype=np.int64)
    while (missing := wanted - int(inside.sum())) > 0:
        latest = _neighbours(linked, latest, inside, generator)
        if not latest.size:
            latest = generator.permutation(np.flatnonzero(~inside))[:starts]
        latest = generator.permutation(latest)[:missing]
        inside[latest] = True
    return np.flatnonzero(inside)


def _neighbours(linked: csr_array, of: IntArray, inside: NDArray[np.bool_], generator: np.random.Generator) -> IntArray:
    """Return a random neighbour outside for each node of `of`, without repeats."""
    rows = linked[of]
    source = np.repeat(np.arange(of.size), np.diff(rows.indptr))
    outside = ~inside[rows.indices]
    source, target = source[outside], rows.indices[outside]
    order = np.lexsort((generator.random(source.size), source))
    first = np.diff(source[order], prepend=-1) > 0
    return np.unique(target[order][first]).astype(np.int64)


def synthetic_features(
    labels: IntArray, generator: np.random.Generator, spread: float = SPREAD_OF_NODES
) -> NDArray[np.float32]:
    """Return features [N, 128]: a random class mean plus noise per node."""
    means = generator.normal(0, SPREAD_OF_MEANS, (int(labels.max()) + 1, LAYOUT_FEATURES)).astype(np.float32)
    noise = generator.standard_normal((labels.size, LAYOUT_FEATURES), dtype=np.float32)
    return means[labels] + np.float32(spread) * noise


def write_layout(folder: Path, papers: Papers, generator: np.random.Generator, noise: float = SPREAD_OF_NODES) -> None:
    """Write every file that OGB's loader reads, and a README.txt."""
    raw, split = folder / "raw", folder / "split" / "time"
    for made in (raw, split):
        made.mkdir(parents=True, exist_ok=True)
    citing, cited = papers.citations.tocoo().coords
    _write_integers(raw / "edge.csv.gz", np.stack([citing, cited], axis=1))
    _write_integers(raw / "node-label.csv.gz", papers.labels)
    _write_integers(raw / "node_year.csv.gz", papers.years)
    _write_integers(raw / "num-node-list.csv.gz", np.array([papers.labels.size]))
    _write_integers(raw / "num-edge-list.csv.gz", np.array([papers.citations.nnz]))
    _write_features(raw / "node-feat.csv.gz", synthetic_features(papers.labels, generator, noise))
    for name, members in split_of(papers.years).items():
        _write_integers(split / f"{name}.csv.gz", np.flatnonzero(members))
    (folder / "RELEASE_v1.txt").touch()
    (folder / "README.txt").write_text(_readme(papers), encoding="utf-8")


def split_of(years: IntArray) -> dict[str, NDArray[np.bool_]]:
    """Mark the papers of each part of OGB's split by year."""
    train, valid = years <= LAST_TRAINING_YEAR, years == VALIDATION_YEAR
    return {"train": train, "valid": valid, "test": ~train & ~valid}


def _write_integers(path: Path, values: IntArray) -> None:
    rows = values.reshape(len(values), -1).tolist()
    _write_lines(path, (",".join(map(str, row)) for row in rows))


def _write_features(path: Path, values: NDArray[np.float32]) -> None:
    # Always decimals: OGB reads a column of whole numbers as integers.
    line = ",".join(["%.4f"] * values.shape[1])
    _write_lines(path, (line % tuple(row.tolist()) for row in values))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    # No time in the header, so that equal content gives equal bytes.
    with path.open("wb") as file, gzip.GzipFile("", "wb", 1, file, mtime=0) as packed:
        packed.writelines(f"{line}\n".encode("ascii") for line in lines)


def _readme(papers: Papers) -> str:
    found = counts(papers)
    return (
        "Not the published ogbn-arxiv: the node features are synthetic (a mean for each class plus noise).\n"
        f"{found['nodes']:,} papers and {found['citations']:,} citations among them; citations, classes and years are "
        "those of ogbn-arxiv.\n"
        "Made by `python -m benchmarks arxiv-layout`, to measure time and memory; its accuracies mean nothing.\n"
    )


def counts(papers: Papers) -> dict[str, Any]:
    """Return counts of nodes, edges and split, mean degree and edge homophily."""
    linked = (papers.citations + papers.citations.T).tocoo()
    source, target = linked.coords
    nodes, edges = papers.labels.size, linked.nnz // 2
    return {
        "nodes": nodes,
        "citations": papers.citations.nnz,
        "edges": edges,
        "mean_degree": round(2 * edges / nodes, 2),
        "homophily": round(float((papers.labels[source] == papers.labels[target]).mean()), 3),
        "split": {name: int(members.sum()) for name, members in split_of(papers.years).items()},
    }


# Loading.

NAME = "ogbn-arxiv"
# Peak memory is that of a whole process, so every load has its own.
CHILD = """
import json, resource, sys, time
from glt.datasets import DATASETS
spec = DATASETS.get(sys.argv[1])
started = time.perf_counter()
graph = spec.load()
total = float(graph.features.sum()) if sys.argv[2] == "features" else None
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "torch": "torch" in sys.modules}
print(json.dumps({"seconds": round(seconds, 2), "peak_bytes": peak, **sizes}))
"""


def measure_loading(words: Sequence[str]) -> dict[str, Any]:
    """Return wall seconds and peak bytes of a first load and of loads from the cache.

    Seconds exclude imports; memory includes them.
    """
    parser = command_parser("arxiv-loading", "Seconds and peak memory of loading ogbn-arxiv.")
    parser.add_argument("--root", type=user_path, required=True, help="data root that has ogbn_arxiv")
    root = parser.parse_args(words).root
    with tempfile.TemporaryDirectory() as cache:
        first = _read(root, cache, "structure")
        return {
            "first": first,
            "cached": _read(root, cache, "structure"),
            "cached_with_features": _read(root, cache, "features"),
        }


def _read(root: Path, cache: str, what: str) -> dict[str, Any]:
    places = {"GLT_DATA": str(root.resolve()), "GLT_CACHE": cache}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, NAME, what],
        env={**os.environ, **places},
        stdout=subprocess.PIPE,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# A store of finished runs.

METHODS = ("ugs", "random")
SEEDS = (0, 1)
EPOCHS = 100
DEEP = {"model": "resgcn", "layers": 28, "hidden": 128}
DENSE, LOST_A_ROUND, SPREAD = 0.72, {"ugs": 0.0005, "random": 0.004}, 0.002


def fill_arxiv(words: Sequence[str]) -> dict[str, Any]:
    """Write a store of one random run per method; return its runs and the seconds taken."""
    parser = command_parser("arxiv-store", "Write a store of finished runs of the size of ogbn-arxiv.")
    parser.add_argument("--out", type=user_path, required=True, help="the folder of the store")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of every run (default: 20)")
    arguments = parser.parse_args(words)
    store, begun, made = Store(arguments.out), time.perf_counter(), list[str]()
    settings = {"dataset": NAME, "rounds": arguments.rounds, "retrain_epochs": EPOCHS, **DEEP}
    for method in METHODS:
        run = store.create(resolve({"method": method, **settings}))
        made.append(run.name)
        for seed in SEEDS:
            _write(run, seed)
    seconds = round(time.perf_counter() - begun, 1)
    return {"store": str(arguments.out), "runs": made, "seeds": len(SEEDS), "seconds": seconds}


def _write(run: Run, seed: int) -> None:
    folder, config, sizes = run.seed(seed), run.config, DATASETS.get(NAME).sizes
    generator = np.random.default_rng([seed, *config.method.encode()])
    specs = tensor_specs(config, network_shape(config, sizes))
    weights = {spec.name: generator.normal(0, 0.1, spec.shape).astype(np.float32) for spec in specs}
    shapes = {spec.name: spec.shape for spec in specs if spec.prunable}
    masks = Masks(EdgeMask.full(config.edge_mask, sizes.edges), WeightMask.full(shapes))
    magnitudes = {name: np.abs(weights[name]) for name in shapes}
    # Scores of an entry are correlated between rounds.
    usual = generator.normal(0, 0.02, masks.edges.keep.size)
    folder.make()
    for number in range(config.rounds + 1):
        scores = usual[masks.edges.keep] + generator.normal(1, 0.01, masks.edges.kept) if number else None
        if scores is not None:
            edges = masks.edges.prune(scores, config.p_graph)
            masks = Masks(edges, masks.weights.prune(magnitudes, config.p_weight))
        _write_events(run, seed, number, generator)
        shown = scores if config.method == "ugs" else None
        folder.write_round(_record(config, number, masks, generator), masks, weights, shown)
    folder.write_status(Status(state="done", seed=seed))


def _write_events(run: Run, seed: int, number: int, generator: np.random.Generator) -> None:
    for epoch in range(EPOCHS):
        score = DENSE * (1 - np.exp(-(epoch + 1) / 15)) + SPREAD * generator.normal()
        loss = 3.7 * np.exp(-(epoch + 1) / 25) + 0.9
        event = Event(round=number, stage="retrain", epoch=epoch, loss=loss, val=score + 0.01, test=score)
        run.seed(seed).append_event(event)


def _record(config: RunConfig, number: int, masks: Masks, generator: np.random.Generator) -> RoundRecord:
    score = DENSE - LOST_A_ROUND[config.method] * number + SPREAD * generator.normal()
    macs = dict.fromkeys(MAC_CONVENTIONS, int(8e10 * (1 - masks.weights.sparsity)))
    measured = {"val": score + 0.01, "test": score, "test_last": score - 0.005, "best_epoch": EPOCHS - 5}
    return RoundRecord.of(number, masks, **measured, seconds=3600.0, macs=macs)


# Latency.

FILE = Path("arxiv_structure") / "adjacency_csr.npz"
ARXIV_FEATURES, CLASSES, HIDDEN = 32, 40, 64
ROUNDS = (4, 13, 20)


def measure_arxiv(words: Sequence[str]) -> dict[str, Any]:
    """Return latency reports at the sparsities of rounds 4, 13 and 20, with random masks."""
    parser = command_parser("arxiv", "Latency of pruned networks on ogbn-arxiv's structure.")
    parser.add_argument("--epochs", type=int, default=100, help="timed passes (default: 100)")
    repeats = parser.parse_args(words).epochs
    graph = arxiv_graph(np.random.default_rng(0))
    config = resolve({"hidden": HIDDEN})
    return {
        f"round {number}": measure(config, graph, *drawn(config, graph, number), repeats, 1).as_json()
        for number in ROUNDS
    }


def arxiv_graph(generator: np.random.Generator) -> Graph:
    """Return the real graph with random dense features and labels."""
    path = (path_from_environment("GLT_DATA") or Path("data")) / FILE
    if not path.is_file():
        raise DataError(f"{path} is missing: set GLT_DATA to a folder that contains it.")
    pairs = np.stack(load_npz(path).tocoo().coords).astype(np.int64)
    nodes = int(load_npz(path).shape[0])
    edges, duplicates, loops = simple_edges(pairs, nodes)
    return Graph(
        name="ogbn-arxiv's structure",
        edges=edges,
        features=csr_array(generator.random((nodes, ARXIV_FEATURES), dtype=np.float32)),
        labels=np.arange(nodes) % CLASSES,
        split=Split(*np.split(np.arange(nodes), [nodes // 2, 3 * nodes // 4])),
        provenance=Provenance(str(FILE), pairs.shape[1], duplicates, loops),
    )


def drawn(config: RunConfig, graph: Graph, rounds: int) -> tuple[Masks, dict[str, np.ndarray]]:
    """Return random masks with the counts of a round, and masked random weights."""
    generator, full = np.random.default_rng(rounds), full_masks(config, graph)
    specs = tensor_specs(config, network_shape(config, graph.sizes))
    weights = {spec.name: generator.normal(0, 0.1, spec.shape).astype(np.float32) for spec in specs}
    kept = [remaining_after(rate, n, rounds) for rate, n in ((0.05, full.edges.kept), (0.2, full.weights.kept))]
    edges = full.edges
    keep = np.zeros(edges.keep.size, dtype=np.bool_)
    keep[generator.permutation(keep.size)[: kept[0]]] = True
    scores = {name: np.abs(values) for name, values in weights.items()}
    masks = Masks(type(edges)(edges.kind, keep), full.weights.prune_exactly(scores, full.weights.kept - kept[1]))
    return masks, {name: values * masks.weights.keep[name] for name, values in weights.items()}
