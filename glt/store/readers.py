"""Which runs need another run of their store, and what that means for deleting it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from glt.commands import command
from glt.errors import StoreError
from glt.formats import listing
from glt.store.run import AnyRun, Run
from glt.store.sources import sources_of


def readers_of(name: str, runs: Iterable[AnyRun]) -> list[Run]:
    """Return those of the runs that need the one of this name."""
    return [run for run in runs if isinstance(run, Run) and name in sources_of(run.config)]


def check_unread(name: str, readers: Sequence[Run]) -> None:
    """Raise StoreError when one of a run's readers has a seed that is at work or lacks something."""
    waiting = {run.name: told for run in readers if (told := _unfinished(run))}
    if waiting:
        who = " and ".join(f"{reader} ({told})" for reader, told in waiting.items())
        them, need = ("it", "needs") if len(waiting) == 1 else ("them", "need")
        raise StoreError(
            f"{name} stays, for {who} still {need} it: let {them} finish (`{command('resume')}` goes on with what "
            f"stands still), or stop and delete {them} first."
        )


def readers_left(name: str, readers: Sequence[Run]) -> str:
    """Say what becomes of complete readers when the run they read is deleted, "" where there are none."""
    if not readers:
        return ""
    who = ", ".join(run.name for run in readers)
    one = len(readers) == 1
    return (
        f"{who} {'needs' if one else 'need'} {name} and {'is' if one else 'are'} complete: {'its' if one else 'their'} "
        f"rounds stay, but none can be added or computed again without it."
    )


def readers_first(names: Iterable[str], runs: Iterable[AnyRun]) -> list[str]:
    """Return the names so that what reads another run stands before it."""
    known = {run.name: run for run in runs}
    return sorted(names, key=lambda name: -len(_all_sources(name, known)))


def _all_sources(name: str, known: Mapping[str, AnyRun]) -> set[str]:
    run = known.get(name)
    direct = sources_of(run.config) if isinstance(run, Run) else []
    return set(direct).union(*(_all_sources(each, known) for each in direct))


def _unfinished(run: Run) -> str:
    """Say which seeds are at work and which are not complete, "" where all are."""
    seeds = [run.seed(seed) for seed in run.seeds()]
    at_work = [one.seed for one in seeds if one.is_at_work()]
    lacking = [one.seed for one in seeds if one.seed not in at_work and not one.is_complete()]
    told = [f"{listing(at_work)} at work" if at_work else "", f"{listing(lacking)} not complete" if lacking else ""]
    return ", ".join(filter(None, told))
