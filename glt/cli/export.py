"""`export`: a ticket in one file that runs without this program, or its sparse graph for other ones."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from glt.cli.arguments import add_round, find_seed_run, place
from glt.cli.main import DONE
from glt.cli.verb import VERBS, Verb
from glt.errors import ConfigError, StoreError
from glt.formats import file_size

if TYPE_CHECKING:
    from glt.store import SeedRun

TICKET = "ticket"


def add_arguments(parser: ArgumentParser) -> None:
    """Add which round of which seed, as what, and where to."""
    add_round(parser)
    told = "ticket (weights, masks and graph in one .zip), or the sparse graph alone (default: ticket)"
    parser.add_argument("--format", choices=(TICKET, "graphml", "csv", "npz"), default=TICKET, help=told)
    parser.add_argument(
        "--out", type=place, required=True, metavar="FILE", help="file to write; an old one is replaced"
    )


def run(args: Namespace) -> int:
    """Write the file whole or not at all."""
    if not args.out.parent.is_dir():
        raise ConfigError(f"There is no folder {args.out.parent}: create it, or give another --out.")
    refuse_other_ending(args.out, args.format)
    content = _content(find_seed_run(args), args.round, args.format)
    write(args.out, content)
    print(f"Wrote {args.out}, {file_size(len(content))}.")
    return DONE


def refuse_other_ending(path: Path, form: str) -> None:
    """Raise ConfigError for a name that ends as another format's files do; any other ending is the user's own."""
    from glt.ticket_file.graph_formats import GRAPH_FORMATS

    endings = {TICKET: ".zip", **{name: each.ending for name, each in GRAPH_FORMATS.items()}}
    ending = path.suffix.lower()
    if ending != endings[form] and ending in endings.values():
        other = next(name for name, each in endings.items() if each == ending)
        raise ConfigError(
            f"{path} ends as a file of --format {other} and --format is {form}: let it end in {endings[form]}, or give "
            f"--format {other}."
        )


def write(path: Path, content: bytes, option: str = "--out") -> None:
    """Write a file whole; raises StoreError that asks for another `option` where that cannot be.

    A link stays, and what it leads to is written. A device or a pipe (/dev/stdout, /dev/null) is written into: renaming
    a file to its name, as is done with files, would replace it for the whole machine.
    """
    from glt.store.safe_files import replace_file

    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(content)
        else:
            replace_file(path.resolve() if path.is_symlink() else path, content)
    except (StoreError, OSError, RuntimeError) as error:
        # The store's own sentence speaks of another store; a RuntimeError is that of links which lead to each other.
        cause = error.__cause__ if isinstance(error, StoreError) else error
        reason = getattr(cause, "strerror", None) or "the file system refuses"
        raise StoreError(f"{path} cannot be written ({reason}): give another {option}.") from error


def _content(seed_run: SeedRun, round_: int, form: str) -> bytes:
    if form == TICKET:
        from glt.ticket_file.io import ticket_bytes
        from glt.ticket_file.ticket import make_ticket

        return ticket_bytes(make_ticket(seed_run, round_))
    from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph

    return GRAPH_FORMATS[form].write(SparseGraph.of(seed_run, round_))


VERBS.register(Verb("export", "Write a ticket or its sparse graph to a file", add_arguments, run))
