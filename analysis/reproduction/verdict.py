"""An honest sentence: reproduced within so many points, not reproduced and by how much, or not run yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.reproduction.claims import Claim
from analysis.reproduction.comparison import Comparison
from glt import formats
from glt.reproduction import Plan

Kind = Literal["reproduced", "partly", "not reproduced", "incomplete", "shown", "not run", "unavailable"]
WORDS: dict[Kind, str] = {
    "reproduced": "Reproduced",
    "partly": "Partly reproduced",
    "not reproduced": "Not reproduced",
    "incomplete": "So far",
    "shown": "Shown",
    "not run": "Not run yet",
    "unavailable": "Cannot be run",
}
NO_NUMBER = "drawn from our runs; the paper prints no number to hold it against"
OTHER_SETTINGS = "no round with the paper's settings"


@dataclass(frozen=True)
class Verdict:
    """What kind of result it is, and the sentence that says so."""

    kind: Kind
    sentence: str

    @property
    def title(self) -> str:
        """The kind as a heading has it."""
        return "Incomplete" if self.kind == "incomplete" else WORDS[self.kind]

    @property
    def differs(self) -> bool:
        """Whether something was found that is not as the paper has it."""
        return self.kind in ("partly", "not reproduced", "incomplete")


def judge(plan: Plan, rows: Sequence[Comparison], claims: Sequence[Claim], cost: str) -> Verdict:
    """Return the verdict on a plan from what was compared and tested; `cost` says what is missing and what it takes.

    Rows of one group (a method, MACs) agree together or not at all; a claim that cannot be tested yet counts nothing.
    """
    if not plan.runs and not plan.stand_ins:
        return _without_rounds(plan, cost)
    tested = [claim for claim in claims if claim.holds is not None]
    groups = list(_groups(rows).values())
    alone = len({row.group for row in rows}) == 1
    outcomes = [all(row.agrees for row in group) for group in groups] + [bool(claim.holds) for claim in tested]
    kind = _kind(plan, outcomes, claims)
    parts = [
        *_agreeing(groups, alone),
        *(_differing(group) for group in groups if not all(row.agrees for row in group)),
    ]
    failing = [claim.ours for claim in tested if not claim.holds]
    parts += failing or ([] if parts else [claim.ours for claim in tested or claims])
    said = "; ".join(dict.fromkeys(parts)) or (NO_NUMBER if plan.runs else OTHER_SETTINGS)
    return Verdict(kind, " ".join([f"{WORDS[kind]}: {said}.", *_remarks(plan, cost)]))


def settled(claims: Sequence[Claim], plan: Plan) -> list[Claim]:
    """Leave open what is claimed of an experiment of which something is still missing."""
    return [replace(claim, holds=None) for claim in claims] if plan.lacking else list(claims)


def _without_rounds(plan: Plan, cost: str) -> Verdict:
    if plan.lacking:
        return Verdict("not run", " ".join([f"{WORDS['not run']}: needs {cost}.", *plan.unavailable]))
    return Verdict("unavailable", f"{WORDS['unavailable']}: {' '.join(plan.unavailable)}")


def _kind(plan: Plan, outcomes: Sequence[bool], claims: Sequence[Claim]) -> Kind:
    if plan.unavailable or plan.lacking:
        return "incomplete"
    if not outcomes:
        return "incomplete" if claims else "shown"
    return "reproduced" if all(outcomes) else "partly" if any(outcomes) else "not reproduced"


def _groups(rows: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    found: dict[str, list[Comparison]] = {}
    for row in rows:
        if row.is_known:
            found.setdefault(row.group, []).append(row)
    return found


def _agreeing(groups: Sequence[list[Comparison]], alone: bool) -> list[str]:
    """Say how close the groups are that agree: each where there are few, in one count where there are many."""
    good = [group for group in groups if all(row.agrees for row in group)]
    scores = [group for group in good if group[0].quantity == "score"]
    parts = []
    if len(scores) == 1:
        who = "" if alone else f"{formats.inside(scores[0][0].group)} "
        parts.append(f"{who}within {_worst(scores[0])} at {_places(scores[0])} ({_seeds(scores[0])})")
    elif scores:
        every = [row for group in scores for row in group]
        labels = _and([formats.inside(group[0].group) for group in scores])
        parts.append(f"{labels} within {_worst(every)} at all {len(every)} printed values ({_seeds(every)})")
    others = [group for group in good if group[0].quantity != "score"]
    return parts + [f"{formats.inside(group[0].group)} within {_worst(group)} at {_count(group)}" for group in others]


def _differing(group: Sequence[Comparison]) -> str:
    worst = max(group, key=lambda row: abs(row.difference))
    off = [row for row in group if not row.agrees]
    side = "below" if worst.difference < 0 else "above"
    up_to = "up to " if len(off) > 1 else ""
    also = f" ({len(off)} of {len(group)} values differ)" if len(off) > 1 else ""
    words = f"{formats.inside(worst.group)} {up_to}{_size(worst)} {side} the paper at {worst.where}{also}"
    if worst.rerun:
        words += f"; the authors' own code, run again, gives {worst.rerun_words()} there"
    return words


def _remarks(plan: Plan, cost: str) -> list[str]:
    foreign = [need for need in plan.needs if need.stand_in is not None]
    remarks = [f"{need.arm.words} is shown with {need.differs}, not with the paper's settings." for need in foreign]
    if plan.lacking:
        remarks.append(f"Missing: {cost}.")
    return [*remarks, *plan.unavailable]


def _size(row: Comparison) -> str:
    if row.quantity == "score":
        return f"{formats.fixed(100 * abs(row.difference), 1)} points"
    return formats.percent(abs(row.difference))


def _worst(rows: Sequence[Comparison]) -> str:
    return _size(max(rows, key=lambda row: abs(row.difference)))


def _count(rows: Sequence[Comparison]) -> str:
    return formats.number_of(len(rows), "printed value")


def _places(rows: Sequence[Comparison]) -> str:
    numbers = [row.where.removeprefix("k = ") for row in rows]
    return f"k = {_and(numbers)}"


def _seeds(rows: Sequence[Comparison]) -> str:
    counts = sorted({row.seeds for row in rows})
    if counts == [1]:
        return "1 seed"
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
