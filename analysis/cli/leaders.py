"""`python -m analysis leaders RUN...`: who leads, and whom the seeds cannot tell from it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from analysis.cli.arguments import add_runs, add_score, chosen_score, find_runs
from analysis.cli.plain import records
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import add_json, print_json
from glt.errors import StoreError

if TYPE_CHECKING:
    import pandas as pd


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the runs, how they are put together and ranked, and the form of the output."""
    add_runs(parser)
    parser.add_argument("--by", metavar="FIELD", help="one row for every value of this setting, a mean over its runs")
    parser.add_argument("--rank", choices=("best", "dense"), default="best", help="score that leads (default: best)")
    add_score(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Make the table and print it."""
    from analysis.comparing import grouped_by, leader_table
    from analysis.tables import rounds_table

    runs = find_runs(args)
    rounds = rounds_table(runs)
    if rounds.empty:
        raise StoreError("These runs have no finished round yet: wait for round 0, or choose other runs.")
    groups = grouped_by(runs, args.by) if args.by else None
    table = leader_table(
        rounds, score=chosen_score(args), macs=args.macs, tolerance=args.tolerance, rank=args.rank, groups=groups
    )
    if args.json:
        print_json(records(table))
    else:
        _print(table)
    return 0


def _print(table: pd.DataFrame) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from analysis import names
    from analysis.comparing import place_words
    from glt import formats

    heads = ("", "data", "dense", "best", "round", "sparsest", "round", "graph", "weights", "MACs", "seeds", "place")
    shown = Table(*heads, caption="best: chosen on validation; sparsest: within the tolerance of its dense baseline")
    for row in table.to_dict("records"):
        parts = {
            name: formats.percent_interval(row[f"{name}_mean"], row[f"{name}_high"] - row[f"{name}_mean"])
            for name in ("dense", "best", "sparsest")
        }
        rounds = {name: formats.whole(row[f"{name}_round"]) for name in parts}
        sparsities = (row["sparsest_graph_sparsity"], row["sparsest_weight_sparsity"])
        cells = [Text(row["label"]), f"{names.dataset(row['dataset'])}, {names.task(row['task'], row['objective'])}"]
        cells += [parts["dense"], parts["best"], rounds["best"], parts["sparsest"], rounds["sparsest"]]
        cells += [*map(formats.percent, sparsities), formats.macs(row["sparsest_macs"]), str(row["seeds"])]
        shown.add_row(*cells, place_words(row))
    Console(file=sys.stdout).print(shown)


VERBS.register(Verb("leaders", "Rank runs, or groups of them, without ranking noise", add_arguments, run))
