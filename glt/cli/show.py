"""`show`: every round of every seed of a run, and which rounds are shown to be tickets."""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import add_json, add_margin, add_run, find_any_run, print_json
from glt.cli.documents import damage_in, document, judged_rounds
from glt.cli.main import DONE, FAILED
from glt.cli.said import lines_about
from glt.cli.verb import VERBS, Verb
from glt.formats import MISSING, duration, fixed, listing, macs, p_value, percent, points, spans
from glt.lottery.diagnosis import cuts_line, diagnoses, summary
from glt.methods import METHODS
from glt.results_version import version_note
from glt.store import Pretraining, Run
from glt.verdicts import MOST_SEEDS, Verdict, margin_words, rule_words, shown_words

if TYPE_CHECKING:
    from rich.console import Console

    from glt.store import SeedRun

COLUMNS = ("round", "graph", "weights", "either", "both", "val", "test", "last", "MACs", "time")
CAPTION = (
    "in percent. graph, weights: share removed; either, both: edges kept one way at least, both ways; "
    "val, test, last: {metric}"
)


VERDICT_COLUMNS = ("round", "seeds", "against dense", "verdict", "p", "detects", "needs", "paper's")
VERDICT_CAPTION = (
    "ticket: {rule}; no ticket: shown to lose more; open: these seeds show neither. against dense: mean of the paired "
    "differences in points, 95% interval; p: Holm-adjusted, of the direction in which the mean lies; detects: the "
    "smallest distance from the margin that these seeds show at 80 % power among so many rounds (alone); needs: about "
    "how many seeds would settle an open round; paper's: its criterion, mean at least the dense mean, which tests "
    "nothing"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run."""
    add_run(parser)
    add_margin(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Print the run's rounds and verdicts, or the JSON document; seeds that cannot be read are named, and it is 1."""
    from rich.console import Console

    from glt.training.tasks import metric_of

    found = find_any_run(args)
    told = document(found, args.margin)
    damage = damage_in(told)
    for sentence in damage:
        print(sentence, file=sys.stderr)
    code = FAILED if damage else DONE
    if args.json:
        print_json(told)
        return code
    console, metric = Console(), metric_of(found.config.dataset, found.config.task)
    console.print(
        f"{found.reference}{' (example)' if found.is_example and not found.is_bundled else ''}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    for line in lines_about(found):
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    console.print(found.config.canonical_json(), highlight=False, markup=False, soft_wrap=True)
    if isinstance(found, Run):
        for seed in told["seeds"]:
            if "error" not in seed:
                _print_seed(console, found.seed(seed["seed"]), metric)
        _print_verdicts(console, told, args.margin, metric)
    else:
        _print_pretraining(console, found, told["seeds"])
    note = version_note([found])
    if note:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    return code


def _print_pretraining(console: Console, run: Pretraining, seeds: Sequence[Mapping[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table("seed", "state", "epochs", "lowest loss", "in epoch", box=box.SIMPLE_HEAD, pad_edge=False)
    for seed in seeds:
        lowest = [MISSING, MISSING] if seed["loss"] is None else [fixed(seed["loss"], 4), str(seed["best_epoch"])]
        table.add_row(str(seed["seed"]), seed["state"], str(seed["epochs"]), *lowest)
    console.print(table)
    for number in run.seeds():
        status = run.seed(number).status()
        if status.error:
            console.print(status.error, highlight=False, markup=False, soft_wrap=True)


def _print_seed(console: Console, seed_run: SeedRun, metric: str) -> None:
    from rich import box
    from rich.table import Table

    status = seed_run.status()
    table = Table(
        *COLUMNS,
        title=f"seed {seed_run.seed}: {status.state}",
        caption=CAPTION.format(metric=metric),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in table.columns:
        column.justify, column.no_wrap = "right", True
    for record in seed_run.rounds():
        shares = (
            record.graph_sparsity,
            record.weight_sparsity,
            record.edges_kept_either_way,
            record.edges_kept_both_ways,
            record.val,
            record.test,
            record.test_last,
        )
        spent = macs(record.macs["dense_features"])
        table.add_row(
            str(record.round), *(percent(share).removesuffix(" %") for share in shares), spent, duration(record.seconds)
        )
    console.print(table)
    for line in _notes(seed_run):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if status.error:
        console.print(status.error, highlight=False, markup=False, soft_wrap=True)


def _notes(seed_run: SeedRun) -> list[str]:
    method, records = METHODS.get(seed_run.config.method), seed_run.rounds()
    noted = {record.round: method.note_words(record.notes) for record in records}
    found = diagnoses(seed_run, records)
    cuts = cuts_line(seed_run.config, [each.cuts_without_gradient for each in found])
    lines = [*summary(found), *(f"round {number}: {words}" for number, words in noted.items() if words)]
    return [cuts, *lines] if cuts else lines


def _print_verdicts(console: Console, told: Mapping[str, Any], margin: float, metric: str) -> None:
    from rich import box
    from rich.table import Table

    judged = judged_rounds(told["seeds"], margin)
    tested = [verdict for verdict in judged.values() if verdict.word != "no verdict"]
    if not judged:
        return
    if not tested:
        one = all(verdict.seeds < 2 for verdict in judged.values())
        console.print("One seed: no verdicts." if one else "No verdicts: the differences from dense do not vary.")
        return
    family = tested[0].family
    # The same number of seeds in every round stands in the title.
    counts = {verdict.seeds for verdict in judged.values()}
    columns = [name for name in VERDICT_COLUMNS if name != "seeds" or len(counts) > 1]
    finished = [seed["seed"] for seed in told["seeds"] if seed["rounds"]]
    table = Table(
        *columns,
        title=f"verdicts over {listing(finished)}, test {metric}, margin {margin_words(margin)}",
        caption=VERDICT_CAPTION.format(rule=rule_words(margin, family)),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in table.columns:
        column.justify, column.no_wrap = "right", True
    for number, verdict in judged.items():
        table.add_row(
            str(number),
            *([str(verdict.seeds)] if "seeds" in columns else []),
            _against_dense(verdict),
            verdict.word,
            p_value(verdict.p_adjusted).removeprefix("p ").removeprefix("= ") or MISSING,
            _detects(verdict),
            _needs(verdict),
            "met" if verdict.meets_paper_criterion else "not met",
        )
    console.print(table)
    console.print(_finding(told, judged, margin), highlight=False, markup=False, soft_wrap=True)


def _against_dense(verdict: Verdict) -> str:
    mean, half = points(verdict.mean, 2).removesuffix(" points"), verdict.high - verdict.mean
    return mean if math.isnan(half) else f"{mean} \N{PLUS-MINUS SIGN} {fixed(100 * half, 2)}"


def _detects(verdict: Verdict) -> str:
    if math.isnan(verdict.detectable):
        return MISSING
    return f"{fixed(100 * verdict.detectable, 1)} ({fixed(100 * verdict.detectable_alone, 1)})"


def _needs(verdict: Verdict) -> str:
    if verdict.word != "open":
        return ""
    return f"> {MOST_SEEDS}" if verdict.needed is None else f"about {verdict.needed}"


def _finding(told: Mapping[str, Any], judged: Mapping[int, Verdict], margin: float) -> str:
    """Say which round is the sparsest ticket, or that none is shown, and which are open."""
    claim = f"{shown_words('ticket', margin)}{' against dense' if margin else ''}"
    sparsest = told["sparsest_ticket"]
    first = f"No round is shown to {claim}." if sparsest is None else f"Sparsest round shown to {claim}: {sparsest}."
    words = {"open": "Open, these seeds cannot tell", "no ticket": f"Shown to {shown_words('no ticket', margin)}"}
    of = {word: [number for number, each in judged.items() if each.word == word] for word in words}
    return " ".join([first, *(f"{text}: {spans(of[word])}." for word, text in words.items() if of[word])])


VERBS.register(Verb("show", "Show every round of a run", add_arguments, run))
