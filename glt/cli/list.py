"""`list`: the runs of a store and the states of their seeds."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from glt.cli.arguments import add_json, add_store, open_store, print_json
from glt.cli.documents import list_entry
from glt.cli.main import DONE, FAILED
from glt.cli.verb import VERBS, Verb
from glt.formats import MISSING, file_size, number_of

if TYPE_CHECKING:
    from glt.store import KnownRun, Store


# Columns a name is given before others are cut; it folds rather than lose its end, which must be typed.
NAME_WIDTH = 34


def add_arguments(parser: ArgumentParser) -> None:
    """Add the store."""
    add_store(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Print all runs; folders that cannot be opened are named on standard error, and the exit code is 1."""
    store = open_store(args)
    if args.json:
        print_json([list_entry(found) for found in store.all_runs()])
    else:
        _print_table(store)
    damaged = store.damaged()
    for _, sentence in damaged:
        print(sentence, file=sys.stderr)
    return FAILED if damaged else DONE


def _print_table(store: Store) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(Column("run", overflow="fold", min_width=NAME_WIDTH), "rounds", "seeds", "size")
    for found in store.all_runs():
        states = ", ".join(f"{seed} {found.seed(seed).status().state}" for seed in found.seeds())
        example = " (example)" if found.is_example else ""
        table.add_row(found.name + example, _rounds(found), states, file_size(found.size_bytes()))
    console = Console()
    if table.row_count:
        console.print(table)
    line = f"{store.root}: {number_of(table.row_count, 'run')}, {file_size(store.size_bytes())}"
    trash = len(store.trashed())
    console.print(
        f"{line}, {trash} of them deleted ones in the trash" if trash else line, highlight=False, markup=False
    )


def _rounds(run: KnownRun) -> str:
    from glt.store import Run

    return str(run.config.rounds) if isinstance(run, Run) else MISSING


VERBS.register(Verb("list", "List the runs of a store", add_arguments, run))
