"""What a ticket file states of its round, number by number, beside what is found in its masks and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from glt.config import RunConfig
from glt.masks import Masks
from glt.store import MacConvention, RoundRecord

# One test node of a few hundred may fall to the other side where sums are taken in another order.
SCORE_TOLERANCE = 0.005
SHARE_TOLERANCE = 1e-9
SCORES = ("val", "test")
SHARES = ("graph_sparsity", "weight_sparsity", "edges_kept_either_way", "edges_kept_both_ways")


@dataclass(frozen=True)
class Stated:
    """One number: its name in `show --json`, what the file states, what is found (None: it cannot be checked here).

    `possible` says whether any run could have it, whatever is found.
    """

    name: str
    in_file: float
    found: float | None
    differs: bool
    possible: bool = True


def stated(
    record: RoundRecord,
    search_seconds: float,
    config: RunConfig,
    masks: Masks,
    scores: Mapping[str, float],
    counted: Mapping[MacConvention, int],
) -> tuple[Stated, ...]:
    """Return every number of a record, each held against what is found; `scores` are those that can be, by name.

    The last epoch's score, the best epoch and seconds leave no trace in a file: only bounds can be held against them.
    """
    measured = record.model_dump(include={"val", "test", "test_last", "best_epoch", "seconds"})
    again = RoundRecord.of(record.round, masks, **measured, macs=counted)
    return (
        *(_held(name, getattr(record, name), scores.get(name), SCORE_TOLERANCE, most=1) for name in SCORES[::-1]),
        *(_held(name, getattr(record, name), getattr(again, name), SHARE_TOLERANCE) for name in SHARES),
        *(_held(f"macs.{name}", record.macs[name], again.macs[name], 0) for name in record.macs),
        _held("test_last", record.test_last, most=1),
        _held("best_epoch", record.best_epoch, most=config.retrain_epochs - 1),
        _held("seconds", record.seconds),
        _held("search_seconds", search_seconds),
    )


def _held(name: str, in_file: float, found: float | None = None, tolerance: float = 0, most: float = inf) -> Stated:
    # Not "greater than": a number that is none (NaN) differs from every other.
    differs = found is not None and not abs(in_file - found) <= tolerance
    return Stated(name, in_file, found, differs, 0 <= in_file <= most)
