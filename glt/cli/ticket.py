"""`export` and `import`: write a ticket file, or check one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from glt.cli import options
from glt.cli.main import DONE, FAILED, Args, verb
from glt.errors import LONGEST_MESSAGE, ConfigError, brief
from glt.formats import count, number_of, percent

if TYPE_CHECKING:
    from glt.store import SeedRun
    from glt.ticket_file.verify import TicketReport

TICKET = "ticket"
GRAPHS = ("graphml", "csv", "npz")
ENDINGS = tuple(f".{form}" for form in GRAPHS)
MB = 10**6


@verb(
    "export",
    "export RUN --round 13 --out ticket.zip",
    "export RUN --round 13 --seed 0 --format graphml --out graph.graphml",
)
@options.round_argument
@options.option(
    "--format",
    type=options.choice("format", TICKET, *GRAPHS),
    default=TICKET,
    show_default=True,
    metavar="F",
    help="a ticket (weights, masks and graph in one .zip), or the sparse graph alone",
)
@options.option("--out", type=options.FILE, required=True, metavar="FILE", help="file to write; an old one is replaced")
def export(args: Args) -> int:
    """Write a ticket, or its sparse graph, to a file."""
    options.check_folder_of(args.out, "--out")
    ending = args.out.suffix.lower()
    endings = {TICKET: ".zip", **dict(zip(GRAPHS, ENDINGS, strict=True))}
    if ending != endings[args.format] and ending in endings.values():
        other = next(name for name, each in endings.items() if each == ending)
        raise ConfigError(
            f"{args.out} has the ending of --format {other}, but --format is {args.format}: use the ending "
            f"{endings[args.format]}, or give --format {other}."
        )
    content = _content(options.find_seed_run(args), args.round, args.format)
    options.write_file(args.out, content)
    options.report_written(args.out, len(content))
    return DONE


def _content(seed_run: SeedRun, round: int, form: str) -> bytes:
    if form == TICKET:
        from glt.ticket_file.io import ticket_bytes
        from glt.ticket_file.ticket import make_ticket

        return ticket_bytes(make_ticket(seed_run, round))
    from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph

    return GRAPH_FORMATS[form].write(SparseGraph.of(seed_run, round))


@verb("import", "import ticket.zip", "import ticket.zip --graph graph.npz --json")
@options.argument("file", metavar="FILE", type=options.FILE, help="ticket file, as `export` writes it")
@options.option(
    "--graph",
    type=options.FILE,
    metavar="FILE",
    help=f"also write its sparse graph to this file ({', '.join(ENDINGS)})",
)
@options.option(
    "--most-mb",
    type=options.POSITIVE,
    default=8000,
    show_default=True,
    metavar="M",
    help="refuse a file that would unpack to more megabytes",
)
@options.as_json
def import_(args: Args) -> int:
    """Check a ticket file and describe it.

    Checksums are verified, the network is computed again, and a number in the file that is not reproduced is a failure.
    """
    from glt.ticket_file.io import about_of, members

    if args.graph is not None:
        if args.graph.suffix not in ENDINGS:
            raise ConfigError(f"{args.graph} has no known ending: use one of {', '.join(ENDINGS)}.")
        options.check_folder_of(args.graph, "--graph")
    # Another kind of file is refused before torch is loaded.
    text, tensors = members(args.file, args.most_mb * MB)
    about = about_of(args.file, text, tensors)
    from glt.jobs.memory import check_evaluation
    from glt.ticket_file.io import opened_ticket
    from glt.ticket_file.verify import check

    ticket = opened_ticket(args.file, about, tensors)
    check_evaluation(args.file, about.config, ticket.graph.sizes)
    report = check(ticket, args.file)
    if args.graph is not None:
        from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph

        sparse = SparseGraph.under(
            ticket.graph, ticket.masks.edges, f"{about.run}, seed {about.seed}, round {about.record.round}"
        )
        form = GRAPH_FORMATS[args.graph.suffix.removeprefix(".")]
        options.write_file(args.graph, form.write(sparse), "--graph")
    if args.json:
        options.print_json(report.as_json())
    else:
        _print(report)
    return DONE if report.passed else FAILED


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
            print(f"{each.name} is impossible: {each.in_file:g}.")
    for sentence in report.contradictions:
        print(sentence)
    numbers = [f"{each.name} {each.in_file:g}" for each in report.stated if each.found is None and each.possible]
    print(f"In the file, but not verifiable here: {brief(', '.join((*numbers, *report.unchecked)), LONGEST_MESSAGE)}.")
    verdict = "passed" if report.passed else "failed"
    print(f"Check {verdict}: checksums fit, {'; '.join(_found(report))}.")


def _found(report: TicketReport) -> Iterator[str]:
    """Say how outputs differ, then why else the check fails."""
    if report.not_numbers:
        yield f"{number_of(report.not_numbers, 'output')}, in the file or computed here, are not numbers"
    else:
        yield f"the largest difference of an output is {report.max_output_difference:.2e}"
    if report.differs:
        yield f"numbers in the file differ from those computed ({', '.join(report.differs)})"
    if report.impossible:
        yield f"numbers in the file are impossible ({', '.join(report.impossible)})"
    if report.contradictions:
        yield "statements in the file contradict each other"
