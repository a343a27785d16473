"""What a sweep came to: one row a point, as a table and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from glt.cli.sweep_displays import state_words
from glt.formats import MISSING, percent, percent_interval
from glt.jobs.sweep import Point, value_words
from glt.store import RoundRecord, Run, SeedRun

if TYPE_CHECKING:
    from rich.console import Console

CAPTION = (
    "best round: the pruned one with the highest mean validation score; test: mean ± standard deviation over seeds"
)


@dataclass(frozen=True)
class RoundMean:
    """One round over the seeds that finished it: means (fractions), and the test score's standard deviation."""

    round: int
    seeds: int
    graph_sparsity: float
    weight_sparsity: float
    val: float
    test: float
    test_sd: float | None


def sweep_document(points: Sequence[Point], runs: Sequence[Run], seeds: Sequence[int]) -> dict[str, Any]:
    """Return what `sweep --json` prints: the grid, and for every point its run, states and mean scores a round."""
    grid = {name: list(dict.fromkeys(point.values[name] for point in points)) for name in points[0].values}
    return {
        "grid": grid,
        "points": [
            {
                "values": dict(point.values),
                "run": run.name,
                "seeds": {str(one.seed): one.status().state for one in _begun(run, seeds)},
                "rounds": [asdict(mean) for mean in round_means(_begun(run, seeds))],
            }
            for point, run in zip(points, runs, strict=True)
        ],
    }


def print_summary(console: Console, points: Sequence[Point], runs: Sequence[Run], seeds: Sequence[int]) -> None:
    """Print one row a point."""
    from rich import box
    from rich.table import Table

    names = [run.name.rsplit("-", 1) for run in runs]
    prefixes = {prefix for prefix, _ in names}
    shared = f"; run: {names[0][0]}-..." if len(prefixes) == 1 else ""
    columns = (*points[0].values, "state", "best round", "its test", "last round", "its test", "run")
    table = Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for point, run, (_, end) in zip(points, runs, names, strict=True):
        states = state_words([one.status().state for one in _begun(run, seeds)])
        values = map(value_words, point.values.values())
        table.add_row(*values, states, *_scores(round_means(_begun(run, seeds))), end if shared else run.name)
    console.print(table)
    console.print(f"{CAPTION}{shared}", markup=False, highlight=False, soft_wrap=True)


def round_means(seed_runs: Sequence[SeedRun]) -> list[RoundMean]:
    """Return the means of every round that at least one seed has finished."""
    return list(_means([one.rounds() for one in seed_runs]))


def _means(rounds: Sequence[Sequence[RoundRecord]]) -> Iterator[RoundMean]:
    for number in range(max(map(len, rounds), default=0)):
        records = [of_seed[number] for of_seed in rounds if len(of_seed) > number]
        tests = [record.test for record in records]
        yield RoundMean(
            round=number,
            seeds=len(records),
            graph_sparsity=fmean(record.graph_sparsity for record in records),
            weight_sparsity=fmean(record.weight_sparsity for record in records),
            val=fmean(record.val for record in records),
            test=fmean(tests),
            test_sd=stdev(tests) if len(tests) > 1 else None,
        )


def _scores(means: Sequence[RoundMean]) -> tuple[str, str, str, str]:
    """Return the words for the best round and its test score, the last round and its test score."""
    pruned = means[1:]
    if not pruned:
        return MISSING, MISSING, *((f"{means[-1].round}", _test(means[-1])) if means else (MISSING, MISSING))
    best, last = max(pruned, key=lambda mean: mean.val), pruned[-1]
    return f"{best.round}", _test(best), f"{last.round}", _test(last)


def _test(mean: RoundMean) -> str:
    if mean.test_sd is None:
        return percent(mean.test)
    return percent_interval(mean.test, mean.test_sd)


def _begun(run: Run, seeds: Sequence[int]) -> list[SeedRun]:
    return [run.seed(seed) for seed in seeds if run.seed(seed).was_started()]
