"""Imports: directions between packages and within glt, and what is not imported at start-up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import imported_by

ROOT = Path(__file__).parents[1]
HOUSE = ("glt", "analysis", "app")
SCREEN = {"streamlit", "plotly", "pyvis", "matplotlib"}
TRAINING = {"torch", "torch_geometric", "ogb"}
FORBIDDEN = {
    "glt": SCREEN | {"analysis", "app", "tests", "benchmarks", "examples"},
    "analysis": TRAINING | {"streamlit", "app", "tests", "benchmarks", "examples"},
    "app": TRAINING | {"tests", "benchmarks", "examples"},
}
# A part of glt imports from its own level and those before it.
LEVELS = [
    level.split()
    for level in (
        "errors formats registry seeds user_path verdicts zip_files config masks datasets scores "
        "receptive_field sparse random_masks",
        "models training",
        "methods pretraining",
        "presets cost store removal_causes results_version",
        "lottery ticket_file",
        "jobs",
        "reproduction doctor",
        "cli __main__",
    )
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield every module a tree imports, in functions too; `from a import b` as a.b, since b may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_of(path: Path) -> set[str]:
    return set(imports(ast.parse(path.read_text(encoding="utf-8"))))


def part_of(module: str) -> str | None:
    """Name the part of glt that a dotted name lies in; None for glt itself and for names of other packages."""
    head, *rest = module.split(".")
    return rest[0] if head == "glt" and rest and rest[0] in LEVEL else None


@pytest.mark.parametrize("package", HOUSE)
def test_a_package_imports_nothing_above_it(package: str) -> None:
    assert sources(package)
    found = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sources(package)
        for module in imports_of(path)
        if module.split(".")[0] in FORBIDDEN[package]
    ]
    assert not found, found


def test_every_part_of_glt_has_a_level() -> None:
    parts = {path.name for path in (ROOT / "glt").iterdir() if (path / "__init__.py").exists()}
    parts |= {path.stem for path in (ROOT / "glt").glob("*.py")} - {"__init__"}
    assert not parts - set(LEVEL), "add the new part to LEVELS"


def test_glt_imports_only_downwards() -> None:
    found = []
    for path in sources("glt"):
        own = path.relative_to(ROOT / "glt").parts[0].removesuffix(".py")
        below = LEVEL.get(own, len(LEVELS))
        for module in imports_of(path):
            part = part_of(module)
            if part is not None and LEVEL[part] > below:
                found.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not found, found


def test_the_app_imports_no_torch() -> None:
    """A page must open at once: torch takes seconds and hundreds of megabytes."""
    modules = {
        module
        for package in ("analysis", "app")
        for path in sources(package)
        for module in imports_of(path)
        if module.split(".")[0] in {"glt", "analysis"}
    }
    code = f"""
import importlib
for name in {sorted(modules)!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        owner, _, attribute = name.rpartition(".")
        getattr(importlib.import_module(owner), attribute)
registries = ["glt.datasets.DATASETS", "glt.methods.METHODS", "glt.models.MODELS", "glt.training.tasks.TASKS"]
for name in [*registries, "glt.scores.SCORES", "glt.pretraining.augmentations.AUGMENTATIONS"]:
    owner, _, registry = name.rpartition(".")
    assert getattr(importlib.import_module(owner), registry).names()
"""
    assert modules
    assert imported_by(code, "torch torch_geometric ogb streamlit") == set()


@pytest.mark.parametrize("page", ["curves", "compare", "measurements", "tickets", "launch", "runs"])
def test_pages_without_paper_figures_do_not_import_matplotlib(page: str) -> None:
    assert imported_by(f"import app.views.{page}", "matplotlib igraph") == set()
