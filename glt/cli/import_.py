"""`import`: read a ticket file, check it, and say what it is; its file has an underscore, `import` being Python's."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from glt.cli.arguments import add_json, place, positive, print_json
from glt.cli.main import DONE, FAILED
from glt.cli.verb import VERBS, Verb
from glt.errors import ConfigError
from glt.formats import count, number_of, percent
from glt.printable import MOST_SAID, brief

if TYPE_CHECKING:
    from glt.ticket_file.ticket import Ticket
    from glt.ticket_file.verify import TicketReport

ENDINGS = (".graphml", ".csv", ".npz")
MB = 10**6


def add_arguments(parser: ArgumentParser) -> None:
    """Add the file, and where its sparse graph is written to."""
    parser.add_argument("file", type=place, metavar="FILE", help="a ticket file, as `export` writes it")
    told = f"write its sparse graph to this file too, as its name ends: {', '.join(ENDINGS)}"
    parser.add_argument("--graph", type=place, metavar="FILE", help=told)
    told = "refuse a file that would unpack to more MB than this (default: 8000)"
    parser.add_argument("--most-mb", type=positive, default=8000, metavar="M", help=told)
    add_json(parser)


def run(args: Namespace) -> int:
    """Check sums, compute the network again, and print what it is; whatever it states that is not so is a failure."""
    if args.graph is not None:
        _refuse_graph(args.graph)
    from glt.ticket_file.io import about_of, members

    # A file that is none is told at once, before torch is loaded.
    text, tensors = members(args.file, args.most_mb * MB)
    about = about_of(args.file, text, tensors)
    from glt.jobs.memory import check_evaluation
    from glt.ticket_file.io import opened_ticket
    from glt.ticket_file.verify import check

    ticket = opened_ticket(args.file, about, tensors)
    check_evaluation(args.file, about.config, ticket.graph.sizes)
    report = check(ticket, args.file)
    if args.graph is not None:
        _write_graph(ticket, args.graph)
    if args.json:
        print_json(report.as_json())
    else:
        _print(report)
    return DONE if report.passed else FAILED


def _refuse_graph(path: Path) -> None:
    """Raise ConfigError for a sparse graph that could not be written, before anything is checked."""
    if path.suffix not in ENDINGS:
        raise ConfigError(f"{path} says no format: let its name end in one of {', '.join(ENDINGS)}.")
    if not path.parent.is_dir():
        raise ConfigError(f"There is no folder {path.parent}: create it, or give another --graph.")


def _write_graph(ticket: Ticket, path: Path) -> None:
    from glt.cli.export import write
    from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph

    about = ticket.about
    title = f"{about.run}, seed {about.seed}, round {about.record.round}"
    form = next(form for form in GRAPH_FORMATS.values() if form.ending == path.suffix)
    write(path, form.write(SparseGraph.under(ticket.graph, ticket.masks.edges, title)), "--graph")


def _print(report: TicketReport) -> None:
    print(
        f"{report.run}, seed {report.seed}, round {report.round}: {report.model} on {report.dataset} ({report.task})."
    )
    print(
        f"{count(report.nodes)} nodes; {count(report.entries_kept)} of {count(report.entries)} edge entries and "
        f"{count(report.weights_kept)} of {count(report.weights)} weights are left."
    )
    again = "" if report.test is None else f", {percent(report.test)} here"
    print(f"Test {report.metric}: {percent(report.recorded_test)} in the file{again}.")
    for each in report.stated:
        if each.found is not None and each.differs:
            print(f"{each.name} differs: {each.in_file:g} in the file, {each.found:g} found.")
        elif not each.possible:
            print(f"{each.name} cannot be {each.in_file:g}.")
    for sentence in report.contradictions:
        print(sentence)
    numbers = [f"{each.name} {each.in_file:g}" for each in report.stated if each.found is None and each.possible]
    print(f"Stated, cannot be checked here: {brief(', '.join((*numbers, *report.unchecked)), MOST_SAID)}.")
    verdict = "passed" if report.passed else "failed"
    print(f"Check {verdict}: checksums fit, {'; '.join(_found(report))}.")


def _found(report: TicketReport) -> Iterator[str]:
    """Say what was found of the outputs, then what else fails the check."""
    if report.not_numbers:
        yield f"{number_of(report.not_numbers, 'output')}, there or computed here, cannot be told: not a number"
    else:
        yield f"the largest difference of an output is {report.max_output_difference:.2e}"
    if report.differs:
        yield f"it states other numbers than those found ({', '.join(report.differs)})"
    if report.impossible:
        yield f"it states numbers that cannot be ({', '.join(report.impossible)})"
    if report.contradictions:
        yield "what it says cannot all be true"


VERBS.register(Verb("import", "Check a ticket file and say what it is", add_arguments, run))
