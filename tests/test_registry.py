"""Registries: files are found by themselves, names are unique, a wrong one suggests the nearest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from glt.errors import ConfigError, unknown_name
from glt.registry import Registry


@dataclass(frozen=True)
class Colour:
    name: str
    label: str


ENTRY = "from colours import COLOURS, Colour\nCOLOURS.register(Colour({name!r}, {name!r}))\n"
PACKAGE = """
from {module} import Colour
from glt.registry import Registry
COLOURS = Registry("colour", "colours")
"""


@pytest.fixture
def colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[Colour]]:
    """A package of two files, each registering one entry, as a user would add them."""
    import importlib
    import sys

    package = tmp_path / "colours"
    package.mkdir()
    monkeypatch.setitem(sys.modules, "colour_type", sys.modules[Colour.__module__])
    (package / "__init__.py").write_text(PACKAGE.format(module="colour_type"))
    for name in ("red", "blue"):
        (package / f"{name}.py").write_text(ENTRY.format(name=name))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("colours").COLOURS
    for name in [name for name in sys.modules if name.split(".")[0] == "colours"]:
        del sys.modules[name]


def test_files_of_the_package_are_found(colours: Registry[Colour]) -> None:
    assert colours.names() == ["blue", "red"]
    assert [colour.label for colour in colours] == ["blue", "red"]
    assert colours.get("red").name == "red"


def test_an_unknown_name_suggests_the_nearest(colours: Registry[Colour]) -> None:
    with pytest.raises(ConfigError, match=r"Unknown colour 'rde': did you mean 'red'\? Known: blue, red\."):
        colours.get("rde")


def test_a_name_is_taken_once(colours: Registry[Colour]) -> None:
    colours.register(Colour("green", "Green"))
    with pytest.raises(ValueError, match="two files register the colour 'green'"):
        colours.register(Colour("green", "Another green"))


def test_a_far_name_gets_the_list_only() -> None:
    assert unknown_name("colour", "xyz", ["red", "blue"]) == "Unknown colour 'xyz'. Known: blue, red."
