"""The verbs of `python -m analysis`, and the options and helpers they share."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import Args, Sections, Verbs, run_command

if TYPE_CHECKING:
    from analysis.budget import Budget
    from analysis.tables.curves import Score
    from glt.store import Run

SECTIONS: Sections = {
    "Measure and draw": {
        "measure": "analysis.cli.measure:measure",
        "betweenness": "analysis.cli.measure:betweenness",
        "compare": "analysis.cli.compare:compare",
        "leaders": "analysis.cli.compare:leaders",
        "attribution": "analysis.cli.attribution:attribution",
        "figure": "analysis.cli.figure:figure",
        "table": "analysis.cli.figure:table",
    },
    "Share": {"bundle": "analysis.cli.figure:bundle"},
}
ABOUT = "Measure, draw and export saved runs."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb of `python -m analysis` and return its exit code."""
    return run_command(Verbs(SECTIONS, ABOUT), "python -m analysis", arguments)


# What accuracies and tickets depend on.
score_options = options.all_of(
    options.option(
        "--macs",
        type=options.registered("convention", "glt.store", "MAC_CONVENTIONS", checked=True),
        default="dense_features",
        show_default=True,
        metavar="C",
        help="how MACs are counted",
    ),
    options.option(
        "--score",
        type=options.choice("score", "best", "last"),
        default="best",
        show_default=True,
        metavar="E",
        help="test score at the epoch with the best validation score, or at the last epoch",
    ),
    options.margin,
)
engine_option = options.option(
    "--engine",
    type=options.choice("engine", "default", "networkx", "fast"),
    default="default",
    show_default=True,
    metavar="E",
    help="NetworkX where it takes less than a second and faster versions elsewhere, NetworkX alone (minutes on Cora; "
    "reports the largest difference), or faster versions alone",
)


def shares(text: str) -> tuple[float, ...]:
    """Read shares in percent with commas between them as fractions; raises ConfigError.

    >>> shares("80,62.5")
    (0.8, 0.625)
    """
    return tuple(map(options.points, text.split(",")))


def _of_budget(*names: str, **settings: Any) -> options.Decorator:
    return options.option(*names, heading="Equal budget", **settings)


budget_options = options.all_of(
    _of_budget("--at", type=options.choice("budget", "round", "entries", "edges", "macs"), metavar="W",
               show_default="round if all runs prune equally, else entries",
               help="what methods have equal: round, directed entries, undirected edges or MACs"),
    _of_budget("--rounds", type=options.Value("rounds", options.numbers), default=(), metavar="K,..",
               show_default="4,9,13,16", help="targets: what the reference keeps in these rounds"),
    _of_budget("--shares", type=options.Value("shares", shares), default=(), metavar="P,..",
               help="targets: these shares kept, in percent"),
    _of_budget("--within", type=options.Value("points", options.points), default="5", show_default=True, metavar="P",
               help="how far, in percent of the target, a run's nearest round may be from it"),
    _of_budget("--reference", default="dense", show_default=True, metavar="RUN",
               help="what differences are from: dense, one of the runs, or the method of one of them"),
)  # fmt: skip


def chosen_budget(args: Args, runs: Sequence[Run]) -> Budget:
    """Return the choices that `budget_options` make, for these runs."""
    from analysis.budget import Budget

    # A run may be named by its path.
    named = {**{run.name: run.reference for run in runs}, **{str(run.path): run.reference for run in runs}}
    named |= {run.reference: run.reference for run in runs}
    reference = named.get(args.reference, args.reference)
    return Budget(args.at, args.rounds, args.shares, args.within, reference)


def chosen_score(args: Args) -> Score:
    """Return the column of `rounds_table` for `--score`."""
    return "test" if args.score == "best" else "test_last"


def find_runs(args: Args) -> list[Run]:
    """Return the runs named by RUN..., each once; raises StoreError for a missing one."""
    store = options.open_store(args)
    found = [store.find(name) for name in args.runs]
    return named_apart(list({run.path.resolve(): run for run in found}.values()))


def named_apart(runs: list[Run]) -> list[Run]:
    """Name runs by path if they share a reference, as runs of several stores do; return all."""
    counts = Counter(run.reference for run in runs)
    for run in runs:
        if counts[run.reference] > 1:
            run.is_named_by_path = True
    return runs


def write_out(content: bytes, out: Path | None) -> None:
    """Write a finished document whole to a file, or to standard output."""
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
    options.write_file(out, content)
    options.report_written(out, len(content))
