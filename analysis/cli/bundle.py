"""`python -m analysis bundle RUN... --out FILE`: figures, tables, numbers, settings and commands of runs in one zip."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from analysis.cli.arguments import (
    add_page,
    add_runs,
    add_sample,
    add_score,
    add_structure,
    chosen_figure,
    find_runs,
    write_out,
)
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import place
from glt.errors import ConfigError


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the runs, what their figures show and how wide they are."""
    add_runs(parser)
    add_score(parser)
    add_sample(parser)
    add_structure(parser)
    add_page(parser)
    parser.add_argument("--out", type=place, required=True, metavar="FILE", help="zip to write")


def run(args: Namespace) -> int:
    """Make the bundle and write it."""
    from analysis.bundle import bundle_bytes, lost_sources
    from analysis.runs import runs_with_rounds

    out = args.out
    if out.suffix.lower() != ".zip":
        raise ConfigError(f"--out {out} is no zip: let it end in .zip.")
    runs = find_runs(args)
    write_out(bundle_bytes(runs, chosen_figure(args)), out)
    for sentence in lost_sources(runs_with_rounds(runs)):
        print(sentence, file=sys.stderr)
    return 0


VERBS.register(Verb("bundle", "Pack figures, tables, numbers, settings and commands into a zip.", add_arguments, run))
