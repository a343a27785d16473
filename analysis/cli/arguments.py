"""Arguments that several verbs share: which store, which run, which seed."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glt.store import SeedRun, Store


def add_store(parser: ArgumentParser) -> None:
    """Add `--store`, the folder whose runs can be called by name; the variable GLT_STORE changes its default."""
    default = os.environ.get("GLT_STORE") or "runs"
    parser.add_argument("--store", default=default, metavar="S", help=f"folder of runs (default: {default})")


def add_seed_run(parser: ArgumentParser) -> None:
    """Add RUN, `--seed` and `--store`: one seed of one run."""
    parser.add_argument("run", metavar="RUN", help="name of a run in the store, or the path of its folder")
    parser.add_argument("--seed", type=count, metavar="N", help="seed (default: the first one)")
    add_store(parser)


def open_store(args: Namespace) -> Store:
    """Return the store named by `--store`, for reading."""
    from glt.store import Store

    return Store(args.store, writable=False)


def find_seed_run(args: Namespace) -> SeedRun:
    """Return the seed that RUN and `--seed` name; raises StoreError when there is none."""
    run = open_store(args).find(args.run)
    return run.existing_seed(args.seed)


def count(text: str) -> int:
    """Read a whole number that is not negative; raises ArgumentTypeError.

    >>> count("13")
    13
    """
    if not text.isascii() or not text.isdigit():
        raise ArgumentTypeError(f"{text!r} is not a whole number (0, 1, 2, ...)")
    return int(text)
