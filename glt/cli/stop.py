"""`stop`: end the workers of a run at their next epoch; whole rounds stay."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from glt.cli.arguments import add_run, find_any_run, seeds
from glt.cli.verb import VERBS, Verb
from glt.formats import listing


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run and which of its seeds."""
    add_run(parser)
    parser.add_argument("--seeds", type=seeds, metavar="N,...", help="only these seeds (default: all)")


def run(args: Namespace) -> int:
    """Stop the workers and say which."""
    from glt.jobs import stop

    found = find_any_run(args, writable=True)
    stopped = stop(found, args.seeds)
    print(f"Stopped {listing(stopped)} of {found.name}." if stopped else f"Nothing of {found.name} is at work.")
    return 0


VERBS.register(Verb("stop", "Stop the workers of a run; what is finished stays", add_arguments, run))
