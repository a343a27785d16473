"""Layouts of graphs and figures of the example runs: `python -m benchmarks pictures`, CPU seconds."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.layout import layout
from analysis.subgraphs.panel import make_panel, original_panel, take
from analysis.subgraphs.samplers import sample_nodes
from benchmarks.results import Measured, document, repeated
from benchmarks.subjects import SMALL, graph_of
from glt.datasets import load_graph
from glt.store import Store

EXAMPLES = Path(__file__).parents[1] / "examples" / "runs"
FIGURES = ("accuracy", "pareto", "training", "layers", "subgraphs")
MOST = 20
SAMPLE = 300


def measure_pictures(words: Sequence[str]) -> dict[str, Any]:
    """Return how long a whole graph takes to lay out, a page's two panels to make, and each figure as a PDF."""
    parser = ArgumentParser(prog="python -m benchmarks pictures", description=__doc__)
    parser.add_argument("--subjects", nargs="+", default=SMALL, choices=SMALL)
    parser.add_argument("--seconds", type=float, default=2, help="for how long to repeat each (default: 2)")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON either way")
    options = parser.parse_args(words)
    layouts = [_layout(subject, options.seconds) for subject in options.subjects]
    return document([*layouts, _panels(options.seconds), *_figures(options.seconds)])


def _layout(subject: str, seconds: float) -> Measured:
    graph = graph_of(subject)
    return repeated(f"pictures/layout/{subject}", lambda: layout(graph.num_nodes, graph.edges), MOST, seconds)


def _panels(seconds: float) -> Measured:
    """Time two panels of a sample, laid out and written as HTML, as the Subgraphs page shows them."""
    run = next(run for run in Store(EXAMPLES, writable=False).runs() if run.config.method == "ugs")
    graph, mask = load_graph(run.config.dataset), run.seed(run.seeds()[0]).masks(4).edges
    draws = iter(range(10_000))

    def show() -> str:
        part = take(graph, sample_nodes(graph, size=SAMPLE, seed=next(draws)))
        return panels_html([original_panel(graph, part), make_panel(graph, part, mask, "Round 4")])

    return repeated(f"pictures/panels/{SAMPLE} nodes", show, MOST, seconds)


def _figures(seconds: float) -> list[Measured]:
    runs = [run for run in Store(EXAMPLES, writable=False).runs() if _of_one_figure(run.config)]
    choices = FigureChoices()

    def pdf(name: str) -> bytes:
        return figure_bytes(draw(name, runs, choices), "pdf")

    return [
        repeated(f"pictures/figure/{name}, {len(runs)} runs", lambda name=name: pdf(name), MOST, seconds)
        for name in FIGURES
    ]


def _of_one_figure(config: Any) -> bool:
    return (config.dataset, config.task, config.model) == ("cora", "node", "gcn") and config.method in (
        "ugs",
        "random",
        "admm",
    )
