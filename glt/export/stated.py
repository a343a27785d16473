"""What a ticket file states of its round, number by number, beside what is found in its masks and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glt.masks import Masks
from glt.store import MacConvention, RoundRecord

# One test node of a few hundred may fall to the other side where sums are taken in another order.
SCORE_TOLERANCE = 0.005
SHARE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Stated:
    """One number: its name in `show --json`, what the file states, what is found (None: it cannot be told)."""

    name: str
    in_file: float
    found: float | None
    differs: bool


def stated(
    record: RoundRecord, masks: Masks, test: float | None, counted: Mapping[MacConvention, int]
) -> tuple[Stated, ...]:
    """Return the test score, sparsities, edges kept and MACs of a record, each held against what is found."""
    again = RoundRecord.of(
        record.round,
        masks,
        **record.model_dump(include={"val", "test", "test_last", "best_epoch", "seconds"}),
        macs=counted,
    )
    shares = ("graph_sparsity", "weight_sparsity", "edges_kept_either_way", "edges_kept_both_ways")
    return (
        _held("test", record.test, test, SCORE_TOLERANCE),
        *(_held(name, getattr(record, name), getattr(again, name), SHARE_TOLERANCE) for name in shares),
        *(_held(f"macs.{name}", record.macs[name], again.macs[name], 0) for name in record.macs),
    )


def _held(name: str, in_file: float, found: float | None, tolerance: float) -> Stated:
    # Not "greater than": a number that is none (NaN) differs from every other.
    return Stated(name, in_file, found, found is not None and not abs(in_file - found) <= tolerance)
