"""`delete`: move runs to the store's trash, or empty the trash."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from glt.cli.arguments import add_store, open_store
from glt.cli.verb import VERBS, Verb
from glt.errors import ConfigError
from glt.formats import file_size


def add_arguments(parser: ArgumentParser) -> None:
    """Add the runs, or what to do instead."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help="names of runs in the store")
    parser.add_argument("--empty-trash", action="store_true", help="delete for good what was deleted before")
    add_store(parser)


def run(args: Namespace) -> int:
    """Move the runs to the trash; with `--empty-trash`, delete what lies there for good."""
    if not args.runs and not args.empty_trash:
        raise ConfigError("Nothing to delete: name a run, or give --empty-trash.")
    store = open_store(args, writable=True)
    for folder in [store.folder(name) for name in args.runs]:
        store.move_to_trash(folder)
        print(f"Moved {folder.name} to the trash of {store.root}.")
    if args.empty_trash:
        print(f"Emptied the trash of {store.root}: {file_size(store.empty_trash())} freed.")
    return 0


VERBS.register(Verb("delete", "Move runs to the store's trash, or empty it", add_arguments, run))
