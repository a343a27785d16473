"""`reproduce`: run what is missing of an experiment of the paper, or of the attribution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import DONE, Args, verb
from glt.cli.run import computing, named_settings, start_and_follow
from glt.cli.sweep import start_and_follow_all
from glt.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from glt.reproduction import Plan
    from glt.store import Store

FIRST = "the experiment's first"


@verb(
    "reproduce",
    "reproduce",
    "reproduce node-classification --dry-run",
    "reproduce random-tickets --dataset citeseer --model gin --seeds 0-4 --detach",
    "reproduce attribution --rounds 9,13 --seeds 0-4",
)
@options.argument(
    "experiment",
    required=False,
    type=options.registered("experiment", "glt.reproduction", "EXPERIMENTS"),
    metavar="[EXPERIMENT]",
    help="experiment; without one, all are listed",
)
@named_settings(dataset=FIRST, model=FIRST, task=FIRST)
@options.seeds("0,1,2")
@options.option(
    "--rounds", type=options.SEEDS, metavar="R,...", show_default="4,9,13,16", help="rounds of UGS (attribution only)"
)
@options.flag("--dry-run", help="only report what is missing and what it costs")
@options.flag("--no-examples", help="compute again what the bundled examples hold")
@options.store
@options.computing
@options.as_json
def reproduce(args: Args) -> int:
    """Run what is missing of an experiment.

    Experiments are those of the paper, and `attribution`: edges and weights of
    UGS, drawn, by a rule or unpruned, in every combination.

    Without EXPERIMENT, lists the experiments. Runs in the store and bundled examples are not computed again.
    """
    from rich.console import Console

    from glt.jobs.devices import check_device

    if args.experiment is None:
        return _list_experiments(args)
    console = Console(stderr=args.json)
    check_device(args.device)
    store = options.open_store(args, writable=True)
    plan = _plan(args, store)
    _announce(args, console, store, plan)
    code = DONE if args.dry_run else _compute(args, console, store, plan)
    if args.json:
        options.print_json(_document(args, store, _plan(args, store)))
    return code


def _list_experiments(args: Args) -> int:
    from glt.reproduction import EXPERIMENTS, in_order

    experiments = [*in_order(), EXPERIMENTS.get("attribution")]
    if args.json:
        names = ("label", "place", "about")
        options.print_json(
            [
                {
                    "experiment": each.name,
                    **{name: getattr(each, name) for name in names},
                    "settings": [setting._asdict() for setting in each.settings],
                }
                for each in experiments
            ]
        )
        return DONE
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(Column("experiment", no_wrap=True), Column("in the paper", no_wrap=True), "data sets", "networks")
    for each in experiments:
        columns = [" ".join(dict.fromkeys(names)) for names in zip(*each.settings, strict=True)]
        table.add_row(each.name, each.place, columns[0], columns[1])
    Console().print(table)
    return DONE


def _plan(args: Args, store: Store) -> Plan:
    from glt.reproduction import EXPERIMENTS, make_plan
    from glt.reproduction.attribution import attribution
    from glt.store import bundled_examples

    experiment = EXPERIMENTS.get(args.experiment)
    if args.rounds:
        if experiment.name != "attribution":
            raise ConfigError(f"--rounds is for the attribution, and {experiment.name} has the paper's: leave it out.")
        experiment = attribution(args.rounds)
    setting = experiment.setting(args.dataset, args.model, args.task)
    examples = [] if args.no_examples else bundled_examples()
    return make_plan(experiment, setting, args.seeds, [*store.runs(), *examples])


def _announce(args: Args, console: Console, store: Store, plan: Plan) -> None:
    from glt.reproduction.plan import cost_words, estimate, preparations
    from glt.store import bundled_examples

    dataset, model, task = plan.setting
    options.print_plain(console, [f"{plan.experiment.label} ({plan.experiment.place}): {dataset} {model} {task}"])
    for need in plan.needs:
        name = f" ({need.run.reference})" if need.run else ""
        options.print_plain(console, [f"  {need.arm.words}: {need.unavailable or need.state}{name}"])
    if preparations(plan, store):
        options.print_plain(console, ["A pre-training comes first; its duration is unknown."])
    cost = estimate(plan, store, [*store.runs(), *bundled_examples()], args.device)
    basis = f" ({cost.basis})" if plan.lacking and cost.seconds is not None else ""
    options.print_plain(console, [f"Missing: {cost_words(plan, cost)}{basis}."])


def _compute(args: Args, console: Console, store: Store, plan: Plan) -> int:
    """Run what is missing, the pre-trainings that arms start from first."""
    from glt.jobs.launcher import start_pretraining
    from glt.jobs.queue import awaited
    from glt.reproduction.plan import points, preparations, ready, start

    if args.detach:
        # Runs that need another one wait for it.
        for each in start(plan, store, device=args.device, threads=args.threads):
            waiting = {name for seed in each.seeds if (name := awaited(store, each.run.config, seed))}
            waits = "".join(f"; it waits for {name}" for name in waiting)
            options.print_plain(console, [f"Started {each.run.path}{waits}."])
        return DONE
    code = DONE
    for first in preparations(plan, store):
        if code == DONE:
            begin = partial(start_pretraining, store, first, args.seeds, **computing(args), leave_busy=True)
            _, code = start_and_follow(args, console, begin)
    while plan.startable and code == DONE:
        begun = ready(plan, store)
        if begun:
            _, code = start_and_follow_all(store, points(begun), args, console)
        plan = _plan(args, store)
        if [need.arm for need in plan.startable] == [need.arm for need in begun]:
            break
    return code


def _document(args: Args, store: Store, plan: Plan) -> dict[str, Any]:
    from glt.reproduction.plan import estimate
    from glt.store import bundled_examples

    cost = estimate(plan, store, [*store.runs(), *bundled_examples()], args.device)
    return {
        "experiment": plan.experiment.name,
        "place": plan.experiment.place,
        **plan.setting._asdict(),
        "seeds": list(plan.seeds),
        "needs": [
            {
                "arm": need.arm.words,
                "run": need.run.reference if need.run else None,
                "state": need.state,
                "lacking": list(need.lacking),
                "unavailable": need.unavailable or None,
            }
            for need in plan.needs
        ],
        "missing": {"seconds": cost.seconds, "size_bytes": cost.size_bytes, "epochs": cost.epochs},
    }
