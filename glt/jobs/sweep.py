"""Sweeps: a grid of settings as ordinary runs, started together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from glt.config import OptionValue, RunConfig
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
        return ", ".join(f"{name} = {value_words(value)}" for name, value in self.values.items())


def read_grid(fields: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Read settings and their listed values; raise ConfigError for none, empty or repeated ones."""
    grid: dict[str, tuple[str, ...]] = {}
    for name, text in fields:
        if name in grid:
            raise ConfigError(f"The grid names {name} twice: list all its values in one place, as in {name}=a,b,c.")
        if not text.strip():
            raise ConfigError(f"{name} has no values in the grid: list them with commas between them.")
        grid[name] = tuple(value.strip() for value in text.split(","))
        if not all(grid[name]):
            raise ConfigError(f"{name} lacks a value in {quoted(text.strip())}: list values with commas between them.")
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
    for values in itertools.product(*grid.values()):
        varied = dict(zip(grid, values, strict=True))
        with faults.noted():
            config = resolve({**settings, **varied}, preset)
            known = {**all_options(config), **config.model_dump()}
            points.append(Point({name: known[name] for name in varied}, config))
    faults.raise_any()
    seen: set[str] = set()
    for point in points:
        method, name = METHODS.get(point.config.method), run_name(point.config)
        if ignored := sorted(method.ignores & point.values.keys()):
            raise ConfigError(
                f"The method {method.name} ignores {ignored[0]}, so the grid would hold equal runs: leave {ignored[0]} "
                "out."
            )
        if name in seen:
            raise ConfigError(f"The grid holds the same run twice ({point.words}): give every value once.")
        seen.add(name)
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
    """Start `seeds` of every config as `glt.jobs.start`, all or none."""
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


def value_words(value: OptionValue) -> str:
    """Return a setting's value as it is typed.

    >>> value_words(0.05), value_words(1e-6), value_words(False), value_words("last")
    ('0.05', '1e-06', 'false', 'last')
    """
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


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
