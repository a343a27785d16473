"""Arguments that several verbs share beyond those of glt.cli.arguments: which runs, which score, which file."""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from glt.cli.arguments import add_store, open_store
from glt.errors import StudioError

if TYPE_CHECKING:
    from analysis.tables.curve import Score
    from glt.store import Run


def add_runs(parser: ArgumentParser) -> None:
    """Add RUN..., one or more runs with all their seeds, and `--store`."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="name of a run in the store, or the path of its folder")
    add_store(parser)


def add_score(parser: ArgumentParser) -> None:
    """Add what accuracies and tickets depend on: `--macs`, `--score` and `--tolerance`."""
    from glt.store import MAC_CONVENTIONS

    parser.add_argument("--macs", choices=MAC_CONVENTIONS, default="dense_features", help="how MACs are counted")
    parser.add_argument("--score", choices=("best", "last"), default="best", help="epoch: best validation or last")
    parser.add_argument("--tolerance", type=points, default=0.0, metavar="POINTS", help="points a ticket may lack")


def chosen_score(args: Namespace) -> Score:
    """Return the column of `rounds_table` that `--score` means."""
    return "test" if args.score == "best" else "test_last"


def find_runs(args: Namespace) -> list[Run]:
    """Return the runs that RUN... names, each once; raises StoreError for one that is not there."""
    store = open_store(args)
    found = [store.find(name) for name in args.runs]
    return list({run.name: run for run in found}.values())


def write_out(content: bytes, out: Path | None) -> None:
    """Write a finished document to a file, or to standard output; a file is written whole or not at all."""
    if out is None:
        sys.stdout.write(content.decode())
        return
    partial = out.with_name(f".{out.name}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(out)
    except OSError as error:
        reason = error.strerror or error
        raise StudioError(f"{out} cannot be written ({reason}): name a file in a folder that is there.") from None
    finally:
        if out.parent.is_dir():
            partial.unlink(missing_ok=True)


def points(text: str) -> float:
    """Read percentage points that are not negative as a fraction; raises ArgumentTypeError.

    >>> points("0.5")
    0.005
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a number of percentage points (0, 0.5, 1, ...)")
    return number / 100
