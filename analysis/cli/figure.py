"""`python -m analysis figure NAME[,NAME...] RUN... --out FILE`: a figure for a paper, or several on one page."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

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
from glt.cli.arguments import count, place
from glt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glt.store import Run

ABOUT = (
    "which figure (ablation, accuracy, degrees, layers, losers, pairs, pareto, scores, subgraphs, teaser, training, "
    "trend), or several with commas between them: then they stand on one page as panels (a), (b), ..."
)
OUT = "file to write: its ending says pdf, svg, png or pgf, or csv and json for the numbers that are drawn"
TABLES = ("csv", "json")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the figure, its runs, what it shows and how wide it is."""
    parser.add_argument("figure", metavar="NAME", help=ABOUT)
    add_runs(parser)
    add_score(parser)
    add_sample(parser)
    add_structure(parser)
    add_page(parser)
    parser.add_argument("--panels", metavar="RxC", help="rows and columns of several figures, such as 2x2")
    parser.add_argument("--dpi", type=count, default=300, metavar="D", help="dots an inch of a png, 1200 at most")
    parser.add_argument("--out", type=place, required=True, metavar="FILE", help=OUT)


def run(args: Namespace) -> int:
    """Draw the figure and write it, or the numbers in it."""
    from analysis.bundle import csv_bytes, json_bytes
    from analysis.export import check_dpi, figure_bytes, on_page, plan

    out = args.out
    kind = _kind(out)
    check_dpi(args.dpi)
    runs, choices = find_runs(args), chosen_figure(args)
    drawing = plan(args.figure, runs, choices, args.panels)
    _tell_missing(args.figure, runs)
    if kind in TABLES:
        write_out((csv_bytes if kind == "csv" else json_bytes)(drawing.points), out)
    else:
        write_out(figure_bytes(on_page(drawing, choices), kind, args.dpi), out)
    return 0


def _tell_missing(names: str, runs: Sequence[Run]) -> None:
    from analysis.export import FIGURES

    for name in names.split(","):
        if missing := FIGURES.get(name).missing(runs):
            print(missing, file=sys.stderr)


def _kind(out: Path) -> str:
    from analysis.export import FORMATS, PGF, check_tex

    kind = out.suffix.removeprefix(".").lower()
    known = (*FORMATS, PGF, *TABLES)
    if kind not in known:
        endings = ", ".join(f".{each}" for each in known)
        raise ConfigError(f"--out {out} does not say which kind of file to write: let it end in one of {endings}.")
    if kind == PGF:
        check_tex()
    return kind


VERBS.register(Verb("figure", "Draw a figure for a paper.", add_arguments, run))
