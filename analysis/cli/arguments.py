"""Arguments that several verbs share beyond those of glt.cli.arguments: which runs, which score, which file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from glt.cli.arguments import add_margin, add_store, count, open_store
from glt.cli.export import write
from glt.printable import quoted

if TYPE_CHECKING:
    from analysis.export import FigureChoices
    from analysis.tables.curves import Score
    from glt.store import Run


def add_runs(parser: ArgumentParser) -> None:
    """Add RUN..., one or more runs with all their seeds, and `--store`."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="name of a run in the store, examples/NAME, or a path")
    add_store(parser)


def add_score(parser: ArgumentParser) -> None:
    """Add what accuracies and tickets depend on: `--macs`, `--score` and `--margin` (once `--tolerance`)."""
    from glt.store import MAC_CONVENTIONS

    parser.add_argument("--macs", choices=MAC_CONVENTIONS, default="dense_features", help="how MACs are counted")
    parser.add_argument("--score", choices=("best", "last"), default="best", help="epoch: best validation or last")
    add_margin(parser)


def add_engine(parser: ArgumentParser) -> None:
    """Add `--engine`, who computes graph measures."""
    told = "default: NetworkX where it answers within a second, else our faster versions; networkx: NetworkX itself"
    told += " (minutes on Cora), with the largest difference; fast: our versions only"
    parser.add_argument("--engine", choices=("default", "networkx", "fast"), default="default", help=told)


def add_page(parser: ArgumentParser) -> None:
    """Add what a curve shows and the page a figure is for: axis, the paper's points, venue, columns."""
    parser.add_argument("--x", choices=("graph", "weight", "macs", "all"), default="graph", help="horizontal axis")
    parser.add_argument("--paper", action="store_true", help="add the paper's printed points")
    parser.add_argument("--full", action="store_true", help="show all of the y axis, however deep a method falls")
    parser.add_argument("--venue", default="icml", metavar="V", help="icml, neurips, iclr, ieee or acm (default: icml)")
    parser.add_argument("--columns", type=int, choices=(1, 2), default=1, help="columns the figure spans")
    parser.add_argument("--font", choices=("times", "sans"), default="times", help="letters (default: times)")
    parser.add_argument("--text", type=float, metavar="POINTS", help="size of words (default: the venue's)")
    parser.add_argument("--grey", action="store_true", help="greys and dashes instead of colours")


def add_sample(parser: ArgumentParser) -> None:
    """Add which round of which seed and which part of the graph a subgraph figure shows."""
    group = parser.add_argument_group("subgraphs")
    group.add_argument("--round", type=count, metavar="K", help="round (default: the last finished one)")
    group.add_argument("--seed", type=count, metavar="N", help="seed (default: the first one)")
    group.add_argument("--sample", default="walk", metavar="KIND", help="walk, ego, class, ... (default: walk)")
    group.add_argument("--size", type=count, default=150, metavar="N", help="nodes (default: 150)")
    group.add_argument("--sample-seed", type=count, default=0, metavar="N", help="draw another sample")
    group.add_argument("--center", type=count, metavar="NODE", help="node to start from")
    group.add_argument("--class", dest="label", type=count, metavar="C", help="class to sample")
    group.add_argument("--nodes", type=numbers, default=(), metavar="A,B,..", help="nodes of the sample `nodes`")
    group.add_argument("--fresh", action="store_true", help="mark the edges that the round itself removed")


def add_structure(parser: ArgumentParser) -> None:
    """Add what figures of the whole graph show: the measure, its axis, the random graphs beside it, one edge."""
    group = parser.add_argument_group("structure of the graph")
    group.add_argument("--measure", default="average_clustering", metavar="M", help="measure of the figure `trend`")
    group.add_argument("--over", choices=("round", "kept"), default="round", help="rounds, or edges kept")
    group.add_argument("--no-null", dest="null", action="store_false", help="without as dense random graphs")
    group.add_argument("--edge", type=ends, metavar="A,B", help="both ends of the edge of the figure `scores`")


def chosen_figure(args: Namespace) -> FigureChoices:
    """Return what the arguments of `add_score`, `add_sample`, `add_structure` and `add_page` say about a figure."""
    from analysis.export import FigureChoices
    from analysis.subgraphs import Sample

    return FigureChoices(
        venue=args.venue,
        columns=args.columns,
        x=args.x,
        score=chosen_score(args),
        macs=args.macs,
        margin=args.margin,
        paper=args.paper,
        near=not args.full,
        round=args.round,
        seed=args.seed,
        sample=Sample(args.sample, args.size, args.sample_seed, args.center, args.label, args.nodes),
        font=args.font,
        text=args.text,
        grey=args.grey,
        fresh=args.fresh,
        measure=args.measure,
        over=args.over,
        null=args.null,
        edge=args.edge,
    )


def chosen_score(args: Namespace) -> Score:
    """Return the column of `rounds_table` that `--score` means."""
    return "test" if args.score == "best" else "test_last"


def find_runs(args: Namespace) -> list[Run]:
    """Return the runs that RUN... names, each once; raises StoreError for one that is not there."""
    store = open_store(args)
    found = [store.find(name) for name in args.runs]
    return named_apart(list({run.path.resolve(): run for run in found}.values()))


def named_apart(runs: list[Run]) -> list[Run]:
    """Have runs that share a name, because they lie in several stores, be named by their paths; return them all."""
    counts = Counter(run.reference for run in runs)
    for run in runs:
        if counts[run.reference] > 1:
            run.is_named_by_path = True
    return runs


def write_out(content: bytes, out: Path | None) -> None:
    """Write a finished document to a file, or to standard output; a file is written whole or not at all."""
    if out is None:
        # The document as it is, in UTF-8, whatever the terminal's encoding.
        binary = getattr(sys.stdout, "buffer", None)
        sys.stdout.flush()
        if binary is None:
            # Standard output that takes text only, as in a notebook.
            sys.stdout.write(content.decode("utf-8"))
        else:
            binary.write(content)
        return
    write(out, content)


def numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers with commas between them; raises ArgumentTypeError.

    >>> numbers("3,17")
    (3, 17)
    """
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ArgumentTypeError(f"{quoted(text)} is no list of numbers such as 3,17")
    return tuple(map(int, parts))


def ends(text: str) -> tuple[int, int]:
    """Read the two ends of an edge; raises ArgumentTypeError.

    >>> ends("3,17")
    (3, 17)
    """
    found = numbers(text)
    if len(found) != 2:
        raise ArgumentTypeError(f"{quoted(text)} does not name the two ends of an edge, such as 3,17")
    return found[0], found[1]
