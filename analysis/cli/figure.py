"""`figure`, `table` and `bundle`: runs as figures, tables, and a reproduction bundle."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from analysis.cli.main import (
    budget_options,
    chosen_budget,
    chosen_score,
    engine_option,
    find_runs,
    score_options,
    write_out,
)
from glt.cli import options
from glt.cli.main import DONE, Args, verb
from glt.cli.options import choice, flag, option
from glt.errors import ConfigError, StoreError, no_round, quoted
from glt.formats import as_typed

if TYPE_CHECKING:
    import pandas as pd

    from analysis.figures.base import FigureChoices
    from glt.store import Run

# Figures are registered under the names of their files; the registry imports pandas, which would make the help slow.
FOLDER = Path(__file__).parents[1] / "figures"
FIGURES = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if "\nFIGURES.register(" in path.read_text("utf-8")))
PAPER_TABLES = ("measurements", "trend", "tickets", "paper", "budget", "stability", "transfer")
# Tables that programs read; figures show the same for papers.
EVIDENCE = ("who_pays", "flips", "calibration")
KINDS, TABLES = ("pdf", "svg", "png", "pgf"), ("csv", "json")

ToLatex = Callable[["pd.DataFrame"], str]


class FigureNames(click.ParamType[Any]):
    """Comma-separated names of figures; the drawing reports unknown ones."""

    name = "figures"

    def listed(self) -> Sequence[str]:
        """Return the names of all figures."""
        return FIGURES

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return completions of the last name."""
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{name}") for name in FIGURES if name.startswith(last)]


def ends(text: str) -> tuple[int, int]:
    """Read the two ends of an edge; raises ConfigError.

    >>> ends("3,17")
    (3, 17)
    """
    found = options.numbers(text)
    if len(found) != 2:
        raise ConfigError(f"{quoted(text)} is not an edge: give its two nodes, such as 3,17")
    return found[0], found[1]


# Options.

MEASURE = options.registered("measure", "analysis.measures", "MEASURES")
VENUE = options.registered("venue", "analysis.drawing.venues", "VENUES")
SAMPLE = options.registered("kind of sample", "analysis.subgraphs.samplers", "SAMPLERS")

measure_option = option(
    "--measure", type=MEASURE, default="average_clustering", metavar="M", help="measure of `trend`",
    show_default=True, heading="Graph structure",
)  # fmt: skip


def _sample(*names: str, **settings: Any) -> options.Decorator:
    return option(*names, heading="Subgraphs", **settings)


def _structure(*names: str, **settings: Any) -> options.Decorator:
    return option(*names, heading="Graph structure", **settings)


def _page(*names: str, **settings: Any) -> options.Decorator:
    return option(*names, heading="Page", **settings)


figure_options = options.all_of(
    score_options,
    budget_options,
    _sample("--round", type=options.COUNT, metavar="K", show_default="the last finished one", help="round"),
    _sample("--seed", type=options.COUNT, metavar="N", show_default="the first one", help="seed"),
    _sample("--sample", type=SAMPLE, default="walk", show_default=True, metavar="KIND", help="how nodes are drawn"),
    _sample("--size", type=options.COUNT, default=150, show_default=True, metavar="N", help="number of nodes"),
    _sample("--sample-seed", type=options.COUNT, default=0, show_default=True, metavar="N", help="draw another sample"),
    _sample("--center", type=options.COUNT, metavar="NODE", help="node to start from"),
    _sample("--class", "label", type=options.COUNT, metavar="C", help="class to sample"),
    _sample("--nodes", type=options.Value("nodes", options.numbers), default=(), metavar="A,B,..",
            help="nodes of the sample `nodes`"),
    _sample("--fresh", is_flag=True, help="mark the edges that the round itself removed"),
    _sample("--causes", is_flag=True, help="color removed edges by what decided their removal"),
    measure_option,
    _structure("--over", type=choice("axis", "round", "kept"), default="round", show_default=True, metavar="A",
               help="horizontal axis of `trend`: rounds, or edges kept"),
    _structure("--no-null", "null", is_flag=True, flag_value=False, default=True,
               help="without random graphs of equal density"),
    _structure("--chance", type=choice("null", "reach", "any"), default="reach", show_default=True, metavar="C",
               help="null of `losers` and `pairs`: random removal within the reach of each search, or of any edge"),
    _structure("--edge", type=options.Value("edge", ends), metavar="A,B", help="both ends of the edge of `scores`"),
    _page("--x", type=choice("axis", "graph", "weight", "edges", "macs", "all"), default="graph", show_default=True,
          metavar="AXIS", help="horizontal axis of curves"),
    _page("--paper", is_flag=True, help="add the paper's published points"),
    _page("--full", is_flag=True, help="show the whole y axis, however deep a method falls"),
    _page("--venue", type=VENUE, default="icml", show_default=True,
          metavar="V", help="venue whose column widths and text sizes apply"),
    _page("--columns", type=click.Choice([1, 2]), default=1, show_default=True, metavar="1|2",
          help="columns the figure spans"),
    _page("--font", type=choice("font", "times", "sans"), default="times", show_default=True, metavar="F", help="font"),
    _page("--text", type=float, metavar="POINTS", show_default="the venue's", help="font size in points"),
    _page("--grey", is_flag=True, help="greys and line styles instead of colors"),
)  # fmt: skip


def chosen_figure(args: Args, runs: Sequence[Run]) -> FigureChoices:
    """Return the choices that `figure_options` make, for these runs."""
    from analysis.figures.base import FigureChoices
    from analysis.subgraphs.samplers import Sample

    same = "venue columns x macs margin paper round seed font text grey fresh causes chance measure over null edge"
    return FigureChoices(
        **{name: getattr(args, name) for name in same.split()},
        score=chosen_score(args),
        near=not args.full,
        budget=chosen_budget(args, runs),
        sample=Sample(args.sample, args.size, args.sample_seed, args.center, args.label, args.nodes),
    )


# Figure.


@verb(
    "figure",
    "figure accuracy RUN RUN --venue icml --out accuracy.pdf",
    "figure accuracy,pareto,layers RUN RUN --panels 1x3 --columns 2 --out panels.pdf",
    "figure subgraphs RUN --round 13 --sample ego --center 42 --out subgraph.svg",
    "figure trend RUN --measure average_clustering --out trend.csv",
)
@options.argument(
    "figure", metavar="NAME[,NAME...]", type=FigureNames(), help="one figure, or several as panels of a page"
)
@options.runs_argument
@options.option(
    "--out",
    type=options.FILE,
    required=True,
    metavar="FILE",
    help=f"file to write, its format as its name ends: {', '.join(KINDS)}, or the numbers: {', '.join(TABLES)}",
)
@figure_options
@_page("--panels", metavar="RxC", help="rows and columns of several figures, such as 2x2")
@_page(
    "--dpi", type=options.COUNT, default=300, show_default=True, metavar="D", help="resolution of a png, at most 1200"
)
def figure(args: Args) -> int:
    """Draw a figure for a paper, or several as panels of one page."""
    from analysis.drawing.files import FORMATS, PGF, check_dpi, check_tex, csv_bytes, figure_bytes, json_bytes
    from analysis.drawing.page import on_page, plan
    from analysis.figures.base import FIGURES as REGISTERED

    out = args.out
    kind = out.suffix.removeprefix(".").lower()
    known = (*FORMATS, PGF, *TABLES)
    if kind not in known:
        endings = ", ".join(f".{each}" for each in known)
        raise ConfigError(f"--out {out} has no known ending: use one of {endings}.")
    if kind == PGF:
        check_tex()
    check_dpi(args.dpi)
    runs = find_runs(args)
    choices = chosen_figure(args, runs)
    drawing = plan(args.figure, runs, choices, args.panels)
    for name in args.figure.split(","):
        if missing := REGISTERED.get(name).missing(runs):
            print(missing, file=sys.stderr)
    if kind in TABLES:
        write_out((csv_bytes if kind == "csv" else json_bytes)(drawing.points), out)
    else:
        write_out(figure_bytes(on_page(drawing, choices), kind, args.dpi), out)
    return DONE


# Table.


@verb(
    "table",
    "table tickets RUN RUN --format latex",
    "table measurements RUN --round 4 --round 13 --null --out measurements.csv --format csv",
    "table trend RUN --measure reach --format json",
    "table stability RUN RUN --round 4 --round 13 --format csv",
    "table budget RUN RUN --at macs --rounds 4,9 --reference random",
    "table who_pays RUN RUN --round 13 --format csv",
)
@options.argument(
    "table",
    type=choice("table", *PAPER_TABLES, *EVIDENCE),
    metavar="TABLE",
    help="which table",
)
@options.runs_argument
@option(
    "--format",
    type=choice("format", "latex", "csv", "json"),
    default="latex",
    show_default=True,
    metavar="F",
    help="format",
)
@option("--out", type=options.FILE, metavar="FILE", show_default="standard output", help="file to write")
@score_options
@budget_options
@option(
    "--round",
    type=options.COUNT,
    multiple=True,
    metavar="K",
    show_default="the last",
    heading="Graph structure",
    help="round of `measurements`, `stability`, `who_pays` and `flips`, any number of times",
)
@measure_option
@flag("--null", heading="Graph structure", help="add random graphs of equal density to `measurements` and `trend`")
@flag("--all", heading="Graph structure", help="add measurements that take a minute or more")
@engine_option
@options.progress
def table(args: Args) -> int:
    """Write a table as LaTeX, CSV or JSON."""
    from analysis.drawing.files import csv_bytes, json_bytes

    if args.format == "latex" and args.table in EVIDENCE:
        raise ConfigError(f"The table {args.table} is not written as LaTeX: take --format csv or json.")
    runs = find_runs(args)
    made, to_latex = _TABLES[args.table](runs, args)
    if args.format == "latex":
        content = to_latex(made).encode()
    else:
        content = csv_bytes(made) if args.format == "csv" else json_bytes(made)
    write_out(content, args.out)
    return DONE


def _measurements(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.latex import measurements_latex
    from analysis.measures.tables import measurement_table
    from analysis.runs import last_common_round, printed_measurements, training_part

    rounds = list(args.round) or [last_common_round(runs)]
    config = runs[0].config
    table = measurement_table(
        runs,
        rounds,
        null=args.null,
        published=printed_measurements(config),
        slow=args.all,
        engine=args.engine,
        on_progress=lambda share: options.report_share(args, share),
    )
    if not table.loc[table["kind"] == "run", "seeds"].any():
        asked = " or ".join(map(str, rounds))
        raise StoreError(no_round(asked, "these runs", last_common_round(runs)))
    return table, lambda made: measurements_latex(made, config.dataset, note=training_part(config))


def _trend(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.measures.tables import trend_table
    from analysis.runs import last_common_round

    if args.format == "latex":
        raise ConfigError(f"A trend has no LaTeX table: take --format csv or json, or `{as_typed('figure', 'trend')}`.")
    last_common_round(runs)
    table = trend_table(runs, args.measure, null=args.null, on_progress=lambda share: options.report_share(args, share))
    return table, lambda made: ""


def _tickets(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.latex import tickets_latex
    from analysis.tables.rounds import rounds_table
    from analysis.tables.tickets import tickets_table

    table = tickets_table(rounds_table(runs), chosen_score(args), args.macs, args.margin)
    if table.empty:
        raise StoreError("These runs have no pruned round yet: wait for round 1, or choose other runs.")
    return table, lambda made: tickets_latex(made, chosen_score(args), args.macs, args.margin)


def _paper(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.latex import paper_latex
    from analysis.tables.curves import curve_table, paper_table
    from analysis.tables.rounds import rounds_table

    table = paper_table(curve_table(rounds_table(runs), chosen_score(args), "graph", args.macs, args.margin))
    if table.empty:
        complete = all(run.seed(seed).is_complete() for run in runs for seed in run.seeds())
        more = "" if complete else ", or wait for more rounds"
        raise StoreError(f"The paper prints no value for a finished round of these runs: choose other runs{more}.")
    return table, paper_latex


def _budget(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.budget import budget_table
    from analysis.latex import budget_latex
    from analysis.runs import must_have_rows
    from analysis.tables.rounds import rounds_table

    rounds = must_have_rows(rounds_table(runs))
    table = budget_table(rounds, chosen_budget(args, runs), chosen_score(args), args.macs)
    return table, lambda made: budget_latex(made, chosen_score(args), args.macs)


def _stability(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.latex import stability_latex
    from analysis.runs import last_common_round
    from analysis.stability import stability_table

    return stability_table(runs, list(args.round) or [last_common_round(runs)]), stability_latex


def _evidence(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.tables.calibration import calibration_rows
    from analysis.tables.who_pays import who_pays

    if args.table == "calibration":
        return calibration_rows(runs), lambda made: ""
    found = who_pays(runs, args.round)
    return (found.flips if args.table == "flips" else found.groups), lambda made: ""


def _transfer(runs: Sequence[Run], args: Args) -> tuple[pd.DataFrame, ToLatex]:
    from analysis.latex import transfer_latex
    from analysis.runs import must_have_rows
    from analysis.tables.rounds import rounds_table
    from analysis.transfer import transfer_table

    return transfer_table(runs, must_have_rows(rounds_table(runs)), chosen_score(args)), transfer_latex


_TABLES = {
    "measurements": _measurements,
    "trend": _trend,
    "tickets": _tickets,
    "paper": _paper,
    "budget": _budget,
    "stability": _stability,
    "transfer": _transfer,
}
_TABLES |= dict.fromkeys(EVIDENCE, _evidence)


# Bundle.


@verb("bundle", "bundle RUN RUN --out bundle.zip")
@options.runs_argument
@options.option("--out", type=options.FILE, required=True, metavar="FILE", help="zip to write")
@figure_options
def bundle(args: Args) -> int:
    """Pack figures, tables, numbers, settings and commands into a zip."""
    from analysis.bundle import bundle_bytes
    from analysis.commands import lost_sources
    from analysis.runs import runs_with_rounds

    out = args.out
    if out.suffix.lower() != ".zip":
        raise ConfigError(f"--out {out} is not a zip file: use the ending .zip.")
    runs = find_runs(args)
    write_out(bundle_bytes(runs, chosen_figure(args, runs)), out)
    for sentence in lost_sources(runs_with_rounds(runs)):
        print(sentence, file=sys.stderr)
    return DONE
