"""`delete`: move runs to the store's trash, bring them back from it, or empty it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from glt.cli.arguments import add_store, open_store
from glt.cli.verb import VERBS, Verb
from glt.errors import ConfigError
from glt.formats import file_size

if TYPE_CHECKING:
    from glt.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Add the runs, or what to do instead."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help="names of runs in the store")
    parser.add_argument(
        "--restore", nargs="+", default=[], metavar="NAME", help="bring back the newest deleted run of that name"
    )
    parser.add_argument("--empty-trash", action="store_true", help="delete for good what was deleted before")
    add_store(parser)


def run(args: Namespace) -> int:
    """Bring runs back, move others to the trash; with `--empty-trash`, delete what lies there for good."""
    if not (args.runs or args.restore or args.empty_trash):
        raise ConfigError("Nothing to delete: name a run, or give --empty-trash.")
    store = open_store(args, writable=True)
    for name in args.restore:
        print(f"Brought {store.restore(name).name} back from the trash of {store.root}.")
    _delete(store, args.runs)
    if args.empty_trash:
        print(f"Emptied the trash of {store.root}: {file_size(store.empty_trash())} freed.")
    return 0


def _delete(store: Store, names: Sequence[str]) -> None:
    """Move runs to the trash, what reads another one before it, and say which runs are left without what they read."""
    from glt.store.readers import readers_first, readers_left

    folders = {folder.name: folder for folder in map(store.folder, names)}
    for name in readers_first(folders, store.runs()):
        readers = store.readers(name)
        store.move_to_trash(folders[name])
        print(f"Moved {name} to the trash of {store.root}.")
        if left := readers_left(name, readers):
            print(left)


VERBS.register(Verb("delete", "Move runs to the store's trash, bring them back, or empty it", add_arguments, run))
