"""`audit`, `cost`, `latency`, `predictions`, and the tables of `show`: single rounds of single seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import DONE, FAILED, Args, verb
from glt.cli.options import print_plain
from glt.formats import MISSING, duration, file_size, fixed, listing, macs, p_value, percent, points, spans

if TYPE_CHECKING:
    from rich.console import Console

    from glt.cost.latency import LatencyReport
    from glt.lottery.predictions import StoredPredictions
    from glt.store import Pretraining, Run, SeedRun
    from glt.verdicts import Verdict


@verb("audit", "audit RUN --round 13", "audit examples/NAME --round 13 --seed 0 --json")
@options.round_argument
@options.as_json
def audit(args: Args) -> int:
    """Check that what a round pruned is gone.

    Pruned edges and weights are deleted, the network is computed again, and its logits must not change (1e-5).
    """
    from glt.lottery.audit import audit as audit_round

    report = audit_round(options.find_seed_run(args), args.round)
    if args.json:
        options.print_json(report.as_json())
    else:
        verdict = "passed" if report.passed else "failed"
        why = f" ({report.why})" if report.why else ""
        print(f"Audit {verdict}: the largest difference between logits is {report.max_logit_difference:.2e}{why}.")
    return DONE if report.passed else FAILED


@verb("cost", "cost RUN --round 13", "cost RUN --round 13 --seed 1 --json")
@options.round_argument
@options.as_json
def cost(args: Args) -> int:
    """Count the operations of a round, and what finding it cost.

    Operations are multiply-accumulate operations (MACs). The search pays
    when those that its inferences save reach those of the training.
    """
    from rich.console import Console
    from rich.table import Table

    from glt.cost.macs import counterfactuals
    from glt.cost.search import search_cost
    from glt.lottery.graph import graph_of

    seed_run = options.find_seed_run(args)
    masks = seed_run.masks(args.round)
    counted = counterfactuals(seed_run.config, graph_of(seed_run), masks)
    report, search = counted["both"], search_cost(seed_run, args.round)
    if args.json:
        parts = {name: each.by_convention() for name, each in counted.items()}
        options.print_json({**report.as_json(), "counterfactuals": parts, "search": search.as_json()})
        return DONE
    table = Table("convention", "transform", "aggregate", "total", caption="multiply-accumulate operations")
    for name, of_part in report.by_convention().items():
        table.add_row(name, *(macs(of_part[part]) for part in ("transform", "aggregate", "total")))
    console = Console()
    console.print(table)
    excluded = ", ".join(report.excluded) or "nothing"
    print_plain(console, [f"Can be pruned: {', '.join(report.prunable) or 'nothing'}", f"Cannot be pruned: {excluded}"])
    if args.round:
        print_plain(console, [search.words()])
    return DONE


@verb("latency", "latency RUN --round 13", "latency RUN --round 13 --repeats 200 --threads 2 --json")
@options.round_argument
@options.option("--repeats", type=options.POSITIVE, default=50, show_default=True, metavar="R", help="timed passes")
@options.option("--warm-up", type=options.COUNT, default=5, show_default=True, metavar="W", help="passes before them")
@options.option("--threads", type=options.THREADS, default=1, show_default=True, metavar="T", help="compute threads")
@options.progress
@options.as_json
def latency(args: Args) -> int:
    """Measure time and memory of a round on the CPU.

    Three executions are compared with the dense network: masks multiplied in, edges removed, and sparse matrices.
    """
    from glt.cost.latency import measure
    from glt.cost.search import MeasuredPayback
    from glt.lottery.graph import graph_of

    seed_run = options.find_seed_run(args)
    masks, weights = seed_run.masks(args.round), seed_run.weights(args.round)
    graph = graph_of(seed_run)
    amount = (args.repeats, args.warm_up, args.threads)
    report = measure(seed_run.config, graph, masks, weights, *amount, lambda share: options.report_share(args, share))
    costs: dict[str, Any] = {
        "run": seed_run.path.parent.name,
        "seed": seed_run.seed,
        "round": args.round,
        "disk_bytes": {"round": seed_run.bytes_on_disk(args.round), "dense": seed_run.bytes_on_disk(0)},
        "search_seconds": seed_run.search_seconds(args.round),
    }
    payback = MeasuredPayback.of(costs["search_seconds"], report)
    if args.json:
        options.print_json({**costs, **report.as_json(), "payback": {**asdict(payback), "words": payback.words()}})
    else:
        _print_latency(report, costs)
        print(payback.words())
    return DONE


def _print_latency(report: LatencyReport, costs: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from glt.cost.latency import LABELS

    caption = f"a pass: {report.repeats} after {report.warm_up}, {report.threads} thread(s), {report.machine}"
    table = Table("execution", "median", "p10", "p90", "held", "peak", caption=caption)
    for row in report.executions:
        times = [f"{fixed(1000 * value, 2)} ms" for value in (row.median, row.p10, row.p90)]
        table.add_row(LABELS[row.name], *times, file_size(sum(row.held_bytes.values())), file_size(row.peak_bytes))
    console = Console()
    console.print(table)
    sizes = f"On disk {file_size(costs['disk_bytes']['round'])}, dense {file_size(costs['disk_bytes']['dense'])}"
    found = f"{sizes}; found in {duration(costs['search_seconds'])}."
    print_plain(console, [*(compared.words() for compared in report.compared), *report.notes, found])


@verb("predictions", "predictions RUN", "predictions RUN RUN --round 0 --round 13 --seeds 0,1 --json")
@options.runs_argument
@options.some_seeds
@options.option(
    "--round",
    type=options.COUNT,
    multiple=True,
    metavar="K",
    show_default="all finished ones",
    help="round, any number of times",
)
@options.progress
@options.as_json
def predictions(args: Args) -> int:
    """Store the predictions of rounds beside them.

    The logits of validation and test nodes, at the best validation epoch. For node classification.
    """
    store = options.open_store(args, writable=True)
    found = [store.find(name) for name in args.runs]

    def tell(share: float) -> None:
        options.report_share(args, (done + share) / len(found))

    documents: list[dict[str, Any]] = []
    for done, run in enumerate(found):  # noqa: B007 - read by `tell`
        documents.append(keep_predictions(run, args.seeds or run.seeds(), args.round, args.json, tell))
    if args.json:
        options.print_json({"runs": documents})
    return DONE


def keep_predictions(
    run: Run,
    seeds: Sequence[int],
    rounds: Sequence[int] = (),
    quiet: bool = False,
    tell: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Store the predictions of rounds (default: all finished ones) and return the document of `glt predictions`.

    Prints a line a seed unless `quiet`. `tell` is called with the share done.
    """
    from glt.lottery.predictions import store_predictions

    stored: list[dict[str, Any]] = []
    for place, seed_run in enumerate(map(run.existing_seed, seeds)):
        numbers = sorted(set(rounds)) or list(range(seed_run.whole_rounds()))
        found = store_predictions(seed_run, numbers)
        tell((place + 1) / len(seeds))
        if not quiet:
            print(f"{run.reference}, seed {seed_run.seed}: {_stored_words(found)}.")
        stored.append({"seed": seed_run.seed, "rounds": [each.as_json() for each in found]})
    return {"run": run.reference, "seeds": stored}


def _stored_words(found: Sequence[StoredPredictions]) -> str:
    """Say which rounds have predictions, and whether their accuracies are those of the records.

    >>> _stored_words([])
    'no round is finished'
    """
    numbers = [each.round for each in found]
    if not numbers:
        return "no round is finished"
    other = [each.round for each in found if not each.is_as_recorded]
    which = f"round {numbers[0]}" if len(numbers) == 1 else f"rounds {spans(numbers)}"
    ending = f"differ from the records in {spans(other)}" if other else "are those of the records"
    return f"predictions of {which}; the accuracies {ending}"


# Tables.

SHARES = (
    "graph_sparsity", "weight_sparsity", "edges_kept_either_way", "edges_kept_both_ways", "val", "test", "test_last",
)  # fmt: skip
COLUMNS = ("round", "graph", "weights", "either", "both", "val", "test", "last", "MACs", "time")
CAPTION = (
    "in percent. graph, weights: share removed; either, both: edges kept in at least one direction, in both; "
    "val, test, last: {metric}"
)
VERDICT_COLUMNS = ("round", "seeds", "against dense", "verdict", "p", "detects", "needs", "paper's")
VERDICT_CAPTION = (
    "ticket: {rule}; no ticket: shown to lose more; open: neither is shown. against dense: mean of the paired "
    "differences in points, 95% interval; p: Holm-adjusted, one-sided in the direction of the mean; detects: smallest "
    "distance from the margin that these seeds detect with 80 % power, corrected for the number of rounds (for one "
    "round alone), a dash above 100 points; needs: approximate number of seeds that would decide an open round; "
    "paper's: the paper's criterion, mean at least the dense mean, which is not a test"
)


def print_pretraining(console: Console, run: Pretraining, seeds: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per seed of a pre-training."""
    table = options.plain_table("seed", "state", "epochs", "lowest loss", "in epoch")
    for seed in seeds:
        lowest = [MISSING, MISSING] if seed["loss"] is None else [fixed(seed["loss"], 4), str(seed["best_epoch"])]
        table.add_row(str(seed["seed"]), seed["state"], str(seed["epochs"]), *lowest)
    console.print(table)
    print_plain(console, filter(None, [run.seed(number).status().error for number in run.seeds()]))


def print_seed(console: Console, seed_run: SeedRun, metric: str) -> None:
    """Print one row per round of a seed, and notes on its rounds."""
    status = seed_run.status()
    title = f"seed {seed_run.seed}: {status.state}"
    table = options.plain_table(*COLUMNS, numbers=True, title=title, caption=CAPTION.format(metric=metric))
    for record in seed_run.rounds():
        shares = (percent(getattr(record, name)).removesuffix(" %") for name in SHARES)
        table.add_row(str(record.round), *shares, macs(record.macs["dense_features"]), duration(record.seconds))
    console.print(table)
    print_plain(console, [*_notes(seed_run), *filter(None, [status.error])])


def _notes(seed_run: SeedRun) -> list[str]:
    from glt.lottery.diagnosis import cuts_line, diagnoses, summary
    from glt.methods import METHODS

    method, records = METHODS.get(seed_run.config.method), seed_run.rounds()
    noted = {record.round: method.note_words(record.notes) for record in records}
    found = diagnoses(seed_run, records)
    cuts = cuts_line(seed_run.config, [each.cuts_without_gradient for each in found])
    lines = [*summary(found), *(f"round {number}: {words}" for number, words in noted.items() if words)]
    return [cuts, *lines] if cuts else lines


def print_verdicts(console: Console, document: Mapping[str, Any], margin: float, metric: str) -> None:
    """Print the verdict of each pruned round over all seeds, and the finding."""
    from glt.cli.documents import judged_rounds
    from glt.verdicts import margin_words, rule_words

    judged = judged_rounds(document["seeds"], margin)
    tested = [verdict for verdict in judged.values() if verdict.word != "no verdict"]
    if judged and not tested:
        one = all(verdict.seeds < 2 for verdict in judged.values())
        console.print("One seed: no verdicts." if one else "No verdicts: the differences from dense do not vary.")
    if not tested:
        return
    finished = [seed["seed"] for seed in document["seeds"] if seed["rounds"]]
    # Where every round has the same seeds, the title names them.
    counted = len({verdict.seeds for verdict in judged.values()}) > 1
    table = options.plain_table(
        *(name for name in VERDICT_COLUMNS if counted or name != "seeds"),
        numbers=True,
        title=f"verdicts over {listing(finished)}, test {metric}, margin {margin_words(margin)}",
        caption=VERDICT_CAPTION.format(rule=rule_words(margin, tested[0].family)),
    )
    for number, verdict in judged.items():
        table.add_row(str(number), *([str(verdict.seeds)] if counted else []), *_cells(verdict))
    console.print(table)
    print_plain(console, [_finding(document, judged, margin)])


def _cells(verdict: Verdict) -> Iterator[str]:
    """Yield the cells of VERDICT_COLUMNS from "against dense" on."""
    from glt.verdicts import MOST_SEEDS, below_whole

    mean, half = points(verdict.mean, 2).removesuffix(" points"), verdict.high - verdict.mean
    yield mean if math.isnan(half) else f"{mean} \N{PLUS-MINUS SIGN} {fixed(100 * half, 2)}"
    yield verdict.word
    yield p_value(verdict.p_adjusted).removeprefix("p ").removeprefix("= ") or MISSING
    detects, alone = (
        fixed(100 * float(below_whole(each)), 1) for each in (verdict.detectable, verdict.detectable_alone)
    )
    yield MISSING if alone == MISSING else f"{detects} ({alone})"
    needs = f"> {MOST_SEEDS}" if verdict.needed is None else f"about {verdict.needed}"
    yield needs if verdict.word == "open" else ""
    yield "met" if verdict.meets_paper_criterion else "not met"


def _finding(document: Mapping[str, Any], judged: Mapping[int, Verdict], margin: float) -> str:
    """Name the sparsest ticket, if any, and the rounds that are open."""
    from glt.verdicts import shown_words

    claim = f"{shown_words('ticket', margin)}{' against dense' if margin else ''}"
    sparsest = document["sparsest_ticket"]
    first = f"No round is shown to {claim}." if sparsest is None else f"Sparsest round shown to {claim}: {sparsest}."
    words = {"open": "Open, undecided with these seeds", "no ticket": f"Shown to {shown_words('no ticket', margin)}"}
    of = {word: [number for number, each in judged.items() if each.word == word] for word in words}
    return " ".join([first, *(f"{text}: {spans(of[word])}." for word, text in words.items() if of[word])])
