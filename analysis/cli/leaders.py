"""`python -m analysis leaders RUN...`: every run beside the one that validates best, and whether they differ."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from analysis.cli.arguments import add_runs, add_score, chosen_score, find_runs
from analysis.cli.plain import records
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import add_json, print_json

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd
    from rich.table import Table
    from rich.text import Text

PARTS = ("dense", "best", "sparsest")
HEADS = ("dense", "best", "k", "ticket", "k", "graph", "MACs", "seeds")
# In so few letters a line, numbers in these places are left out, or words would be broken.
NARROW, LEFT_OUT = 110, (2, 4, 5, 6)
LEAST_LABEL = 18
NARROWED = " A wider terminal also shows rounds, sparsity and MACs, --json everything."
CAPTION = (
    "Scores and sparsities in percent. best: the pruned round with the highest validation score; ticket: the score of "
    "the sparsest round {rule}. The reference has the highest mean validation score "
    "(of rows with two seeds or more, where there are any); differences are of test scores, with p-values after Holm's "
    "correction over the rows compared with it."
)
GROUPED = " A group takes every seed once, with its mean over the runs; seeds: how many different ones there are."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the runs, how they are put together and compared, and the form of the output."""
    add_runs(parser)
    parser.add_argument(
        "--by", metavar="FIELD", help="one row for every value of this setting, each seed its mean over the runs"
    )
    parser.add_argument(
        "--rank", choices=("best", "dense"), default="best", help="round at which runs are compared (default: best)"
    )
    add_score(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Make the table and print it."""
    from analysis.compare import grouped_by
    from analysis.leaderboard import leader_table
    from analysis.runs import must_have_rows
    from analysis.tables import rounds_table
    from analysis.tables.curves import family_size
    from glt.verdicts import rule_words

    runs = find_runs(args)
    rounds = must_have_rows(rounds_table(runs))
    groups = grouped_by(runs, args.by) if args.by else None
    table = leader_table(
        rounds, score=chosen_score(args), macs=args.macs, margin=args.margin, rank=args.rank, groups=groups
    )
    if args.json:
        print_json(records(table))
    else:
        _print(table, rule_words(args.margin, family_size(rounds, chosen_score(args))))
    return 0


def _print(table: pd.DataFrame, rule: str) -> None:
    from rich.console import Console

    from analysis.labels import dataset_label, task_label
    from analysis.leaderboard import SUBJECT

    console = Console(file=sys.stdout)
    for (dataset, task, objective, data), rows in table.groupby(SUBJECT, sort=False):
        title = f"{dataset_label(dataset)}, {task_label(task, objective)}" + (f", data {data}" if data else "")
        console.print(_shown(rows, title, console.width < NARROW))
    together = not table["run"].all()
    narrowed = NARROWED if console.width < NARROW else ""
    console.print(CAPTION.format(rule=rule) + (GROUPED if together else "") + narrowed, highlight=False, markup=False)


def _shown(rows: pd.DataFrame, title: str, narrow: bool) -> Table:
    from rich import box
    from rich.table import Table

    shown = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    kept = [place for place in range(len(HEADS)) if not (narrow and place in LEFT_OUT)]
    shown.add_column("", overflow="fold", min_width=LEAST_LABEL)
    for place in kept:
        shown.add_column(HEADS[place], justify="right", no_wrap=True)
    shown.add_column("against the reference", overflow="fold", min_width=len("-22.5 ± 10.7 points,"))
    for row in rows.to_dict("records"):
        label, *numbers, compared = _cells(row)
        shown.add_row(label, *(numbers[place] for place in kept), compared)
    return shown


def _cells(row: Mapping[Hashable, Any]) -> list[Text | str]:
    from rich.text import Text

    from analysis.leaderboard import comparison_words
    from glt import formats

    parts = [formats.percent_interval(row[f"{name}_mean"], row[f"{name}_high"] - row[f"{name}_mean"]) for name in PARTS]
    dense, best, sparsest = (part.removesuffix(" %") for part in parts)
    graph = formats.percent(row["sparsest_graph_sparsity"]).removesuffix(" %")
    ticket = [sparsest, formats.whole(row["sparsest_round"]), graph, formats.macs(row["sparsest_macs"])]
    return [
        Text(row["label"]),
        dense,
        best,
        formats.whole(row["best_round"]),
        *ticket,
        str(row["seeds"]),
        comparison_words(row).replace(": ", ":\n", 1).replace(", p", ",\np"),
    ]


VERBS.register(Verb("leaders", "Compare runs, or groups of them, with the one that validates best", add_arguments, run))
