"""What is imported is what is declared, every direct dependency is pinned, and the guide says what each is for."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("glt", "analysis", "app")
OURS = {*PRODUCT, "benchmarks", "examples", "docs", "tests"}
# Names to import that are not those of the package.
PACKAGES = {"torch_geometric": "torch-geometric", "pydantic_core": "pydantic", "PIL": "pillow"}
PIN = re.compile(r'([a-z0-9-]+)==[\d.]+( ; python_version (>=|<) "3\.11")?')
# Of ogb only the evaluators run, loaded from their file (see glt/training/metrics.py).
NAMED = {"ogb"}
# Written out by one of the others or run as a program.
PROGRAMS = {"pytest-xdist", "mypy", "ruff", "types-psutil", "pip-audit", "setuptools"}


def declared(name: str) -> set[str]:
    lines = (line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    asked = [line for line in lines if line and not line.startswith(("#", "-"))]
    assert all(PIN.fullmatch(line) for line in asked), [line for line in asked if not PIN.fullmatch(line)]
    return {line.partition("==")[0] for line in asked}


def imported(*folders: str) -> set[str]:
    """Return the packages that any file below these folders imports, in functions too."""
    found = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return {PACKAGES.get(name, name) for name in found if name not in sys.stdlib_module_names} - OURS


def test_the_product_imports_what_is_declared_and_nothing_else() -> None:
    assert imported(*PRODUCT) | NAMED == declared("requirements.txt")


def test_tests_import_what_is_declared_and_nothing_else() -> None:
    own = imported("tests", "benchmarks", "examples", "docs") - declared("requirements.txt")
    assert own - {"sitecustomize", "starlette"} == declared("requirements-dev.txt") - PROGRAMS


def test_the_guide_says_what_each_is_for() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = " ".join(line.partition("|")[2].partition("|")[0] for line in guide.splitlines() if line.startswith("|"))
    named = set(re.findall(r"[a-z0-9-]+", rows))
    assert declared("requirements.txt") | declared("requirements-dev.txt") <= named


def test_nothing_is_evaluated_or_unpickled() -> None:
    """No file of the product calls what runs code out of data, save torch.load under its list of what may be made."""
    banned = {"eval", "exec", "compile", "__import__"}
    modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "code"}
    assert not modules & {module.partition(".")[0] for module in _modules()}
    for path in (path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in banned, path
            if isinstance(node, ast.Call):
                given = {word.arg: word.value for word in node.keywords}
                assert "allow_pickle" not in given or ast.unparse(given["allow_pickle"]) == "False", path
                assert "weights_only" not in given, path
                assert "shell" not in given, path


def _modules() -> set[str]:
    found = set()
    for path in (path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
    return found
