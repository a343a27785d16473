"""`measure RUN --round K`: the unpruned graph and what a round left of it, side by side."""

from __future__ import annotations

import math
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from analysis.cli.arguments import add_engine
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import add_json, add_progress, add_round, find_seed_run, print_json, tell

if TYPE_CHECKING:
    from analysis.measures import MeasuredRound
    from glt.store import SeedRun

WIDTH = 100
# Shorter than this many seconds, nothing is said before a computation.
MOMENT = 2.0


def add_arguments(parser: ArgumentParser) -> None:
    """Add RUN, the round, what is measured and the form of the output."""
    add_round(parser)
    parser.add_argument("--all", action="store_true", help="also what takes a minute or more on 20,000 nodes")
    add_engine(parser)
    add_progress(parser)
    parser.add_argument("--explain", action=_Explain, help="say what every number means and costs, and measure nothing")
    add_json(parser)


class _Explain(Action):
    """Prints what every number means and ends, as --help does: no run is needed for it."""

    def __init__(self, option_strings: Sequence[str], dest: str, **words: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **words)

    def __call__(self, parser: ArgumentParser, *rest: Any) -> None:
        """Print and exit with 0."""
        from analysis.measures import explanations

        for each in explanations():
            print(f"{each.label} ({each.name})")
            for text in (each.definition, f"Reading it: {each.reading}", each.cost, each.engine):
                print(fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "))
        parser.exit(0)


def run(args: Namespace) -> int:
    """Measure and print; raises StoreError or DataError."""
    from analysis.measures import measure_round
    from glt.store.paths import reference_of

    seed_run = find_seed_run(args)
    if args.engine == "networkx" and not args.json:
        _print_estimate(seed_run, args.round, args.all)
    measured = measure_round(
        seed_run, args.round, slow=args.all, engine=args.engine, on_progress=lambda share: tell(args, share)
    )
    name = reference_of(seed_run.path.parent)
    if args.json:
        place = {"run": name, "seed": seed_run.seed, "round": args.round, "engine": args.engine}
        parts = {part: _plain(values) for part, values in measured._asdict().items()}
        print_json(place | parts | _sampled(measured) | _compared(measured))
    else:
        _print_table(measured, f"{name}, seed {seed_run.seed}, round {args.round}")
    return 0


def _print_estimate(seed_run: SeedRun, number: int, slow: bool) -> None:
    """Say on standard error how long NetworkX takes for the graphs not measured yet, where it is more than a moment."""
    from analysis.measures import MeasuredGraph, networkx_seconds
    from analysis.measures.compute import is_measured
    from glt.formats import duration, number_of
    from glt.lottery.graph import graph_of

    whole = MeasuredGraph.of(graph_of(seed_run))
    graphs = (whole, whole.keeping(seed_run.edge_mask(number).either_way()))
    lacking = [graph for graph in graphs if not is_measured(graph, slow=slow, engine="networkx")]
    seconds = sum(networkx_seconds(graph, slow) for graph in lacking)
    if seconds > MOMENT:
        told = f"about {duration(round(seconds))} for {number_of(len(lacking), 'graph')}"
        print(f"NetworkX takes {told}; Ctrl-C stops.", file=sys.stderr)


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _sampled(measured: MeasuredRound) -> dict[str, Any]:
    """Return what was estimated, from how many sources, and half the width of each 95 % interval; {} if nothing was."""
    from analysis.measures.bfs import SOURCES

    parts = {part: _plain(values.errors) for part, values in measured._asdict().items()}
    return {"sampled": {"sources": SOURCES, **parts}} if any(parts.values()) else {}


def _compared(measured: MeasuredRound) -> dict[str, Any]:
    """Return the relative difference of every value of NetworkX's from our faster version's; {} without any."""
    parts = {
        part: {n: v if math.isfinite(v) else None for n, v in values.differences.items()}
        for part, values in measured._asdict().items()
    }
    return {"differences": parts} if any(parts.values()) else {}


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


VERBS.register(Verb("measure", "Measure the original and the sparsified graph of one round", add_arguments, run))
