"""`python -m analysis figure NAME RUN... --out FILE`: a figure for a paper."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from analysis.cli.arguments import add_page, add_runs, add_sample, add_score, chosen_figure, find_runs, write_out
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import count
from glt.errors import ConfigError


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the figure, its runs, what it shows and how wide it is."""
    parser.add_argument("figure", metavar="NAME", help="which figure: ablation, accuracy, subgraphs")
    add_runs(parser)
    add_score(parser)
    add_sample(parser)
    add_page(parser)
    parser.add_argument("--dpi", type=count, default=300, metavar="D", help="dots an inch of a png")
    parser.add_argument("--out", required=True, metavar="FILE", help="file to write: its ending says pdf, svg or png")


def run(args: Namespace) -> int:
    """Draw the figure and write it."""
    from analysis.export import FIGURES, draw, figure_bytes

    out = Path(args.out)
    kind = _kind(out)
    runs = find_runs(args)
    figure = draw(args.figure, runs, chosen_figure(args))
    if missing := FIGURES.get(args.figure).missing(runs):
        print(missing, file=sys.stderr)
    write_out(figure_bytes(figure, kind, max(args.dpi, 1)), out)
    return 0


def _kind(out: Path) -> str:
    from analysis.export import FORMATS

    kind = out.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        endings = ", ".join(f".{known}" for known in FORMATS)
        raise ConfigError(f"--out {out} does not say which kind of file to write: let it end in one of {endings}.")
    return kind


VERBS.register(Verb("figure", "Draw a figure for a paper.", add_arguments, run))
