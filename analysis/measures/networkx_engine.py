"""The measures as NetworkX computes them: their definitions, and the reference for our faster versions.

`measure(..., engine="networkx")` takes every measure that NetworkX defines from NetworkX. Shortest paths from every
node take hours on PubMed: `seconds` estimates the time, and progress is reported between batches of sources, where the
computation can be stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import networkx as nx
import numpy as np

from analysis.measures import basic
from analysis.measures.centrality import DAMPING, DECIMALS, Betweenness, spearman
from analysis.measures.graph import FloatArray, MeasuredGraph
from glt.errors import ConfigError

Report = Callable[[float], None]

# Nodes plus edges (PubMed has 64,041) up to which every `quick` definition takes less than a second.
MOST_QUICK = 80_000
# NetworkX stores a graph as dictionaries, about 500 bytes an edge.
MOST_EDGES = 5_000_000
# `effective_graph_resistance` needs a dense nodes x nodes matrix.
MOST_NODES_DENSE = 5_000
# Visits to nodes and edges in one batch of sources, about a third of a second.
BATCH = 500_000
# CPU seconds a visit, measured on Cora: shortest path lengths, betweenness of nodes, betweenness of edges.
DISTANCE, NODE, EDGE = 8e-8, 6e-7, 8e-7
# Measures whose values per node or edge `networkx_betweenness` gives.
ELEMENTS = ("mean_node_betweenness", "mean_edge_betweenness")
PAGERANK_TOLERANCE = 1e-14


class NetworkXGraph:
    """A measured graph as NetworkX's, with values that several definitions share.

    `report` is called with the fraction of paths done; an exception that it raises stops the computation.
    """

    def __init__(self, measured: MeasuredGraph, report: Report | None = None, expected: float = 0.0) -> None:
        if measured.num_edges > MOST_EDGES:
            raise ConfigError(
                f"NetworkX would need several gigabytes for this graph's {measured.num_edges:,} edges (at most "
                f"{MOST_EDGES:,} are allowed): leave the engine at its default."
            )
        self.measured, self.graph = measured, measured.to_networkx()
        self._report, self._expected, self._done = report, expected, 0.0

    @cached_property
    def clustering(self) -> dict[int, float]:
        """Clustering coefficient of every node."""
        return dict(nx.clustering(self.graph))

    @cached_property
    def pieces(self) -> list[set[int]]:
        """The connected components, each a set of nodes, in the order of their lowest nodes."""
        return list(nx.connected_components(self.graph))

    @cached_property
    def largest(self) -> nx.Graph:
        """The largest component; ties go to the one with the lowest node."""
        return self.graph.subgraph(max(self.pieces, key=len, default=set())).copy()

    @cached_property
    def pagerank(self) -> FloatArray:
        """PageRank of every node, [N], rounded so that equivalent nodes tie."""
        found = nx.pagerank(self.graph, alpha=DAMPING, tol=PAGERANK_TOLERANCE, max_iter=1000) if self.graph else {}
        return np.round(len(found) * _in_order(found), DECIMALS)

    @cached_property
    def original(self) -> NetworkXGraph:
        """The graph before pruning; this graph itself where nothing was pruned."""
        whole = self.measured.original
        return self if whole is self.measured else NetworkXGraph(whole)

    @cached_property
    def distances(self) -> tuple[int, int]:
        """Sum of the distances of all connected ordered pairs of different nodes, and the number of such pairs."""
        total = pairs = 0
        for batch in self._batches(DISTANCE):
            for source in batch:
                found = nx.single_source_shortest_path_length(self.graph, source)
                total, pairs = total + sum(found.values()), pairs + len(found) - 1
        return total, pairs

    @cached_property
    def node_betweenness(self) -> FloatArray:
        """Normalised betweenness of every node, [N]."""
        n = len(self.graph)
        found = np.zeros(n)
        for batch in self._batches(NODE):
            found += _in_order(nx.betweenness_centrality_subset(self.graph, batch, self.graph, normalized=False))
        return 2 * found / max((n - 1) * (n - 2), 1)

    @cached_property
    def edge_betweenness(self) -> FloatArray:
        """Normalised betweenness of every edge, [M], in the order of the measured graph's edges."""
        n, edges = len(self.graph), list(map(tuple, self.measured.edges.T.tolist()))
        found = np.zeros(len(edges))
        for batch in self._batches(EDGE):
            part = nx.edge_betweenness_centrality_subset(self.graph, batch, self.graph, normalized=False)
            found += np.array([part[edge] for edge in edges], dtype=np.float64)
        return 2 * found / max(n * (n - 1), 1)

    def _batches(self, pace: float) -> Iterator[list[int]]:
        visits = self.graph.number_of_nodes() + self.graph.number_of_edges()
        size = max(1, BATCH // max(visits, 1))
        sources = list(self.graph)
        for first in range(0, len(sources), size):
            batch = sources[first : first + size]
            yield batch
            self._done += pace * visits * len(batch)
            if self._report is not None and self._expected:
                self._report(min(self._done / self._expected, 1.0))


@dataclass(frozen=True)
class Definition:
    """NetworkX's definition of a measure; `functions` names its functions for readers.

    `quick` ones take less than a second up to `MOST_QUICK` nodes and edges. `pace` is the CPU seconds a visit for paths
    from every node. NetworkX is not used where the largest component has more than `most_nodes`. Our faster version
    gives the same value to a relative `tolerance`.
    """

    functions: str
    compute: Callable[[NetworkXGraph], float]
    quick: bool = False
    pace: float = 0.0
    most_nodes: int | None = None
    tolerance: float = 1e-12


def defines(name: str, graph: MeasuredGraph) -> bool:
    """Return whether NetworkX computes a measure on a graph of this size."""
    definition = DEFINITIONS.get(name)
    if definition is None:
        return False
    return definition.most_nodes is None or graph.largest_component.size <= definition.most_nodes


def is_quick(name: str, graph: MeasuredGraph) -> bool:
    """Return whether a measure is NetworkX's value by default: quick, on a small enough graph."""
    definition = DEFINITIONS.get(name)
    return definition is not None and definition.quick and graph.num_nodes + graph.num_edges <= MOST_QUICK


def compute(graph: MeasuredGraph, names: Iterable[str], report: Report | None = None) -> dict[str, float]:
    """Return NetworkX's values of measures in `DEFINITIONS`; raises ConfigError beyond `MOST_EDGES` edges."""
    names = list(names)
    subject = NetworkXGraph(graph, report, seconds(graph, names))
    return {name: DEFINITIONS[name].compute(subject) for name in names}


def networkx_betweenness(graph: MeasuredGraph, on_progress: Report | None = None) -> Betweenness:
    """Return the betweenness of every node and edge as NetworkX computes it, exact; slow."""
    subject = NetworkXGraph(graph, on_progress, seconds(graph, ELEMENTS))
    return Betweenness(subject.node_betweenness, subject.edge_betweenness, graph.num_nodes, by_networkx=True)


def node_clustering(graph: MeasuredGraph) -> FloatArray:
    """Return the clustering coefficient of every node, [N]; NetworkX's where it is quick, else ours."""
    quick = is_quick("average_clustering", graph)
    return _in_order(NetworkXGraph(graph).clustering) if quick else basic.node_clustering(graph)


def seconds(graph: MeasuredGraph, names: Iterable[str] | None = None) -> float:
    """Estimate NetworkX's CPU seconds for these measures of a graph (default: all in `DEFINITIONS`)."""
    paces = {DEFINITIONS[name].pace for name in (DEFINITIONS if names is None else names)}
    visits = graph.num_nodes * (graph.num_nodes + graph.num_edges)
    return sum(paces) * visits


def _in_order(values: dict[int, float]) -> FloatArray:
    return np.array([values[node] for node in sorted(values)], dtype=np.float64)


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else nan


def _reach(subject: NetworkXGraph) -> float:
    n = len(subject.graph)
    return sum(len(piece) * (len(piece) - 1) for piece in subject.pieces) / (n * (n - 1)) if n > 1 else nan


def _path_length(subject: NetworkXGraph) -> float:
    total, pairs = subject.distances
    return total / pairs if pairs else nan


def _assortativity(subject: NetworkXGraph) -> float:
    # NetworkX divides by a variance of 0 where all ends have the same degree.
    degrees = {degree for _, degree in subject.graph.degree if degree}
    return float(nx.degree_assortativity_coefficient(subject.graph)) if len(degrees) > 1 else nan


def _labelled(subject: NetworkXGraph) -> nx.Graph:
    """Return the subgraph of nodes with a known label, stored as attribute `label`."""
    labels = subject.measured.labels
    part = subject.graph.subgraph(np.flatnonzero(labels >= 0).tolist()).copy()
    nx.set_node_attributes(part, {node: int(labels[node]) for node in part}, "label")
    return part


def _homophily(subject: NetworkXGraph) -> float:
    part = _labelled(subject)
    return float(np.trace(nx.attribute_mixing_matrix(part, "label"))) if part.number_of_edges() else nan


def _adjusted_homophily(subject: NetworkXGraph) -> float:
    part = _labelled(subject)
    several = len({part.nodes[node]["label"] for edge in part.edges for node in edge}) > 1
    return float(nx.attribute_assortativity_coefficient(part, "label")) if several else nan


def _bridge_share(subject: NetworkXGraph) -> float:
    edges = subject.largest.number_of_edges()
    return len(list(nx.bridges(subject.largest))) / edges if edges else nan


def _algebraic_connectivity(subject: NetworkXGraph) -> float:
    if len(subject.largest) < 2:
        return nan
    return float(nx.algebraic_connectivity(subject.largest, tol=1e-12, method="tracemin_lu", seed=0))


def _resistance(subject: NetworkXGraph) -> float:
    n = len(subject.largest)
    return float(nx.effective_graph_resistance(subject.largest)) / (n * (n - 1) / 2) if n > 1 else nan


def _degrees(subject: NetworkXGraph) -> FloatArray:
    return np.array([degree for _, degree in subject.graph.degree], dtype=np.float64)


DEFINITIONS: dict[str, Definition] = {
    "nodes": Definition("number_of_nodes", lambda s: s.graph.number_of_nodes(), quick=True),
    "edges": Definition("number_of_edges", lambda s: s.graph.number_of_edges(), quick=True),
    "mean_degree": Definition("degree", lambda s: _mean(_degrees(s)), quick=True),
    "largest_degree": Definition("degree", lambda s: max((int(d) for _, d in s.graph.degree), default=nan), quick=True),
    "degree_assortativity": Definition("degree_assortativity_coefficient", _assortativity, quick=True),
    "isolated_nodes": Definition("number_of_isolates", lambda s: nx.number_of_isolates(s.graph), quick=True),
    "components": Definition("connected_components", lambda s: len(s.pieces), quick=True),
    "largest_component_share": Definition(
        "connected_components", lambda s: len(s.largest) / len(s.graph) if s.graph else nan, quick=True
    ),
    "reach": Definition("connected_components", _reach, quick=True),
    "average_clustering": Definition("average_clustering", lambda s: _mean(list(s.clustering.values())), quick=True),
    "clustering_degree_two": Definition(
        "clustering", lambda s: _mean([s.clustering[n] for n, degree in s.graph.degree if degree > 1]), quick=True
    ),
    "triangles": Definition("triangles", lambda s: sum(nx.triangles(s.graph).values()) // 3, quick=True),
    "largest_core": Definition("core_number", lambda s: max(nx.core_number(s.graph).values(), default=0)),
    "bridge_share": Definition("bridges", _bridge_share),
    "edge_homophily": Definition("attribute_mixing_matrix", _homophily),
    "adjusted_homophily": Definition("attribute_assortativity_coefficient", _adjusted_homophily),
    "pagerank_spearman": Definition("pagerank", lambda s: spearman(s.original.pagerank, s.pagerank)),
    "degree_spearman": Definition("degree", lambda s: spearman(_degrees(s.original), _degrees(s))),
    "average_path_length": Definition("single_source_shortest_path_length", _path_length, pace=DISTANCE),
    "mean_node_betweenness": Definition("betweenness_centrality", lambda s: _mean(s.node_betweenness), pace=NODE),
    "mean_edge_betweenness": Definition("edge_betweenness_centrality", lambda s: _mean(s.edge_betweenness), pace=EDGE),
    "algebraic_connectivity": Definition(
        "algebraic_connectivity", _algebraic_connectivity, most_nodes=MOST_NODES_DENSE, tolerance=1e-8
    ),
    "mean_effective_resistance": Definition(
        "effective_graph_resistance", _resistance, most_nodes=MOST_NODES_DENSE, tolerance=1e-8
    ),
}
