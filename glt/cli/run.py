"""`run`: compute the rounds of a configuration for some seeds."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import add_computing, add_json, add_seeds, add_set, add_store, open_store, place
from glt.cli.verb import VERBS, Verb

if TYPE_CHECKING:
    from glt.jobs.launching import Started
    from glt.store import Run

NAMES = ("dataset", "model", "method", "task")


def add_arguments(parser: ArgumentParser) -> None:
    """Add what is computed, for which seeds, where it is kept."""
    add_settings(parser)
    add_store(parser)
    add_computing(parser)
    add_json(parser)


def add_settings(parser: ArgumentParser) -> None:
    """Add what is computed, and for which seeds."""
    for name in NAMES:
        parser.add_argument(f"--{name}", metavar=name[0].upper(), help=f"{name}; an unknown one lists those there are")
    add_seeds(parser)
    parser.add_argument("--preset", metavar="P", help="hyper-parameters: paper or official")
    parser.add_argument(
        "--config", type=place, metavar="FILE", help="config.json of a run (or its folder), whose settings are taken"
    )
    add_set(parser, "rounds=5 hidden=64")


def run(args: Namespace) -> int:
    """Start workers for the seeds and follow them to their end."""
    from glt.cli.computing import compute
    from glt.jobs import launching
    from glt.presets import resolve

    store = open_store(args, writable=True)
    config = resolve(settings(args), args.preset)

    def launch() -> Started[Run]:
        tied = not args.detach
        return launching.launch(store, config, args.seeds, device=args.device, threads=args.threads, tied=tied)

    return compute(args, launch)


def settings(args: Namespace) -> dict[str, Any]:
    """Return the settings the arguments name, flat; later ones win: --config, then names, then --set."""
    from glt.presets import all_options
    from glt.store.run import read_config, read_config_file

    wanted = {name: value for name in NAMES if (value := getattr(args, name)) is not None} | dict(args.set)
    if args.config is None:
        return wanted
    read = read_config if args.config.is_dir() else read_config_file
    config = read(args.config)
    chosen = config.model_dump(mode="json", exclude={"options"})
    # What a config leaves out may stand for another value than today's default.
    options = {name: value for name, value in all_options(config).items() if value is not None}
    # Options belong to a method, model and task; those of others mean nothing here.
    same = all(wanted.get(name, chosen[name]) == chosen[name] for name in NAMES)
    return {**(options if same else {}), **chosen, **wanted}


VERBS.register(Verb("run", "Compute the rounds of a configuration", add_arguments, run))
