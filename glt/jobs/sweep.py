"""Sweeps: a grid of settings as ordinary runs, started together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from glt.config import CORE_FIELDS, OptionValue, RunConfig
from glt.errors import ConfigError, Faults, quoted
from glt.jobs.devices import Wanted
from glt.jobs.launcher import Started, begin, check, check_room, stopping_on_failure
from glt.jobs.memory import check_memory
from glt.methods import METHODS
from glt.presets import Values, all_options, resolve
from glt.store import Run, Store, run_name

Grid = Mapping[str, Sequence[str]]

# Every seed of every run waits in a process of its own; more than these would fill the memory of a small machine.
MOST_RUNS = 100


@dataclass(frozen=True)
class Point:
    """One point of a grid: its varied settings, and the config of its run."""

    values: Mapping[str, OptionValue]
    config: RunConfig

    @property
    def words(self) -> str:
        """The point's varied settings in words."""
        return point_words(self.values)


def read_grid(fields: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Read settings and their listed values; raise ConfigError for none, empty or repeated ones.

    >>> read_grid([("p_graph", ".05, .10"), ("hidden", "16")])
    {'p_graph': ('.05', '.10'), 'hidden': ('16',)}
    """
    grid: dict[str, tuple[str, ...]] = {}
    for name, text in fields:
        if name in grid:
            raise ConfigError(f"The grid names {name} twice: list all its values in one place, as in {name}=a,b,c.")
        grid[name] = _values(name, text)
    if not grid:
        raise ConfigError("The grid is empty: name a setting and its values, as in p_graph=.05,.10,.20.")
    return grid


def grid_points(settings: Values, grid: Grid, preset: str | None = None) -> list[Point]:
    """Return the grid's points, the last setting changing fastest; other settings are shared.

    Raises ConfigError for bad settings of any point, an empty or too large grid, a setting given twice, or one that
    would make equal runs.
    """
    _check(settings, grid)
    points, faults = [], Faults()
    for values in _product(grid):
        with faults.noted():
            points.append(_point(settings, dict(zip(grid, values, strict=True)), preset))
    faults.raise_any()
    for point in points:
        _refuse_ignored(point)
    _refuse_equal(points)
    return points


def start_all(
    store: Store,
    configs: Sequence[RunConfig],
    seeds: Sequence[int],
    *,
    device: Wanted = None,
    threads: int | None = None,
    tied: bool = False,
) -> list[Started[Run]]:
    """Start `seeds` of every config as `glt.jobs.start` does; busy seeds are left alone.

    If one cannot be started, those started before it are stopped and its error is raised.
    """
    for config in configs:
        check(store, config, seeds, device, threads)
    check_room(store, configs, seeds)
    check_memory(store, configs, seeds, device, threads)
    started: list[Started[Run]] = []
    with stopping_on_failure() as workers:
        for config in configs:
            run = store.create(config)
            started.append(begin(store, run, seeds, device=device, threads=threads, tied=tied, leave_busy=True))
            workers.extend(started[-1].workers)
    return started


def point_words(values: Mapping[str, OptionValue]) -> str:
    """Return settings and values in words.

    >>> point_words({"p_graph": 0.05, "hidden": 16, "mask_weight_decay": True})
    'p_graph = 0.05, hidden = 16, mask_weight_decay = true'
    """
    return ", ".join(f"{name} = {value_words(value)}" for name, value in values.items())


def value_words(value: OptionValue) -> str:
    """Return a setting's value as it is typed.

    >>> value_words(0.05), value_words(1e-6), value_words(False), value_words("last")
    ('0.05', '1e-06', 'false', 'last')
    """
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _values(name: str, text: str) -> tuple[str, ...]:
    if not text.strip():
        raise ConfigError(f"{name} has no values in the grid: list them with commas between them.")
    values = tuple(value.strip() for value in text.split(","))
    if not all(values):
        raise ConfigError(f"{name} lacks a value in {quoted(text.strip())}: list values with commas between them.")
    return values


def _check(settings: Values, grid: Grid) -> None:
    if not grid or not all(grid.values()):
        raise ConfigError("The grid is empty: name a setting and at least one value of it.")
    for name in grid:
        if name in settings:
            raise ConfigError(f"{name} is set to {settings[name]} and varied in the grid too: leave one of them out.")
    if "rounds" in grid:
        raise ConfigError(
            "rounds cannot be varied, because a longer run holds the shorter ones: set it to the most you want to see."
        )
    runs = math.prod(len(values) for values in grid.values())
    if runs > MOST_RUNS:
        raise ConfigError(f"The grid has {runs} points, more than {MOST_RUNS}: leave out values, or sweep in parts.")


def _product(grid: Grid) -> Iterable[tuple[str, ...]]:
    return itertools.product(*grid.values())


def _point(settings: Values, varied: Mapping[str, str], preset: str | None) -> Point:
    config = resolve({**settings, **varied}, preset)
    return Point({name: _value(config, name) for name in varied}, config)


def _value(config: RunConfig, name: str) -> OptionValue:
    options = {option: value for option, value in all_options(config).items() if value is not None}
    value: OptionValue = getattr(config, name) if name in CORE_FIELDS else options[name]
    return value


def _refuse_ignored(point: Point) -> None:
    method = METHODS.get(point.config.method)
    ignored = sorted(method.ignores & point.values.keys())
    if ignored:
        raise ConfigError(
            f"The method {method.name} ignores {ignored[0]}, so the grid would hold equal runs: leave {ignored[0]} out."
        )


def _refuse_equal(points: Sequence[Point]) -> None:
    seen: dict[str, Point] = {}
    for point in points:
        name = run_name(point.config)
        if name in seen:
            raise ConfigError(f"The grid holds the same run twice ({point.words}): give every value once.")
        seen[name] = point
