"""Two reports against each other: ratios, and which of them are more than noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.results import Measured, Report

Verdict = Literal["better", "worse", "same", "new", "gone"]
# What was measured once is taken to vary by a tenth either way.
NOISE_OF_ONE = 0.1


@dataclass(frozen=True)
class Compared:
    """A value now and in the baseline, their ratio, and whether both ranges of p10 to p90 lie apart."""

    name: str
    now: Measured | None
    before: Measured | None
    ratio: float | None
    verdict: Verdict


def compare(now: Report, before: Report) -> Iterator[Compared]:
    """Yield every result of either report, in the order of the new one and then of the old."""
    known = before.by_name()
    for result in now.results:
        yield _compared(result, known.pop(result.name, None))
    for result in known.values():
        yield Compared(result.name, None, result, None, "gone")


def _compared(now: Measured, before: Measured | None) -> Compared:
    if before is None:
        return Compared(now.name, now, None, None, "new")
    ratio = now.value / before.value if before.value else None
    (low, high), (low_before, high_before) = limits(now), limits(before)
    if low <= high_before and high >= low_before:
        return Compared(now.name, now, before, ratio, "same")
    lower = high < low_before
    return Compared(now.name, now, before, ratio, "better" if lower == now.lower_is_better else "worse")


def limits(result: Measured) -> tuple[float, float]:
    """Return p10 and p90, or what a single value is taken to vary between.

    >>> limits(Measured(name="a/b", value=10, unit="s"))
    (9.0, 11.0)
    """
    if result.p10 is None or result.p90 is None:
        margin = NOISE_OF_ONE * abs(result.value)
        return result.value - margin, result.value + margin
    return result.p10, result.p90


def differences(now: Report, before: Report) -> list[str]:
    """Say in what machine and versions differ, so that ratios are those of machines too."""
    told = []
    for what, new, old in (("machine", now.machine, before.machine), ("versions", now.versions, before.versions)):
        names = sorted(key for key in {*new, *old} if new.get(key) != old.get(key))
        told += [f"{what}: {key} {old.get(key, 'none')} before, {new.get(key, 'none')} now" for key in names]
    return told
