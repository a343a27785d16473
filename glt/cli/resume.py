"""`resume`: go on with the unfinished seeds of a run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from glt.cli.arguments import add_computing, add_json, add_run, open_store, seeds
from glt.cli.verb import VERBS, Verb
from glt.store import Run, Store


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run and which of its seeds."""
    add_run(parser)
    parser.add_argument("--seeds", type=seeds, metavar="N,...", help="only these seeds (default: all unfinished ones)")
    add_computing(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Start workers for the unfinished seeds and follow them to their end."""
    from glt.cli.computing import compute
    from glt.jobs import resume

    found = open_store(args, writable=True).find(args.run)
    store = Store(found.path.parent)

    def launch() -> tuple[Run, list[int]]:
        tied = not args.detach
        resume(store, found, args.seeds, device=args.device, threads=args.threads, tied=tied)
        return found, args.seeds or found.seeds()

    return compute(args, launch)


VERBS.register(Verb("resume", "Go on with the unfinished seeds of a run", add_arguments, run))
