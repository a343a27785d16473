"""What needs torch is computed by a command in a process of its own; here is how it is called, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from app.widgets.computing import Computation
from glt.commands import command
from glt.store import Run


def line(verb: str, run: Run, number: int, seed: int, *further: str) -> list[str]:
    """Return the arguments of a verb of `python -m glt` on one round of one seed."""
    return [verb, str(run.path), "--round", str(number), "--seed", str(seed), *further]


def shown(arguments: Sequence[str]) -> str:
    """Return the command as people type it."""
    return command(*arguments)


def begin(arguments: Sequence[str]) -> Callable[[], Computation]:
    """Return what starts the command."""
    return partial(Computation, ["glt", *arguments])
