"""`resume`: go on with the unfinished seeds of a run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from glt.cli.arguments import add_computing, add_json, add_run, open_store, seeds
from glt.cli.verb import VERBS, Verb
from glt.store import KnownRun, Run, Store

if TYPE_CHECKING:
    from glt.jobs.launching import Started


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run and which of its seeds."""
    add_run(parser)
    parser.add_argument("--seeds", type=seeds, metavar="N,...", help="only these seeds (default: all unfinished ones)")
    add_computing(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Start workers for the unfinished seeds and follow them to their end."""
    from glt.cli.computing import compute
    from glt.jobs.launching import restart

    found = open_store(args, writable=True).find_any(args.run)
    store = Store(found.path.parent)

    for sentence in _remade(found, args.seeds or found.seeds()) if isinstance(found, Run) else ():
        print(sentence, file=sys.stderr)

    def launch() -> Started[KnownRun]:
        tied = not args.detach
        return restart(store, found, args.seeds, device=args.device, threads=args.threads, tied=tied)

    return compute(args, launch)


def _remade(run: Run, seeds: Sequence[int]) -> Iterator[str]:
    """Say which finished rounds are computed again, because they follow one that cannot be read."""
    for seed_run in map(run.seed, seeds):
        sound, written = seed_run.sound_rounds(), seed_run.whole_rounds()
        if sound < written and not seed_run.is_at_work():
            again = "it is" if sound == written - 1 else f"rounds {sound} to {written - 1} are"
            yield f"seed {seed_run.seed}: round {sound} cannot be read, so {again} computed again"


VERBS.register(Verb("resume", "Go on with the unfinished seeds of a run", add_arguments, run))
