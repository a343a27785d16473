"""`measure` and `betweenness`: the original graph beside the sparsified one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import click

from analysis.cli.main import engine_option
from glt.cli import options
from glt.cli.main import DONE, Args, verb
from glt.errors import ConfigError

if TYPE_CHECKING:
    from analysis.measures.centrality import Betweenness
    from analysis.measures.compute import MeasuredRound
    from analysis.measures.graph import MeasuredGraph
    from glt.store import SeedRun

WIDTH = 100
# An estimate of fewer seconds is not printed.
MOMENT = 2.0
# Rows of the table of nodes.
SHOWN = 20

Tell = Callable[[float], None]


def _explain(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
    """Print what every number means and end, as --help does: no run is needed for it."""
    if not is_set or ctx.resilient_parsing:
        return
    from analysis.measures.descriptions import explanations

    for each in explanations():
        print(f"{each.label} ({each.name})")
        for text in (each.definition, f"Reading it: {each.reading}", each.cost, each.engine):
            print(fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "))
    ctx.exit()


@verb("measure", "measure RUN --round 13", "measure RUN --round 13 --all --engine fast --json", "measure --explain")
@options.round_argument
@options.flag("--all", help="include measures that take a minute or more on 20,000 nodes")
@engine_option
@options.flag(
    "--explain", is_eager=True, expose_value=False, callback=_explain, help="print what each number means, and exit"
)
@options.progress
@options.as_json
def measure(args: Args) -> int:
    """Measure the original and the sparsified graph of a round."""
    from analysis.measures.bfs import SOURCES
    from analysis.measures.compute import measure_round
    from glt.store.paths import reference_of

    seed_run = options.find_seed_run(args)
    if args.engine == "networkx" and not args.json:
        _print_estimate(seed_run, args.round, args.all)
    measured = measure_round(
        seed_run,
        args.round,
        slow=args.all,
        engine=args.engine,
        on_progress=lambda share: options.report_share(args, share),
    )
    name = reference_of(seed_run.path.parent)
    if args.json:
        place = {"run": name, "seed": seed_run.seed, "round": args.round, "engine": args.engine}
        parts = measured._asdict()
        document = place | {part: _plain(values) for part, values in parts.items()}
        # Half-widths (95 %) of estimated values, and how far NetworkX's values are from the faster version's.
        if any(values.errors for values in parts.values()):
            errors = {part: _plain(values.errors) for part, values in parts.items()}
            document["sampled"] = {"sources": SOURCES, **errors}
        if any(values.differences for values in parts.values()):
            document["differences"] = {
                part: {n: v if math.isfinite(v) else None for n, v in values.differences.items()}
                for part, values in parts.items()
            }
        options.print_json(document)
    else:
        _print_table(measured, f"{name}, seed {seed_run.seed}, round {args.round}")
    return DONE


def _print_estimate(seed_run: SeedRun, number: int, slow: bool) -> None:
    """Print how long NetworkX will take for graphs not measured yet, if more than a moment."""
    from analysis.measures.compute import is_measured, networkx_seconds
    from analysis.measures.graph import MeasuredGraph
    from glt.formats import duration, number_of
    from glt.lottery.graph import graph_of

    whole = MeasuredGraph.of(graph_of(seed_run))
    graphs = (whole, whole.keeping(seed_run.edge_mask(number).either_way()))
    lacking = [graph for graph in graphs if not is_measured(graph, slow=slow, engine="networkx")]
    seconds = sum(networkx_seconds(graph, slow) for graph in lacking)
    if seconds > MOMENT:
        estimate = f"about {duration(round(seconds))} for {number_of(len(lacking), 'graph')}"
        print(f"NetworkX takes {estimate}; Ctrl-C stops.", file=sys.stderr)


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _print_table(measured: MeasuredRound, title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from analysis.measures import descriptions

    table = Table("", title=Text(title))
    for heading in ("Original", "Sparsified", "Change"):
        table.add_column(heading, justify="right")
    for name, before in measured.original.items():
        after = measured.sparsified[name]
        shown = [descriptions.interval(name, part[name], part.errors.get(name, 0.0)) for part in measured]
        texts = *shown, descriptions.change(before, after)
        table.add_row(descriptions.label(name), *texts)
    console = Console(file=sys.stdout)
    console.print(table)
    if measured.original.errors:
        console.print(Text(descriptions.estimated(measured.original.errors)))
    differences = [values.differences for values in measured if values.differences]
    if differences:
        console.print(
            Text(descriptions.largest_difference({n: max(d[n] for d in differences) for n in differences[0]}))
        )


@verb("betweenness", "betweenness RUN --round 13", "betweenness RUN --round 13 --sample 1024 --json")
@options.round_argument
@options.option(
    "--sample",
    type=options.POSITIVE,
    metavar="K",
    show_default="exact",
    help="estimate from the shortest paths of K nodes",
)
@options.option(
    "--engine",
    type=options.choice("engine", "fast", "networkx"),
    default="fast",
    show_default=True,
    metavar="E",
    help="igraph, or NetworkX itself (exact, a hundred times slower)",
)
@options.progress
@options.as_json
def betweenness(args: Args) -> int:
    """Compute the betweenness of every node and edge.

    Before and after pruning. The values are cached for the app.
    """
    from analysis.measures.graph import MeasuredGraph
    from glt.lottery.graph import graph_of
    from glt.store.paths import reference_of

    seed_run = options.find_seed_run(args)
    mask, graph = seed_run.edge_mask(args.round), graph_of(seed_run)
    whole = MeasuredGraph.of(graph)
    pruned = whole.keeping(mask.either_way())
    sample, by_networkx = args.sample, args.engine == "networkx"
    if sample is not None and by_networkx:
        raise ConfigError("NetworkX computes exact values here: leave out --sample, or take --engine fast.")
    before = _found(whole, sample, by_networkx, lambda share: options.report_share(args, share / 2))
    after = _found(pruned, sample, by_networkx, lambda share: options.report_share(args, (1 + share) / 2))
    if args.json:
        from analysis.subgraphs.panel import classes_of, node_name

        place = {"run": reference_of(seed_run.path.parent), "seed": seed_run.seed, "round": args.round}
        nodes = range(graph.num_nodes)
        named = {"ids": [node_name(graph, node) for node in nodes], "classes": classes_of(graph, nodes)}
        found = {"original": _values(whole, before), "sparsified": _values(pruned, after)}
        options.print_json(place | named | found)
        return DONE
    from analysis.measures.tables import node_table, with_names

    ranked = node_table(graph, mask, before, after, "original").head(SHOWN)
    print(with_names(graph, ranked).to_string(index=False))
    print(before.precision_words())
    return DONE


def _found(graph: MeasuredGraph, sample: int | None, by_networkx: bool, tell: Tell) -> Betweenness:
    from analysis.measures.cache import keep_betweenness, known_betweenness
    from analysis.measures.centrality import betweenness as fast_betweenness

    found = known_betweenness(graph, sample, by_networkx)
    if found is not None:
        return found
    if by_networkx:
        from analysis.measures.networkx_engine import networkx_betweenness

        found = networkx_betweenness(graph, tell)
    else:
        found = fast_betweenness(graph, sample, tell)
    keep_betweenness(graph, found, sample)
    return found


def _values(graph: MeasuredGraph, found: Betweenness) -> dict[str, object]:
    edges = [[*ends, value] for ends, value in zip(graph.edges.T.tolist(), found.edges.tolist(), strict=True)]
    engine = "networkx" if found.by_networkx else "fast"
    return {
        "engine": engine,
        "exact": found.is_exact,
        "sources": found.sources,
        "nodes": [None if math.isnan(value) else value for value in found.nodes.tolist()],
        "edges": edges,
    }
