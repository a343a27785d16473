"""`pretrain`: train a first layer without labels, for runs to start from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import add_computing, add_json, add_seeds, add_set, add_store, open_store
from glt.cli.verb import VERBS, Verb

if TYPE_CHECKING:
    from glt.jobs.launching import Started
    from glt.pretraining.config import PretrainConfig
    from glt.store import Pretraining, Store

NAMES = ("dataset", "augmentation", "task", "hidden")
HELP = {
    "dataset": "data set",
    "augmentation": "how the two views differ from the graph: edges, nodes, features or subgraph",
    "task": "node or link; for links only training edges are seen, so that none to be predicted is",
    "hidden": "width of the first layer it is for (default: 512)",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add what is trained, for which seeds, where it is kept."""
    for name in NAMES:
        parser.add_argument(f"--{name}", metavar=name[0].upper(), help=HELP[name])
    add_seeds(parser)
    add_set(parser, "share=.1 patience=50")
    add_store(parser)
    add_computing(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Start workers for the seeds and follow them to their end."""
    from glt.cli.computing import compute
    from glt.pretraining.config import resolve_pretraining

    config = resolve_pretraining(settings(args))
    return compute(args, launching(args, open_store(args, writable=True), config))


def launching(
    args: Namespace, store: Store, config: PretrainConfig, leave_busy: bool = False
) -> Callable[[], Started[Pretraining]]:
    """Return what starts the workers of a pre-training as the arguments say; `leave_busy` as in `glt.jobs.begin`."""
    from glt.jobs.launching import launch_pretraining

    def launch() -> Started[Pretraining]:
        computing = {"device": args.device, "threads": args.threads, "tied": not args.detach}
        return launch_pretraining(store, config, args.seeds, **computing, leave_busy=leave_busy)

    return launch


def settings(args: Namespace) -> dict[str, Any]:
    """Return the settings the arguments name; `--set` wins."""
    return {name: value for name in NAMES if (value := getattr(args, name)) is not None} | dict(args.set)


VERBS.register(Verb("pretrain", "Pre-train a first layer that runs can start from (GraphCL)", add_arguments, run))
