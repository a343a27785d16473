"""What `run` and `resume` share: start workers, then follow them or leave them alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from glt.cli.arguments import print_json
from glt.cli.displays import make_display
from glt.cli.documents import run_document
from glt.cli.following import follow, interruption
from glt.cli.main import DONE
from glt.formats import duration, file_size, listing
from glt.jobs.forecast import forecast
from glt.store import Run, SeedRun, Store
from glt.store.liveness import ACTIVE

if TYPE_CHECKING:
    from rich.console import Console

Launch = Callable[[], tuple[Run, list[int]]]


def compute(args: Namespace, launch: Launch) -> int:
    """Launch workers and follow them to their end, or return at once with `--detach`; return the exit code."""
    from rich.console import Console

    console = Console(stderr=args.json)
    with interruption() as interrupted:
        run, seeds = launch()
        working = [seed for seed in seeds if _is_at_work(run.seed(seed))]
        _announce(console, run, seeds, working, args.detach)
        code = DONE
        if working and not args.detach:
            code = follow(run, working, make_display(console, run.config.rounds, working), interrupted)
    if args.json:
        print_json(run_document(run))
    return code


def _is_at_work(seed_run: SeedRun) -> bool:
    """Tell a seed that was started from one that needed nothing; a fast worker may have failed by now."""
    return seed_run.status().state in ACTIVE or not seed_run.is_complete()


def _announce(console: Console, run: Run, seeds: list[int], working: list[int], detached: bool) -> None:
    if not working:
        line = f"{run.path} is complete already: {run.config.rounds} rounds of {listing(seeds)}."
    elif detached:
        line = f"Started {run.path}, {listing(working)}; see it with: python -m glt show {run.path}"
    else:
        line = f"{run.path}: {listing(working)}, {_cost(run, working)}"
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _cost(run: Run, seeds: list[int]) -> str:
    store = Store(run.path.parent)
    expected = forecast(store, [run.config], seeds, store.runs(), SeedRun.sound_rounds)
    size = f"adds about {file_size(expected.size_bytes)}"
    return size if expected.seconds is None else f"{size}, takes about {duration(expected.seconds)}"
