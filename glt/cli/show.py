"""`show`: every round of every seed of a run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import add_json, add_run, find_any_run, print_json
from glt.cli.documents import damage_in, document
from glt.cli.main import DONE, FAILED
from glt.cli.said import lines_about
from glt.cli.verb import VERBS, Verb
from glt.formats import MISSING, duration, fixed, macs, percent
from glt.store import Pretraining, Run

if TYPE_CHECKING:
    from rich.console import Console

    from glt.store import SeedRun

COLUMNS = ("round", "graph", "weights", "either", "both", "val", "test", "last", "MACs", "time")
CAPTION = (
    "in percent. graph, weights: share removed; either, both: edges kept one way at least, both ways; "
    "val, test, last: {metric}"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run."""
    add_run(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Print the run's rounds as tables, or as the JSON document; seeds that cannot be read are named, and it is 1."""
    from rich.console import Console

    from glt.training.tasks import metric_of

    found = find_any_run(args)
    told = document(found)
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
    else:
        _print_pretraining(console, found, told["seeds"])
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
    if status.error:
        console.print(status.error, highlight=False, markup=False, soft_wrap=True)


VERBS.register(Verb("show", "Show every round of a run", add_arguments, run))
