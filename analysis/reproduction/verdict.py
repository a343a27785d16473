"""The verdict on an experiment, from its compared numbers and tested claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.reproduction.claims import Claim
from analysis.reproduction.comparison import Comparison, Quantity, family_words, margin_words
from analysis.statistics import AgreementWord
from glt import formats
from glt.reproduction import Plan

Kind = Literal["reproduced", "partly", "not reproduced", "open", "incomplete", "shown", "not run", "unavailable"]
WORDS: dict[Kind, str] = {
    "reproduced": "Reproduced",
    "partly": "Partly reproduced",
    "not reproduced": "Not reproduced",
    "open": "Open",
    "incomplete": "So far",
    "shown": "Shown",
    "not run": "Not run yet",
    "unavailable": "Cannot be run",
}
# Whether the printed number is reproduced; None: open.
OUTCOMES: dict[AgreementWord, bool | None] = {"agrees": True, "differs": False, "open": None, "no verdict": None}
NOUNS: dict[Quantity, str] = {"score": "scores", "macs": "counts of MACs", "measure": "measurements"}
NO_NUMBER = "drawn from our runs; the paper prints no number to compare"
OTHER_SETTINGS = "no round with the paper's settings"


@dataclass(frozen=True)
class ExperimentVerdict:
    """The kind of result and a sentence about it."""

    kind: Kind
    sentence: str

    @property
    def title(self) -> str:
        """The kind as a heading."""
        return "Incomplete" if self.kind == "incomplete" else WORDS[self.kind]

    @property
    def falls_short(self) -> bool:
        """Whether something is not shown to agree with the paper."""
        return self.kind in ("partly", "not reproduced", "open", "incomplete")


def judge_experiment(plan: Plan, rows: Sequence[Comparison], claims: Sequence[Claim], cost: str) -> ExperimentVerdict:
    """Return the verdict on a plan from its judged rows and claims; `cost` describes what is missing and its time."""
    if not plan.runs and not plan.stand_ins:
        lacking: Kind = "not run" if plan.lacking else "unavailable"
        needed = [f"needs {cost}."] if plan.lacking else []
        return ExperimentVerdict(lacking, f"{WORDS[lacking]}: {' '.join([*needed, *plan.unavailable])}")
    known = [row for row in rows if row.is_known]
    outcomes = [OUTCOMES[row.agreement.word] for row in known] + [claim.holds for claim in claims]
    kind = _kind(plan, outcomes)
    groups: dict[Quantity, list[Comparison]] = {}
    for row in known:
        groups.setdefault(row.quantity, []).append(row)
    parts = [_compared(group) for group in groups.values()]
    parts += [claim.ours for claim in claims if claim.holds is False] or ([] if parts else [c.ours for c in claims])
    findings = "; ".join(dict.fromkeys(parts)) or (NO_NUMBER if plan.runs else OTHER_SETTINGS)
    remarks = [
        f"{need.arm.words} is shown with {need.differs}, not with the paper's settings."
        for need in plan.needs
        if need.stand_in is not None
    ]
    remarks += [f"Missing: {cost}."] if plan.lacking else []
    return ExperimentVerdict(kind, " ".join([f"{WORDS[kind]}: {findings}.", *remarks, *plan.unavailable]))


def settled(claims: Sequence[Claim], plan: Plan) -> list[Claim]:
    """Return the claims; all are open while runs or rounds of the experiment are missing."""
    return [replace(claim, holds=None) for claim in claims] if plan.lacking else list(claims)


def _kind(plan: Plan, outcomes: Sequence[bool | None]) -> Kind:
    if plan.unavailable or plan.lacking:
        return "incomplete"
    if not outcomes:
        return "shown"
    if False in outcomes:
        return "partly" if True in outcomes else "not reproduced"
    return "open" if None in outcomes else "reproduced"


def _compared(rows: Sequence[Comparison]) -> str:
    """Count the rows of one kind that agree, differ, are open, or have no verdict."""
    quantity, of = rows[0].quantity, {word: [row for row in rows if row.agreement.word == word] for word in OUTCOMES}
    margin, n = margin_words(quantity), len(rows)
    within = f"within {margin}" if quantity != "macs" else f"within {margin} or the printed digits"
    if len(of["agrees"]) == n:
        return f"all {n} printed {NOUNS[quantity]} agree {within}{_seeds(rows)}"
    parts = [f"of {n} printed {NOUNS[quantity]} {len(of['agrees']) or 'none'} shown to agree {within}"]
    if of["differs"]:
        parts.append(f"{len(of['differs'])} shown to differ by more ({_worst(of['differs'])})")
    if of["open"]:
        parts.append(f"{len(of['open'])} open ({_worst(of['open'])})")
    if of["no verdict"]:
        why = f"which needs two seeds that differ ({_worst(of['no verdict'])})"
        parts.append(f"{len(of['no verdict'])} without a verdict, {why}")
    return f"{', '.join(parts)}{_seeds(rows)}"


def _worst(rows: Sequence[Comparison]) -> str:
    """Describe the largest difference, and the score of the authors' code at that point."""
    worst = max(rows, key=lambda row: abs(row.difference))
    side = "below" if worst.difference < 0 else "above"
    most = "largest " if len(rows) > 1 else ""
    gap = abs(worst.difference)
    size = formats.points(gap).lstrip("+") if worst.quantity == "score" else formats.percent(gap)
    words = f"{most}{size} {side} the paper, {formats.inside(worst.group)} at {worst.where}"
    return f"{words}; the authors' own code, run again, gives {worst.rerun_words()} there" if worst.rerun else words


def _seeds(rows: Sequence[Comparison]) -> str:
    counts = sorted({row.seeds for row in rows if not row.is_exact})
    if not counts:
        return ""
    family = family_words(rows)
    tested = f", {family}" if family else ""
    number = formats.number_of(counts[0], "seed") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
    return f" ({number}{tested})"
