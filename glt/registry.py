"""Registries: a folder of files in which every file declares one entry under a name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from glt.errors import ConfigError, unknown_name


class Named(Protocol):
    """What an entry must have: the name users type and the label they read."""

    @property
    def name(self) -> str:
        """What users type."""

    @property
    def label(self) -> str:
        """What users read."""


Entry = TypeVar("Entry", bound=Named)


class Registry(Generic[Entry]):
    """The entries that the modules of one package register, discovered on first use.

    Importing the modules must stay cheap (no torch at import time), because the app lists entries at start-up.
    """

    def __init__(self, noun: str, package: str) -> None:
        self.noun = noun
        self._package = package
        self._entries: dict[str, Entry] = {}
        self._discovered = False

    def register(self, entry: Entry) -> Entry:
        """Add an entry and return it; raises ValueError when the name is taken by another one."""
        if entry.name in self._entries:
            raise ValueError(f"two files register the {self.noun} {entry.name!r}")
        self._entries[entry.name] = entry
        return entry

    def get(self, name: str) -> Entry:
        """Return the entry called `name`; raises ConfigError that suggests the nearest known name."""
        self._discover()
        if name not in self._entries:
            raise ConfigError(unknown_name(self.noun, name, self._entries))
        return self._entries[name]

    def names(self) -> list[str]:
        """Return all names in alphabetical order."""
        self._discover()
        return sorted(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter([self._entries[name] for name in self.names()])

    def _discover(self) -> None:
        if self._discovered:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self._package}.{module.name}")
        self._discovered = True
