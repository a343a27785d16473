"""`import`: read a ticket file, check it, and say what it is; its file has an underscore, `import` being Python's."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from glt.cli.arguments import add_json, print_json
from glt.cli.main import DONE, FAILED
from glt.cli.verb import VERBS, Verb
from glt.formats import count, percent

if TYPE_CHECKING:
    from glt.export.checking import TicketReport


def add_arguments(parser: ArgumentParser) -> None:
    """Add the file."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a ticket file, as `export` writes it")
    add_json(parser)


def run(args: Namespace) -> int:
    """Check sums, compute the network again, and print what it is; other outputs than the file's are a failure."""
    from glt.export.checking import check_file

    report = check_file(args.file)
    if args.json:
        print_json(report.as_json())
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
    verdict = "passed" if report.passed else "failed"
    print(f"Check {verdict}: checksums fit, the largest difference of an output is {report.max_output_difference:.2e}.")


VERBS.register(Verb("import", "Check a ticket file and say what it is", add_arguments, run))
