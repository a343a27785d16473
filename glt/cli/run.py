"""`run`, `pretrain`, `resume` and `stop`: start workers, follow them, and stop them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import DONE, Args, verb
from glt.cli.round import keep_predictions
from glt.errors import ConfigError
from glt.formats import as_typed, count, duration, file_size, fixed, listing

if TYPE_CHECKING:
    from rich.console import Console

    from glt.config import RunConfig
    from glt.jobs.launcher import Started
    from glt.store import KnownRun

NAMES = ("dataset", "model", "method", "task")
PRETRAIN_NAMES = ("dataset", "augmentation", "task", "hidden")

Start = Callable[[], "Started[Any]"]

# Resolving the settings explains an unknown name, and all of them at once.
DATASET = options.registered("data set", "glt.datasets", "DATASETS")
MODEL = options.registered("model", "glt.models", "MODELS")
METHOD = options.registered("method", "glt.methods", "METHODS")
TASK = options.registered("task", "glt.training.tasks", "TASKS")
PRESET = options.registered("preset", "glt.presets", "PRESETS")
AUGMENTATION = options.registered("augmentation", "glt.pretraining.augmentations", "AUGMENTATIONS")


def named_settings(**defaults: str) -> options.Decorator:
    """Declare those of `--dataset`, `--model`, `--method` and `--task` that have a default."""
    declared = {
        "dataset": (DATASET, "data set"),
        "model": (MODEL, "graph neural network"),
        "method": (METHOD, "pruning method"),
        "task": (TASK, "task"),
    }
    return options.all_of(
        *(
            options.option(f"--{name}", type=kind, metavar=name[0].upper(), show_default=defaults[name], help=text)
            for name, (kind, text) in declared.items()
            if name in defaults
        )
    )


run_settings = options.all_of(
    named_settings(dataset="cora", model="gcn", method="ugs", task="node"),
    options.seeds(),
    options.option("--preset", type=PRESET, metavar="P", help="named set of options"),
    options.option(
        "--config", type=options.FILE, metavar="FILE", help="config.json of a run (or its folder) to take settings from"
    ),
    options.settings("rounds=5 hidden=64"),
)


# Verbs.


@verb(
    "run",
    "run --dataset cora --model gcn --method ugs --preset official --seeds 0,1,2",
    "run --dataset citeseer --method random --set rounds=5 hidden=64",
    "run --config runs/cora-node-gcn-ugs-4e39c3d4 --method random --detach",
    "run --dataset ogbn-arxiv --model resgcn --devices cuda:0,cuda:1 --seeds 0,1",
)
@run_settings
@options.store
@options.computing
@options.flag("--keep-predictions", help="store the predictions of every round as well, as `predictions` does")
@options.as_json
def run(args: Args) -> int:
    """Search for tickets: compute the rounds of a configuration.

    Each seed runs in a worker process of its own. Ctrl-C stops the workers; `resume`, or the same command, continues
    after the last finished round. Finished seeds are not computed again.
    """
    from glt.jobs.launcher import start
    from glt.presets import resolve

    store = options.open_store(args, writable=True)
    config = resolve(settings(args), args.preset)
    if args.keep_predictions:
        _check_can_keep(args, config)
    code = compute(args, partial(start, store, config, args.seeds, **computing(args)))
    if args.keep_predictions and code == DONE:
        keep_predictions(store.create(config), args.seeds, quiet=args.json)
    return code


def _check_can_keep(args: Args, config: RunConfig) -> None:
    """Raise ConfigError where predictions cannot be stored after the run."""
    from glt.lottery.predictions import check_has_classes

    check_has_classes(config)
    if args.detach:
        raise ConfigError(
            f"Predictions are stored after the last round: leave out --detach, or run `{as_typed('predictions')}` then."
        )


def settings(args: Args) -> dict[str, Any]:
    """Return the settings in the arguments; later ones win: --config, then names, then --set."""
    from glt.presets import all_options
    from glt.store.run import read_config

    wanted = {name: value for name in NAMES if (value := getattr(args, name)) is not None} | dict(args.set)
    if args.config is None:
        return wanted
    config = read_config(args.config)
    chosen = config.model_dump(mode="json", exclude={"options"})
    # An option that a config leaves out may mean another value than today's default.
    options_ = {name: value for name, value in all_options(config).items() if value is not None}
    # Options belong to one method, model and task.
    same = all(wanted.get(name, chosen[name]) == chosen[name] for name in NAMES)
    return {**(options_ if same else {}), **chosen, **wanted}


@verb(
    "pretrain",
    "pretrain --dataset cora --augmentation edges",
    "pretrain --dataset citeseer --task link --hidden 64 --set share=.1 patience=50",
)
@options.option("--dataset", type=DATASET, metavar="D", show_default="cora", help="data set")
@options.option("--augmentation", type=AUGMENTATION, metavar="A", show_default="edges", help="change made to each view")
@options.option("--task", type=TASK, metavar="T", show_default="node", help="for links, only training edges are used")
@options.option("--hidden", metavar="H", show_default="512", help="width of the first layer")
@options.seeds()
@options.settings("share=.1 patience=50")
@options.store
@options.computing
@options.as_json
def pretrain(args: Args) -> int:
    """Pre-train a first layer without labels (GraphCL).

    Runs start from it with `run --set pretraining=NAME`.
    """
    from glt.jobs.launcher import start_pretraining
    from glt.pretraining.config import resolve_pretraining

    config = resolve_pretraining(pretrain_settings(args))
    store = options.open_store(args, writable=True)
    return compute(args, partial(start_pretraining, store, config, args.seeds, **computing(args)))


def pretrain_settings(args: Args) -> dict[str, Any]:
    """Return the settings of a pre-training in the arguments; `--set` wins."""
    return {name: value for name in PRETRAIN_NAMES if (value := getattr(args, name)) is not None} | dict(args.set)


@verb("resume", "resume RUN", "resume RUN --seeds 1,2 --detach")
@options.run_argument
@options.some_seeds
@options.computing
@options.as_json
def resume(args: Args) -> int:
    """Continue the unfinished seeds of a run.

    The result is bit for bit that of an uninterrupted run.
    """
    from glt.jobs import launcher
    from glt.store import Run, Store

    found = options.find_any_run(args, writable=True)
    for seed_run in (
        map(found.seed, args.seeds or found.seeds()) if isinstance(found, Run) and not found.is_example else ()
    ):
        sound, written = seed_run.sound_rounds(), seed_run.whole_rounds()
        if sound < written and not seed_run.is_at_work():
            again = "it is" if sound == written - 1 else f"rounds {sound} to {written - 1} are"
            sentence = f"seed {seed_run.seed}: round {sound} cannot be read, so {again} computed again"
            print(sentence, file=sys.stderr)
    return compute(args, partial(launcher.resume, Store(found.path.parent), found, args.seeds, **computing(args)))


@verb("stop", "stop RUN", "stop RUN --seeds 2")
@options.run_argument
@options.some_seeds
def stop(args: Args) -> int:
    """Stop the workers of a run.

    They end after their current epoch; finished rounds are kept.
    """
    from glt.jobs import stop as stop_seeds

    found = options.find_any_run(args, writable=True)
    stopped = stop_seeds(found, args.seeds)
    print(f"Stopped {listing(stopped)} of {found.name}." if stopped else f"No worker of {found.name} is running.")
    return DONE


# Computing.


def compute(args: Args, start: Start) -> int:
    """Start workers and follow them, or return immediately with `--detach`; return the exit code."""
    from rich.console import Console

    from glt.cli.documents import document

    found, code = start_and_follow(args, Console(stderr=args.json), start)
    # The folder may have been moved meanwhile, which was reported.
    if args.json and found.path.is_dir():
        options.print_json(document(found))
    return code


def computing(args: Args) -> dict[str, Any]:
    """Return where and how to compute, as `glt.jobs.launcher` takes it; tied workers end with the command."""
    return {"device": args.device, "threads": args.threads, "tied": not args.detach}


def start_and_follow(args: Args, console: Console, start: Start) -> tuple[KnownRun, int]:
    """Start and follow workers as `compute`, reporting on `console`; return run and exit code."""
    from glt.cli.progress import exit_code, follow, interruption, seed_display

    with interruption() as interrupted:
        started = start()
        found: KnownRun = started.run
        working = sorted([*started.seeds, *started.elsewhere])
        options.print_plain(console, _announcements(args, started))
        if not working or args.detach:
            return found, DONE
        display = seed_display(console, getattr(found.config, "rounds", 0), working)
        statuses = follow({"": started}, working, display, interrupted)
        if stopped := [status.seed for status in statuses if status.state == "stopped"]:
            print(f"Stopped {listing(stopped)}; continue with: {as_typed('resume', found.path)}", file=sys.stderr)
        options.print_plain(console, _conclusions(found, working))
        return found, exit_code(statuses)


def _announcements(args: Args, started: Started[Any]) -> Iterator[str]:
    """Say which seeds were started at what cost, and which were not and why."""
    from glt.cli.progress import others_line

    found, seeds = started.run, started.seeds
    if seeds and args.detach:
        yield f"Started {found.path}, {listing(seeds)}; see it with: {as_typed('show', found.path)}"
    elif seeds:
        yield f"{found.path}: {listing(seeds)}, {_cost(found, seeds, args)}"
    if started.finished:
        rounds = getattr(found.config, "rounds", 0)
        whole = f"{rounds} rounds" if rounds else "the pre-training"
        yield f"{found.path} is already complete: {whole} of {listing(started.finished)}."
    if started.elsewhere:
        yield others_line(started)
    if seeds and _prunes_nothing(found.config):
        yield "Nothing is pruned under these settings: every round is the dense network."
    yield from _sources(found, sorted([*seeds, *started.elsewhere]))


def _prunes_nothing(config: object) -> bool:
    from glt.config import RunConfig
    from glt.methods import METHODS

    if not isinstance(config, RunConfig):
        return False
    method, many = METHODS.get(config.method), 1_000_000
    fixed = all(method.settings_fix_counts(config))
    return fixed and method.remaining(config, config.rounds, many, many) == (many, many)


def _sources(run: KnownRun, seeds: Sequence[int]) -> Iterator[str]:
    """Say where initial weights come from, and which edges a pre-training uses if not all."""
    from glt.config import pretraining_of
    from glt.jobs.queue import awaited
    from glt.lottery.initial_weights import start_words, starts_of
    from glt.store import Run, Store

    if isinstance(run, Run):
        store = Store(run.path.parent, writable=False)
        waiting = {seed: name for seed in seeds if (name := awaited(store, run.config, seed)) is not None}
        for name in dict.fromkeys(waiting.values()):
            yield f"{listing([seed for seed in waiting if waiting[seed] == name]).capitalize()}: waiting for {name}."
        name = pretraining_of(run.config)
        if name is not None and seeds and not waiting:
            yield start_words(name, starts_of(run, seeds))
    elif run.config.split_seed is not None:
        yield f"Only training edges are used: those held out by split_seed {run.config.split_seed} are not seen."


def _conclusions(run: KnownRun, seeds: Sequence[int]) -> Iterator[str]:
    """Describe the finished seeds of a pre-training."""
    from glt.store import Run

    if isinstance(run, Run):
        return
    for seed in map(run.seed, seeds):
        if seed.is_complete():
            layer = seed.first_layer()
            lowest = f"lowest loss {fixed(layer.loss, 4)} in epoch {layer.best_epoch}"
            yield f"seed {seed.seed}: {layer.epochs} epochs, {lowest}"


def _cost(run: KnownRun, seeds: Sequence[int], args: Args) -> str:
    from glt.jobs.estimate import forecast
    from glt.store import Pretraining, Store, bundled_examples

    if isinstance(run, Pretraining):
        most, patience = count(run.config.epochs), count(run.config.patience)
        return f"at most {most} epochs, ends after {patience} without a lower loss"
    store = Store(run.path.parent)
    expected = forecast(store, [run.config], seeds, [*store.runs(), *bundled_examples()], args.device)
    size = f"adds about {file_size(expected.size_bytes)}, needs about {file_size(expected.memory_bytes)} of memory"
    return size if expected.seconds is None else f"{size}, takes about {duration(expected.seconds)}"
