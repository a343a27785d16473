"""`list`, `show`, `annotate` and `delete`: the runs of a store and their annotations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import DONE, FAILED, Args, verb
from glt.errors import ConfigError
from glt.formats import MISSING, file_size, number_of

if TYPE_CHECKING:
    from rich.table import Column

    from glt.store import KnownRun, Run, Store

# Columns a name is given before others are cut; it folds rather than lose its end, which must be typed.
NAME_WIDTH = 34
# Of seeds, and of rounds, sizes and the rules between all of them.
LEAST, OTHERS = 12, 26
OWN_COLOR = "none"


# List.


@verb("list", "list", "list --examples --all", "list --store other --json")
@options.store
@options.flag("--examples", help="list the bundled examples too")
@options.flag("--all", help="list hidden runs too (--json always does)")
@options.as_json
def list_runs(args: Args) -> int:
    """List the runs of a store and the states of their seeds.

    A folder that cannot be opened is named on standard error, and the exit code is 1.
    """
    from glt.cli.documents import list_entry
    from glt.store import bundled_examples, paths

    store = options.open_existing_store(args)
    is_theirs = paths.is_same_folder(store.root, paths.EXAMPLES)
    examples = bundled_examples(annotated_in=store.root) if args.examples and not is_theirs else []
    if args.json:
        options.print_json([list_entry(found) for found in (*store.contents().every, *examples)])
    else:
        _print_table(store, examples, args.all)
    damaged = store.damaged()
    for sentence in [*(sentence for _, sentence in damaged), *filter(None, [store.annotations().damage])]:
        print(sentence, file=sys.stderr)
    return FAILED if damaged else DONE


def _print_table(store: Store, examples: Sequence[Run], hidden_too: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    own = store.contents().every
    every = [*own, *examples]
    listed = [found for found in every if hidden_too or not found.annotation.hidden]
    console = Console()
    table = Table(*_columns(console.width))
    for found in listed:
        states = ", ".join(f"{seed} {found.seed(seed).status().state}" for seed in found.seeds())
        rounds = str(getattr(found.config, "rounds", MISSING))
        table.add_row(
            Text("\n".join(_titled(_name(found), lines_about(found)))), rounds, states, file_size(found.size_bytes())
        )
    if table.row_count:
        console.print(table)
    hidden = len(every) - len(listed)
    note = f" ({hidden} hidden: --all lists them)" if hidden else ""
    line = f"{store.root}: {number_of(len(own), 'run')}{note}, {file_size(store.size_bytes())}"
    trash = len(store.trashed())
    options.print_plain(console, [f"{line}; {number_of(trash, 'run')} in the trash" if trash else line])


def _columns(width: int) -> list[Column]:
    """Return table columns for this width: seeds wrap first, then names; numbers are never cut."""
    from rich.table import Column

    for_seeds = width - NAME_WIDTH - OTHERS
    name = Column("run", overflow="fold", min_width=NAME_WIDTH if for_seeds >= LEAST else None)
    seeds = Column("seeds", overflow="fold", max_width=max(for_seeds, LEAST))
    return [name, Column("rounds", no_wrap=True), seeds, Column("size", no_wrap=True)]


def _name(run: KnownRun) -> str:
    """Return the name as it is typed, marked if it is an example in the store."""
    return f"{run.reference}{' (example)' if run.is_example and not run.is_bundled else ''}"


def _titled(name: str, lines: Sequence[str]) -> list[str]:
    return [name, *(f"  {line}" for line in lines)]


# Show.


@verb("show", "show RUN", "show examples/NAME --margin 1", "show RUN --json")
@options.run_argument
@options.margin
@options.as_json
def show(args: Args) -> int:
    """Show every round of a run, and which rounds are tickets.

    Seeds that cannot be read are named on standard error, and the exit code is 1.
    """
    from rich.console import Console

    from glt.cli.documents import document
    from glt.cli.round import print_pretraining, print_seed, print_verdicts
    from glt.results_version import version_note
    from glt.store import Run
    from glt.training.tasks import metric_of

    found = options.find_any_run(args)
    content = document(found, args.margin)
    damage = [seed["error"] for seed in content["seeds"] if "error" in seed]
    for sentence in damage:
        print(sentence, file=sys.stderr)
    code = FAILED if damage else DONE
    if args.json:
        options.print_json(content)
        return code
    console, metric = Console(), metric_of(found.config.dataset, found.config.task)
    options.print_plain(console, [*_titled(_name(found), lines_about(found)), found.config.canonical_json()])
    if isinstance(found, Run):
        for seed in content["seeds"]:
            if "error" not in seed:
                print_seed(console, found.seed(seed["seed"]), metric)
        print_verdicts(console, content, args.margin, metric)
    else:
        print_pretraining(console, found, content["seeds"])
    options.print_plain(console, filter(None, [version_note([found])]))
    return code


# Annotate.


def _colors() -> tuple[str, ...]:
    from glt.store import COLORS

    return (*COLORS, OWN_COLOR)


@verb("annotate", 'annotate RUN --title "Wide" --color blue', "annotate RUN --hide", "annotate RUN --clear")
@options.run_argument
@options.option("--title", type=options.WORDS, metavar="T", help="name to show everywhere ('' removes it)")
@options.option("--note", type=options.WORDS, metavar="N", help="remark ('' removes it)")
@options.option("--color", type=options.Name("color", _colors), metavar="NAME", help="color in figures")
@options.flag("--hide", help="leave it out of lists and pickers")
@options.flag("--show", help="list it again")
@options.flag("--clear", help="remove title, note and color, and list it again")
@options.as_json
def annotate(args: Args) -> int:
    """Give a run a title, a note or a color, or hide it.

    The run itself stays as it is. Without options, prints the present annotation.
    """
    from rich.console import Console

    changes = _changes(args)
    store = options.open_store(args, writable=bool(changes))
    found = store.find_any(args.run)
    if changes:
        _, warning = store.annotate(found.annotation_key, changes)
        if warning:
            print(warning, file=sys.stderr)
    elif damage := store.annotations().damage:
        print(damage, file=sys.stderr)
    if args.json:
        options.print_json({"run": found.reference, "annotation": found.annotation.as_json()})
    else:
        options.print_plain(Console(), _titled(found.reference, lines_about(found) or ["no annotation"]))
    return DONE


def _changes(args: Args) -> dict[str, Any]:
    if args.hide and args.show:
        raise ConfigError("--hide and --show exclude each other: give one of them.")
    given = {"title": args.title, "note": args.note}
    changes = {name: value for name, value in given.items() if value is not None}
    if args.color is not None:
        changes["color"] = "" if args.color == OWN_COLOR else args.color
    if args.hide or args.show:
        changes["hidden"] = args.hide
    if args.clear and changes:
        raise ConfigError("--clear removes the whole annotation: use it alone.")
    return {"title": "", "note": "", "color": "", "hidden": False} if args.clear else changes


def lines_about(run: KnownRun) -> list[str]:
    """Return the annotation of a run in lines: title, note, color, hidden."""
    annotation = run.annotation
    lines = [annotation.title, *annotation.note.split("\n"), f"color: {annotation.color}" if annotation.color else ""]
    return [line for line in [*lines, "hidden" if annotation.hidden else ""] if line]


# Delete.


@verb("delete", "delete RUN", "delete --restore RUN", "delete --empty-trash --store other")
@options.argument("runs", metavar="[RUN]...", type=options.RunName(), nargs=-1, help="names of runs in the store")
@options.many("--restore", metavar="NAME", help="restore the most recently deleted run of that name")
@options.flag("--empty-trash", help="delete the runs in the trash permanently")
@options.store
def delete(args: Args) -> int:
    """Move runs to the store's trash, restore them, or empty it."""
    if not (args.runs or args.restore or args.empty_trash):
        raise ConfigError("Nothing to delete: name a run, or give --empty-trash.")
    store = options.open_store(args, writable=True)
    for name in args.restore:
        print(f"Restored {store.restore(name).name} from the trash of {store.root}.")
    _delete(store, args.runs)
    if args.empty_trash:
        print(f"Emptied the trash of {store.root}: {file_size(store.empty_trash())} freed.")
    return DONE


def _delete(store: Store, names: Sequence[str]) -> None:
    """Move runs to the trash, readers before what they need, and name runs left without their source."""
    from glt.store import readers_first, readers_left

    folders = {folder.name: folder for folder in map(store.folder, names)}
    for name in readers_first(folders, store.runs()):
        readers = store.readers(name)
        store.move_to_trash(folders[name])
        print(f"Moved {name} to the trash of {store.root}.")
        if left := readers_left(name, readers):
            print(left)
