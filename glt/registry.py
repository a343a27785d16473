"""Registries: entries by name, declared in the files of one package or in one file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from glt.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Named(Protocol):
    """An entry: the name users type and the label they read."""

    @property
    def name(self) -> str:
        """What users type."""

    @property
    def label(self) -> str:
        """What users read."""


Entry = TypeVar("Entry", bound=Named)


class Registry(Generic[Entry]):
    """Named entries; the modules of `package`, imported on first use, register theirs.

    Importing them must stay cheap (no torch), because the app lists entries at start-up.
    """

    def __init__(self, noun: str, package: str | None = None) -> None:
        self.noun = noun
        self._package = package
        self._entries: dict[str, Entry] = {}

    def register(self, entry: Entry) -> Entry:
        """Add an entry and return it; raise ValueError if the name is taken."""
        if entry.name in self._entries:
            raise ValueError(f"the {self.noun} {entry.name!r} is registered twice")
        self._entries[entry.name] = entry
        return entry

    def get(self, name: str) -> Entry:
        """Return the entry called `name`; raise ConfigError that suggests the nearest name."""
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
        if self._package is None:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(getattr(package, "__path__", ())):
            importlib.import_module(f"{self._package}.{module.name}")
        self._package = None


@dataclass(frozen=True, eq=False)
class OneOf:
    """Marks an option whose value is a name in a registry: `Annotated[str, OneOf(SCORES)]`.

    An unknown name raises the registry's ConfigError, with the nearest name and the list.
    """

    registry: Registry[Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a text that the registry knows."""
        # The command's help imports registries, and starts without pydantic.
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self._known, handler(source))

    def _known(self, name: str) -> str:
        return str(self.registry.get(name).name)
