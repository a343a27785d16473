"""From an argument list to an exit code, as on the command line of glt: 0, 1, 2 or 130."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cli.verb import VERBS
from glt.cli.main import make_parser, parsed, run_verb


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb of `python -m analysis` and return its exit code."""
    parser = make_parser("python -m analysis", "Measure, draw and export saved runs.", VERBS)
    args = parsed(parser, arguments)
    return run_verb(VERBS.get(args.verb), args)
