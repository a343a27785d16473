"""Measures, layouts and figures: CPU seconds, beside NetworkX where that is fast enough.

The product's times are those of a page without cached results. NetworkX's betweenness takes an hour on PubMed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx

from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from analysis.measures import MEASURES
from analysis.measures.centrality import betweenness
from analysis.measures.graph import MeasuredGraph
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.layout import layout
from analysis.subgraphs.panel import make_panel, original_panel, take
from analysis.subgraphs.samplers import sample_nodes
from benchmarks.results import Measured, command_parser, cpu_seconds, document, repeated, single
from benchmarks.subjects import SMALL, graph_of
from glt.datasets import load_graph
from glt.store import Store

MOST_REPEATS = 20
SAMPLE = 1024
# Exact betweenness of every node and edge takes over half a minute on larger graphs.
MOST_EXACT_NODES = 5000


def measure_measurements(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds of single measures, all measures and betweenness, by graph."""
    parser = command_parser("measurements", "CPU seconds of graph measures, beside NetworkX.")
    parser.add_argument("--subjects", nargs="+", default=SMALL, choices=SMALL)
    parser.add_argument(
        "--networkx", nargs="*", default=["cora"], choices=SMALL, help="graphs for NetworkX's betweenness"
    )
    parser.add_argument("--seconds", type=float, default=3, help="seconds of repetitions per measurement (default: 3)")
    options = parser.parse_args(words)
    results: list[Measured] = []
    for subject in options.subjects:
        results += _measured(subject, options.seconds)
        results += _by_networkx(subject, subject in options.networkx, options.seconds)
    return document(results)


def _measured(subject: str, seconds: float) -> list[Measured]:
    graph = MeasuredGraph.of(graph_of(subject))

    def fresh(step: Callable[[MeasuredGraph], object]) -> Callable[[], object]:
        # Shared results are cached on the graph, so every repetition needs a new one.
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


# Layouts and figures.

EXAMPLES = Path(__file__).parents[1] / "examples" / "runs"
FIGURES = ("accuracy", "pareto", "training", "layers", "subgraphs")
MOST_REPEATED = 20
PANEL_NODES = 300


def measure_pictures(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds of layouts, of a page's two panels and of figures as PDF."""
    parser = command_parser("pictures", "CPU seconds of graph layouts and figures.")
    parser.add_argument("--subjects", nargs="+", default=SMALL, choices=SMALL)
    parser.add_argument("--seconds", type=float, default=2, help="seconds of repetitions per measurement (default: 2)")
    options = parser.parse_args(words)
    layouts = [_layout(subject, options.seconds) for subject in options.subjects]
    return document([*layouts, _panels(options.seconds), *_figures(options.seconds)])


def _layout(subject: str, seconds: float) -> Measured:
    graph = graph_of(subject)
    return repeated(f"pictures/layout/{subject}", lambda: layout(graph.num_nodes, graph.edges), MOST_REPEATED, seconds)


def _panels(seconds: float) -> Measured:
    """Time the two panels of the Subgraphs page: layout and HTML."""
    run = next(run for run in Store(EXAMPLES, writable=False).runs() if run.config.method == "ugs")
    graph, mask = load_graph(run.config.dataset), run.seed(run.seeds()[0]).masks(4).edges
    draws = iter(range(10_000))

    def show() -> str:
        part = take(graph, sample_nodes(graph, size=PANEL_NODES, seed=next(draws)))
        return panels_html([original_panel(graph, part), make_panel(graph, part, mask, "Round 4")])

    return repeated(f"pictures/panels/{PANEL_NODES} nodes", show, MOST_REPEATED, seconds)


def _figures(seconds: float) -> list[Measured]:
    runs = [run for run in Store(EXAMPLES, writable=False).runs() if _of_one_figure(run.config)]
    choices = FigureChoices()

    def pdf(name: str) -> bytes:
        return figure_bytes(draw(name, runs, choices), "pdf")

    return [
        repeated(f"pictures/figure/{name}, {len(runs)} runs", lambda name=name: pdf(name), MOST_REPEATED, seconds)
        for name in FIGURES
    ]


def _of_one_figure(config: Any) -> bool:
    return (config.dataset, config.task, config.model) == ("cora", "node", "gcn") and config.method in (
        "ugs",
        "random",
        "admm",
    )
