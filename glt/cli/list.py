"""`list`: the runs of a store and the states of their seeds."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from glt.cli.arguments import add_json, add_store, open_store, print_json
from glt.cli.documents import list_entry
from glt.cli.main import DONE, FAILED
from glt.cli.said import lines_about
from glt.cli.verb import VERBS, Verb
from glt.formats import MISSING, file_size, number_of

if TYPE_CHECKING:
    from rich.table import Column
    from rich.text import Text

    from glt.store import KnownRun, Run, Store


# Columns a name is given before others are cut; it folds rather than lose its end, which must be typed.
NAME_WIDTH = 34
# Of seeds, and of rounds, sizes and the rules between all of them.
LEAST, OTHERS = 12, 26


def add_arguments(parser: ArgumentParser) -> None:
    """Add the store, and whether bundled examples and hidden runs are listed too."""
    add_store(parser)
    parser.add_argument("--examples", action="store_true", help="list the bundled examples too")
    parser.add_argument("--all", action="store_true", help="list hidden runs too (--json always does)")
    add_json(parser)


def run(args: Namespace) -> int:
    """Print all runs; folders that cannot be opened are named on standard error, and the exit code is 1."""
    store = open_store(args)
    examples = _examples_beside(store) if args.examples else []
    if args.json:
        print_json([list_entry(found) for found in (*store.all_runs(), *examples)])
    else:
        _print_table(store, examples, args.all)
    damaged = store.damaged()
    for sentence in [*(sentence for _, sentence in damaged), *filter(None, [store.annotations().damage])]:
        print(sentence, file=sys.stderr)
    return FAILED if damaged else DONE


def _examples_beside(store: Store) -> list[Run]:
    """Return the bundled examples, none where the store is their own folder."""
    from glt.store import bundled_examples, paths

    is_theirs = paths.is_same_folder(store.root, paths.EXAMPLES)
    return [] if is_theirs else bundled_examples(annotated_in=store.root)


def _print_table(store: Store, examples: Sequence[Run], hidden_too: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    own = store.all_runs()
    every = [*own, *examples]
    listed = [found for found in every if hidden_too or not found.annotation.hidden]
    console = Console()
    table = Table(*_columns(console.width))
    for found in listed:
        states = ", ".join(f"{seed} {found.seed(seed).status().state}" for seed in found.seeds())
        table.add_row(_name(found), _rounds(found), states, file_size(found.size_bytes()))
    if table.row_count:
        console.print(table)
    hidden = len(every) - len(listed)
    told = f" ({hidden} hidden: --all lists them)" if hidden else ""
    line = f"{store.root}: {number_of(len(own), 'run')}{told}, {file_size(store.size_bytes())}"
    trash = len(store.trashed())
    console.print(
        f"{line}, {trash} of them deleted ones in the trash" if trash else line,
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _columns(width: int) -> list[Column]:
    """Return the columns of a table so many characters wide: seeds fold first, then names, and no number is cut."""
    from rich.table import Column

    for_seeds = width - NAME_WIDTH - OTHERS
    name = Column("run", overflow="fold", min_width=NAME_WIDTH if for_seeds >= LEAST else None)
    seeds = Column("seeds", overflow="fold", max_width=max(for_seeds, LEAST))
    return [name, Column("rounds", no_wrap=True), seeds, Column("size", no_wrap=True)]


def _name(run: KnownRun) -> Text:
    """Return the name as it is typed, under it what a person says about the run."""
    from rich.text import Text

    example = " (example)" if run.is_example and not run.is_bundled else ""
    return Text("\n".join([run.reference + example, *(f"  {line}" for line in lines_about(run))]))


def _rounds(run: KnownRun) -> str:
    from glt.store import Run

    return str(run.config.rounds) if isinstance(run, Run) else MISSING


VERBS.register(Verb("list", "List the runs of a store", add_arguments, run))
