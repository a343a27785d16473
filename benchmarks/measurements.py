"""Measures of whole graphs, ours and NetworkX's: `python -m benchmarks measurements`, CPU seconds.

Ours are what a page computes when nothing is known yet; NetworkX's betweenness takes an hour on PubMed, so that it is
asked only about small graphs.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import networkx as nx

from analysis.measures.centrality import betweenness
from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES
from benchmarks.results import Measured, document, repeated, single
from benchmarks.subjects import SMALL, graph_of
from benchmarks.timing import cpu_seconds

MOST_REPEATS = 20
SAMPLE = 1024
# Every value of every node and edge on a graph of so many visits takes half a minute and more.
MOST_EXACT_NODES = 5000


def measure_measurements(words: Sequence[str]) -> dict[str, Any]:
    """Return for each graph how long single measures, all of them and betweenness take, and NetworkX's time."""
    parser = ArgumentParser(prog="python -m benchmarks measurements", description=__doc__)
    parser.add_argument("--subjects", nargs="+", default=SMALL, choices=SMALL)
    parser.add_argument("--networkx", nargs="*", default=["cora"], choices=SMALL, help="betweenness by NetworkX too")
    parser.add_argument("--seconds", type=float, default=3, help="for how long to repeat each (default: 3)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    options = parser.parse_args(words)
    results: list[Measured] = []
    for subject in options.subjects:
        results += _measured(subject, options.seconds)
        results += _by_networkx(subject, subject in options.networkx, options.seconds)
    return document(results)


def _measured(subject: str, seconds: float) -> list[Measured]:
    graph = MeasuredGraph.of(graph_of(subject))

    def fresh(step: Callable[[MeasuredGraph], object]) -> Callable[[], object]:
        # What measures share is kept with the graph, so that each time needs a graph of its own.
        return lambda: step(replace(graph))

    steps: dict[str, Callable[[MeasuredGraph], object]] = {
        "clustering": MEASURES.get("average_clustering").compute,
        "mean node betweenness": MEASURES.get("mean_node_betweenness").compute,
        "bridges, core number and triangles": _by_igraph,
        "all but background measures": _all_but_background,
        "betweenness of each node and edge": lambda each: betweenness(each, _sample(each)),
    }
    found = {
        f"{name}, sampled" if "each" in name and _sample(graph) else name: fresh(step) for name, step in steps.items()
    }
    name = f"measurements/{subject}"
    return [repeated(f"{name}/{which}", step, MOST_REPEATS, seconds) for which, step in found.items()]


def _sample(graph: MeasuredGraph) -> int | None:
    return SAMPLE if graph.num_nodes > MOST_EXACT_NODES else None


def _all_but_background(graph: MeasuredGraph) -> None:
    for measure in MEASURES:
        if measure.cost != "background":
            measure.compute(graph)


def _by_igraph(graph: MeasuredGraph) -> None:
    for name in ("bridge_share", "largest_core", "triangles"):
        MEASURES.get(name).compute(graph)


def _by_networkx(subject: str, slow_too: bool, seconds: float) -> list[Measured]:
    graph = graph_of(subject)
    other = nx.empty_graph(graph.num_nodes)
    other.add_edges_from(graph.edges.T.tolist())
    name = f"measurements/{subject}"
    found = [repeated(f"{name}/clustering, NetworkX", lambda: nx.average_clustering(other), MOST_REPEATS, seconds)]
    if slow_too:
        taken = cpu_seconds(lambda: nx.betweenness_centrality(other))
        found.append(single(f"{name}/mean node betweenness, NetworkX", taken, "CPU s"))
    return found
