"""`python -m analysis compare RUN RUN`: the settings in which two runs differ, and their paired differences."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from analysis.cli.arguments import add_score, chosen_score, named_apart
from analysis.cli.plain import records
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import add_json, add_store, open_store, print_json
from glt.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from glt.store import Run


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the two runs, what is held equal and the form of the output."""
    parser.add_argument("runs", metavar="RUN", nargs=2, help="name of a run in the store, examples/NAME, or a path")
    add_store(parser)
    told = "what a pair of rounds shares: their number, or the sparsity (default: round)"
    parser.add_argument("--at", choices=("round", "graph", "weight"), default="round", help=told)
    add_score(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Compare and print; differences are those of the first run minus the second."""
    store = open_store(args)
    one, other = (store.find(name) for name in args.runs)
    if one.path.resolve() == other.path.resolve():
        raise ConfigError(f"Both runs are {one.reference}: name two.")
    named_apart([one, other])
    if args.json:
        print_json(_document(one, other, args))
        return 0
    _print(one, other, args)
    return 0


def _paired(one: Run, other: Run, args: Namespace) -> tuple[pd.DataFrame, pd.DataFrame]:
    from analysis.compare import paired_table
    from analysis.tables import rounds_table

    rounds = rounds_table([one, other])
    return rounds, paired_table(rounds, one.reference, other.reference, chosen_score(args), args.at)


def _document(one: Run, other: Run, args: Namespace) -> dict[str, Any]:
    from analysis.compare import environment_differences, setting_differences, shared_seeds

    rounds, table = _paired(one, other, args)
    found = setting_differences(one.config, other.config)
    return {
        "one": one.reference,
        "other": other.reference,
        "settings": [row._asdict() for row in found.rows],
        "only_one": found.only_one,
        "only_other": found.only_other,
        "environments": [row._asdict() for row in environment_differences(one, other)],
        "shared_seeds": shared_seeds(rounds, one.reference, other.reference),
        "at": args.at,
        "paired": records(table),
    }


def _print(one: Run, other: Run, args: Namespace) -> None:
    from rich.console import Console

    from analysis.compare import AT_WORDS, shared_seeds
    from analysis.leaderboard import few_seeds_words, paired_words

    console = Console(file=sys.stdout)
    rounds, table = _paired(one, other, args)
    labels = dict(zip(rounds["run"], rounds["label"], strict=True))
    first, second = labels.get(one.reference, one.reference), labels.get(other.reference, other.reference)
    _print_settings(console, one, other)
    lines = [few_seeds_words(shared_seeds(rounds, one.reference, other.reference))]
    lines += [paired_words(table, first, second)] if len(table) else []
    if len(table):
        _print_paired(console, table, f"{first} minus {second} at {AT_WORDS[args.at]}")
    for line in filter(None, lines):
        console.print(line, highlight=False, markup=False)


def _print_settings(console: Any, one: Run, other: Run) -> None:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    from analysis.compare import environment_differences, setting_differences, setting_text

    found = setting_differences(one.config, other.config)
    table = Table(
        "",
        *(Column(Text(run.reference, overflow="fold")) for run in (one, other)),
        title="Settings that differ",
        box=box.SIMPLE_HEAD,
    )
    for row in found.rows:
        table.add_row(row.setting, row.one_words, row.other_words)
    for used, place in ((found.only_one, 0), (found.only_other, 1)):
        for name, value in used.items():
            cells = ["not used", "not used"]
            cells[place] = setting_text(name, value)
            table.add_row(name, *map(Text, cells))
    for each in environment_differences(one, other):
        table.add_row(each.what, *(Text(", ".join(values) or "not recorded") for values in (each.one, each.other)))
    console.print(table)


def _print_paired(console: Any, table: pd.DataFrame, title: str) -> None:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    from glt import formats

    heads = ("k", "graph", "weights", "first", "second", "points", "Holm", "significant", "seeds")
    columns = [Column(head, justify="right", no_wrap=True) for head in heads]
    shown = Table(*columns, title=Text(title), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for row in table.to_dict("records"):
        shares = (row["graph_sparsity"], row["weight_sparsity"], row["one"], row["other"])
        difference = formats.points_interval(row["difference"], row["high"] - row["difference"]).removesuffix(" points")
        cells = [str(int(row["round"])), *map(formats.percent, shares), difference, formats.p_value(row["p_adjusted"])]
        cells.append({"higher": "higher", "lower": "lower", "none": "no"}.get(row["verdict"], "no test"))
        shown.add_row(*cells, str(int(row["seeds"])))
    console.print(shown)


VERBS.register(Verb("compare", "Compare two runs: settings, and paired differences by seed", add_arguments, run))
