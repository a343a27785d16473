"""`audit`: delete what a round pruned, compute the network again and compare."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from glt.cli.arguments import add_json, add_round, find_seed_run, print_json
from glt.cli.main import DONE, FAILED
from glt.cli.verb import VERBS, Verb


def add_arguments(parser: ArgumentParser) -> None:
    """Add which round of which seed."""
    add_round(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Audit one round; a difference beyond the tolerance is a failure."""
    from glt.lottery.audit import audit

    report = audit(find_seed_run(args), args.round)
    if args.json:
        print_json(report.as_json())
    else:
        verdict = "passed" if report.passed else "failed"
        why = f" ({report.why})" if report.why else ""
        print(f"Audit {verdict}: the largest difference between logits is {report.max_logit_difference:.2e}{why}.")
    return DONE if report.passed else FAILED


VERBS.register(Verb("audit", "Check that what a round pruned is really gone", add_arguments, run))
