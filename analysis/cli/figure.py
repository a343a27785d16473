"""`python -m analysis figure NAME RUN... --out FILE`: a figure for a paper."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.cli.arguments import add_runs, add_score, chosen_score, find_runs, write_out
from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import count
from glt.errors import ConfigError

if TYPE_CHECKING:
    from analysis.export import FigureChoices


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the figure, its runs, what it shows and how wide it is."""
    parser.add_argument("figure", metavar="NAME", help="which figure: ablation, accuracy, subgraphs")
    add_runs(parser)
    parser.add_argument("--x", choices=("graph", "weight", "macs", "all"), default="graph", help="horizontal axis")
    add_score(parser)
    parser.add_argument("--paper", action="store_true", help="add the paper's printed points")
    parser.add_argument("--full", action="store_true", help="show all of the y axis, however deep a method falls")
    _add_sample(parser)
    parser.add_argument("--venue", default="icml", metavar="V", help="icml, neurips or ieee (default: icml)")
    parser.add_argument("--columns", type=int, choices=(1, 2), default=1, help="columns the figure spans")
    parser.add_argument("--dpi", type=count, default=300, metavar="D", help="dots an inch of a png")
    parser.add_argument("--out", required=True, metavar="FILE", help="file to write: its ending says pdf, svg or png")


def _add_sample(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("subgraphs")
    group.add_argument("--round", type=count, metavar="K", help="round (default: the last finished one)")
    group.add_argument("--seed", type=count, metavar="N", help="seed (default: the first one)")
    group.add_argument("--sample", default="walk", metavar="KIND", help="walk, ego, class or community (default: walk)")
    group.add_argument("--size", type=count, default=150, metavar="N", help="nodes (default: 150)")
    group.add_argument("--sample-seed", type=count, default=0, metavar="N", help="draw another sample")
    group.add_argument("--center", type=count, metavar="NODE", help="node to start from")
    group.add_argument("--class", dest="label", type=count, metavar="C", help="class to sample")


def run(args: Namespace) -> int:
    """Draw the figure and write it."""
    from analysis.export import FIGURES, draw, figure_bytes

    out = Path(args.out)
    kind = _kind(out)
    runs = find_runs(args)
    figure = draw(args.figure, runs, _choices(args))
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


def _choices(args: Namespace) -> FigureChoices:
    from analysis.export import FigureChoices, Sample

    return FigureChoices(
        venue=args.venue,
        columns=args.columns,
        x=args.x,
        score=chosen_score(args),
        macs=args.macs,
        tolerance=args.tolerance,
        paper=args.paper,
        near=not args.full,
        round=args.round,
        seed=args.seed,
        sample=Sample(args.sample, args.size, args.sample_seed, args.center, args.label),
    )


VERBS.register(Verb("figure", "Draw a figure for a paper.", add_arguments, run))
