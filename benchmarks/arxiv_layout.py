"""A folder as OGB lays out ogbn-arxiv, of its real citations, classes and years and of synthetic features.

`python -m benchmarks arxiv-layout --structure DIR --out DIR` makes `ogbn_arxiv` in DIR; DIR is then a data root.
The structure is a folder with adjacency_csr.npz, node-label.csv.gz and node_year.csv.gz.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from glt.errors import DataError
from glt.user_path import user_path

FOLDER = "ogbn_arxiv"
FEATURES = 128
SPREAD_OF_MEANS, SPREAD_OF_NODES = 0.12, 0.35
LAST_TRAINING_YEAR, VALIDATION_YEAR = 2017, 2018
# With so many starts a node wanted and share, parts have the mean degree of the whole, 13.7, to within a few percent.
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
    """Write the folder that the command line `words` describe and return what it holds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks arxiv-layout", description=__doc__)
    parser.add_argument("--structure", type=user_path, required=True, help="folder of the real structure")
    parser.add_argument("--out", type=user_path, required=True, help="data root to make ogbn_arxiv in")
    parser.add_argument("--share", type=float, default=1.0, help="share of the papers, at most 1 (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of features and of the choice of papers (default: 0)")
    parser.add_argument(
        "--noise", type=float, default=SPREAD_OF_NODES, help="spread of a node's features round its class's mean"
    )
    given = parser.parse_args(words)
    if not 0 < given.share <= 1:
        parser.error("--share is above 0 and at most 1")
    generator = np.random.default_rng(given.seed)
    papers = read_structure(given.structure)
    if given.share < 1:
        papers = papers.among(part(papers.citations, given.share, generator))
    folder = given.out / FOLDER
    write_layout(folder, papers, generator, given.noise)
    return {"folder": str(folder), "share": given.share, "seed": given.seed, "noise": given.noise, **counts(papers)}


def read_structure(folder: Path) -> Papers:
    """Return the real papers; raises DataError when a file of the structure is missing."""
    names = ("adjacency_csr.npz", "node-label.csv.gz", "node_year.csv.gz")
    for name in names:
        if not (folder / name).is_file():
            raise DataError(f"{folder / name} is missing: --structure names a folder that has {', '.join(names)}.")
    labels, years = (np.loadtxt(folder / name, dtype=np.int64) for name in names[1:])
    return Papers(csr_array(load_npz(folder / names[0])), labels, years)


def part(citations: csr_array, share: float, generator: np.random.Generator) -> IntArray:
    """Return the sorted nodes of a part whose edges go down in step with its nodes.

    It grows from random starts, by one random neighbour of every node that came in last. Fewer starts give denser
    parts (growing finds the hubs first), all nodes at random sparser ones.
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
    """Return for each node of `of` a random neighbour that is not inside, each once."""
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
    """Return [N, 128]: a normally distributed mean for each class, and noise for each node."""
    means = generator.normal(0, SPREAD_OF_MEANS, (int(labels.max()) + 1, FEATURES)).astype(np.float32)
    noise = generator.standard_normal((labels.size, FEATURES), dtype=np.float32)
    return means[labels] + np.float32(spread) * noise


def write_layout(folder: Path, papers: Papers, generator: np.random.Generator, noise: float = SPREAD_OF_NODES) -> None:
    """Write every file that OGB's loader reads, and a README.txt that says what is synthetic."""
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
    for name, members in _split(papers.years).items():
        _write_integers(split / f"{name}.csv.gz", np.flatnonzero(members))
    (folder / "RELEASE_v1.txt").touch()
    (folder / "README.txt").write_text(_readme(papers), encoding="utf-8")


def _split(years: IntArray) -> dict[str, NDArray[np.bool_]]:
    train, valid = years <= LAST_TRAINING_YEAR, years == VALIDATION_YEAR
    return {"train": train, "valid": valid, "test": ~train & ~valid}


def _write_integers(path: Path, values: IntArray) -> None:
    rows = values.reshape(len(values), -1).tolist()
    _write_lines(path, (",".join(map(str, row)) for row in rows))


def _write_features(path: Path, values: NDArray[np.float32]) -> None:
    # With decimals throughout: OGB reads a column of whole numbers as integers.
    line = ",".join(["%.4f"] * values.shape[1])
    _write_lines(path, (line % tuple(row.tolist()) for row in values))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    # No time in the header: equal content, equal bytes.
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
    """Return nodes, citations, undirected edges, mean degree, share of edges within a class and the split's sizes."""
    linked = (papers.citations + papers.citations.T).tocoo()
    source, target = linked.coords
    nodes, edges = papers.labels.size, linked.nnz // 2
    return {
        "nodes": nodes,
        "citations": papers.citations.nnz,
        "edges": edges,
        "mean_degree": round(2 * edges / nodes, 2),
        "homophily": round(float((papers.labels[source] == papers.labels[target]).mean()), 3),
        "split": {name: int(members.sum()) for name, members in _split(papers.years).items()},
    }
