"""What a benchmark gives: measured values by name, and the report that holds those of all parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

Unit = Literal["s", "CPU s", "B", "ratio"]
Number = Annotated[float, Field(allow_inf_nan=False)]


class Measured(BaseModel):
    """A value with its unit; `p10` and `p90` of its repetitions where there were several, and how it came about.

    A name is a path, from the part that measured it to what it is of: "epochs/cora/gcn/search".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(pattern=r"^[^/|<>\n]+(/[^/|<>\n]+)+$")]
    value: Number
    unit: Unit
    lower_is_better: bool = True
    p10: Number | None = None
    p90: Number | None = None
    note: Annotated[str, Field(pattern=r"^[^|<>\n]*$")] = ""

    @model_validator(mode="after")
    def _in_order(self) -> Measured:
        if (self.p10 is None) != (self.p90 is None):
            raise ValueError("p10 and p90 go together")
        if self.p10 is not None and self.p90 is not None and not self.p10 <= self.value <= self.p90:
            raise ValueError("the value lies outside p10 to p90")
        return self


class Failed(BaseModel):
    """A part that gave nothing, and the last line it said."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    part: str
    reason: str


class Report(BaseModel):
    """Everything one command measured, on what, of which revision, when (UTC), and which parts failed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: Literal[1] = Field(1, alias="schema")
    machine: dict[str, str | int | float]
    versions: dict[str, str]
    revision: str | None
    time: str
    results: tuple[Measured, ...]
    failed: tuple[Failed, ...] = ()

    @model_validator(mode="after")
    def _named_once(self) -> Report:
        names = [each.name for each in self.results]
        if len(names) != len(set(names)):
            raise ValueError("a name stands twice")
        return self

    def by_name(self) -> dict[str, Measured]:
        """Return the results by their names."""
        return {each.name: each for each in self.results}

    def to_json(self) -> str:
        """Return the report as JSON, as it lies in a file."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"


def spread(
    name: str, values: Sequence[float], unit: Unit = "CPU s", lower_is_better: bool = True, note: str = ""
) -> Measured:
    """Return the median of repetitions, with their 10th and 90th percentile, four digits of each."""
    found = np.quantile(np.asarray(values, dtype=np.float64), [0.1, 0.5, 0.9])
    low, middle, high = (float(f"{value:.4g}") for value in found)
    return Measured(name=name, value=middle, unit=unit, lower_is_better=lower_is_better, p10=low, p90=high, note=note)


def single(name: str, value: float, unit: Unit, lower_is_better: bool = True) -> Measured:
    """Return a value that was measured once."""
    return Measured(name=name, value=float(f"{value:.6g}"), unit=unit, lower_is_better=lower_is_better)


def repeated(
    name: str,
    step: Callable[[], object],
    most: int,
    seconds: float = 5,
    clock: Callable[[], float] = time.process_time,
    untimed: int = 1,
) -> Measured:
    """Run `step` once untimed, then up to `most` times while `seconds` have not passed, and return its times."""
    for _ in range(untimed):
        step()
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < most and (not taken or time.perf_counter() - begun < seconds):
        started = clock()
        step()
        taken.append(clock() - started)
    return spread(name, taken, "CPU s" if clock is time.process_time else "s")


def document(results: Iterable[Measured]) -> dict[str, Any]:
    """Return results as the part's command prints them."""
    return {"results": [each.model_dump() for each in results]}
