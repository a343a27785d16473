"""The settings of runs: all that shapes one, in the words of legends, and in the order of their values."""

from __future__ import annotations

from typing import Any

from glt.config import RunConfig
from glt.jobs.sweeping import value_words
from glt.methods import METHODS
from glt.presets import all_options

USUAL = RunConfig()
SHARES = frozenset({"p_graph", "p_weight"})


def settings_of(config: RunConfig) -> dict[str, Any]:
    """Return what shapes a run's rounds, flat, with the options that its config leaves out."""
    options = all_options(config)
    ignored = METHODS.get(config.method).ignores
    core = config.model_dump(exclude={"options", "rounds", *ignored})
    return {**core, **{name: value for name, value in sorted(options.items()) if name not in ignored}}


def unusual(config: RunConfig) -> int:
    """Return how many core settings of a run are not RunConfig's defaults.

    >>> unusual(RunConfig()), unusual(RunConfig(hidden=64, p_graph=0.1))
    (0, 2)
    """
    return sum(getattr(config, name) != getattr(USUAL, name) for name in RunConfig.model_fields)


def setting_words(name: str, value: Any) -> str:
    """Write a setting and its value as a legend says it, by the name that files and the command line use.

    >>> setting_words("p_graph", 0.05), setting_words("hidden", 64), setting_words("degree", "target")
    ('p_graph = 5 %', 'hidden = 64', 'degree = target')
    """
    if name in SHARES:
        return f"{name} = {100 * value:g} %"
    return f"{name} = {'default' if value is None else value_words(value)}"


def value_order(value: Any) -> tuple[bool, float, str]:
    """Return what sorts the values of one setting: numbers by size, then words.

    >>> sorted([64, "auto", 8], key=value_order)
    [8, 64, 'auto']
    """
    number = isinstance(value, (int, float))
    return not number, float(value) if number else 0.0, str(value)
