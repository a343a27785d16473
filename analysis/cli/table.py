"""`python -m analysis table measurements|trend|tickets|paper RUN...`: a table as LaTeX, CSV or JSON."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analysis.cli.arguments import add_engine, add_runs, add_score, chosen_score, find_runs, write_out
from analysis.cli.verb import VERBS, Verb
from analysis.runs import last_common_round
from glt.cli.arguments import add_progress, count, place, tell
from glt.errors import ConfigError, StoreError

if TYPE_CHECKING:
    import pandas as pd

    from glt.store import Run

ToLatex = Callable[["pd.DataFrame"], str]


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the table, its runs, what it counts and the format."""
    parser.add_argument("table", choices=tuple(_TABLES), help="which table")
    add_runs(parser)
    parser.add_argument("--format", choices=("latex", "csv", "json"), default="latex", help="default: latex")
    parser.add_argument(
        "--round",
        type=count,
        metavar="K",
        action="append",
        help="round of the measurements, any number of times (default: the last)",
    )
    parser.add_argument("--measure", default="average_clustering", metavar="M", help="measure of the table `trend`")
    parser.add_argument("--null", action="store_true", help="measurements and trend: as dense random graphs too")
    parser.add_argument("--all", action="store_true", help="measurements: also what takes a minute or more")
    add_engine(parser)
    add_progress(parser)
    add_score(parser)
    parser.add_argument("--out", type=place, metavar="FILE", help="file to write (default: standard output)")


def run(args: Namespace) -> int:
    """Make the table and write it."""
    from analysis.bundle import csv_bytes, json_bytes

    runs = find_runs(args)
    table, to_latex = _TABLES[args.table](runs, args)
    if args.format == "latex":
        content = to_latex(table).encode()
    else:
        content = csv_bytes(table) if args.format == "csv" else json_bytes(table)
    write_out(content, args.out)
    return 0


def _measurements(runs: Sequence[Run], args: Namespace) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.export import measurements_latex
    from analysis.measures import At, measurement_table
    from analysis.runs import printed_measurements, training_part

    rounds = args.round or [last_common_round(runs)]
    config = runs[0].config
    table = measurement_table(
        runs,
        [At(round=number) for number in rounds],
        null=args.null,
        published=printed_measurements(config),
        slow=args.all,
        engine=args.engine,
        on_progress=lambda share: tell(args, share),
    )
    if not table.loc[table["kind"] == "run", "seeds"].any():
        asked = " or ".join(map(str, rounds))
        raise StoreError(
            f"No seed of these runs has a round {asked}: the last they all have is {last_common_round(runs)}."
        )
    return table, lambda made: measurements_latex(made, config.dataset, note=training_part(config))


def _trend(runs: Sequence[Run], args: Namespace) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.measures import trend_table

    if args.format == "latex":
        raise ConfigError(
            "A trend has no LaTeX table: take --format csv or json, or `python -m analysis figure trend`."
        )
    last_common_round(runs)
    table = trend_table(runs, args.measure, null=args.null, on_progress=lambda share: tell(args, share))
    return table, lambda made: ""


def _tickets(runs: Sequence[Run], args: Namespace) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.export import tickets_latex
    from analysis.tables import rounds_table, tickets_table

    table = tickets_table(rounds_table(runs), chosen_score(args), args.macs, args.margin)
    if table.empty:
        raise StoreError("These runs have no pruned round yet: wait for round 1, or choose other runs.")
    return table, lambda made: tickets_latex(made, chosen_score(args), args.macs, args.margin)


def _paper(runs: Sequence[Run], args: Namespace) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.export import paper_latex
    from analysis.tables import curve_table, paper_table, rounds_table

    table = paper_table(curve_table(rounds_table(runs), chosen_score(args), "graph", args.macs, args.margin))
    if table.empty:
        raise StoreError("The paper prints no value for a finished round of these runs: wait, or choose other runs.")
    return table, paper_latex


_TABLES = {"measurements": _measurements, "trend": _trend, "tickets": _tickets, "paper": _paper}

VERBS.register(Verb("table", "Write a table as LaTeX, CSV or JSON.", add_arguments, run))
