"""From what the Launch form says to the runs it asks for, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glt.config import RunConfig
from glt.errors import Faults
from glt.jobs.sweeping import Point, grid_points, read_grid
from glt.methods import METHODS
from glt.presets import resolve
from glt.seeds import read_seeds


@dataclass(frozen=True)
class Draft:
    """What the form says, as text; `plan` turns it into configurations or says all that is wrong with it."""

    setting: Mapping[str, str]
    methods: Sequence[str]
    seeds: str
    preset: str
    filled: Mapping[str, str]
    grid: Mapping[str, str]


@dataclass(frozen=True)
class Plan:
    """One run a method, or one for each of a sweep's points, and the seeds they share."""

    points: tuple[Point, ...]
    seeds: tuple[int, ...]

    @property
    def configs(self) -> tuple[RunConfig, ...]:
        """The configuration of every run."""
        return tuple(point.config for point in self.points)


def plan(draft: Draft) -> Plan:
    """Return what the form asks for; raises ConfigError that names everything that cannot be."""
    faults, points = Faults(), list[Point]()
    seeds: tuple[int, ...] = ()
    if not draft.methods:
        faults.add("No method is chosen: choose at least one.")
    with faults.noted():
        seeds = read_seeds(draft.seeds)
    for method in draft.methods:
        with faults.noted():
            points += _points(draft, method)
    faults.raise_any()
    return Plan(tuple(points), seeds)


def _points(draft: Draft, method: str) -> Sequence[Point]:
    values = _values(draft, method)
    if not draft.grid:
        return [Point({}, resolve(values, draft.preset))]
    return grid_points(values, read_grid(draft.grid.items()), draft.preset)


def _values(draft: Draft, method: str) -> dict[str, str]:
    """Return what one method's run is resolved from: options of the other methods left out."""
    of_others = {
        name for other in draft.methods if other != method for name in METHODS.get(other).Options.model_fields
    } - set(METHODS.get(method).Options.model_fields)
    own = {name: value for name, value in draft.filled.items() if name not in of_others}
    return {**draft.setting, "method": method, **own}
