"""Dependencies: imports equal the pinned requirements, and nothing of the product evaluates or unpickles data."""

from __future__ import annotations

import ast
import re
import sys

from tests.test_directions import HOUSE, ROOT, imports, imports_of, sources

OURS = {*HOUSE, "benchmarks", "examples", "docs", "tests"}
# Names to import that are not those of the package.
PACKAGES = {"torch_geometric": "torch-geometric", "pydantic_core": "pydantic", "PIL": "pillow"}
PIN = re.compile(r'([a-z0-9-]+)==[\d.]+( ; python_version (>=|<) "3\.11")?')
# Of ogb only the evaluators run, loaded from their file (see glt/training/metrics.py).
NAMED = {"ogb"}
# Declared for its programs or plugins, or pinned for another package.
PROGRAMS = {"pytest-xdist", "mypy", "ruff", "types-psutil", "pip-audit", "setuptools"}


def declared(name: str) -> set[str]:
    lines = (line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    pins = [line for line in lines if line and not line.startswith(("#", "-"))]
    assert all(PIN.fullmatch(line) for line in pins), [line for line in pins if not PIN.fullmatch(line)]
    return {line.partition("==")[0] for line in pins}


def imported(*folders: str) -> set[str]:
    """Return the packages that any file below these folders imports, in functions too."""
    found = {module.partition(".")[0] for folder in folders for path in sources(folder) for module in imports_of(path)}
    return {PACKAGES.get(name, name) for name in found if name not in sys.stdlib_module_names} - OURS


def test_product_imports_equal_requirements() -> None:
    assert imported(*HOUSE) | NAMED == declared("requirements.txt")


def test_test_imports_equal_requirements() -> None:
    own = imported("tests", "benchmarks", "examples", "docs") - declared("requirements.txt")
    assert own - {"sitecustomize", "starlette"} == declared("requirements-dev.txt") - PROGRAMS


def test_the_guide_explains_every_dependency() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = " ".join(line.partition("|")[2].partition("|")[0] for line in guide.splitlines() if line.startswith("|"))
    named = set(re.findall(r"[a-z0-9-]+", rows))
    assert declared("requirements.txt") | declared("requirements-dev.txt") <= named


def test_nothing_is_evaluated_or_unpickled() -> None:
    """No file of the product calls what runs code out of data, save torch.load under its list of what may be made."""
    banned = {"eval", "exec", "compile", "__import__"}
    modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "code"}
    for path in (path for folder in HOUSE for path in sources(folder)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not modules & {module.partition(".")[0] for module in imports(tree)}, path
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            assert not (isinstance(call.func, ast.Name) and call.func.id in banned), path
            given = {word.arg: ast.unparse(word.value) for word in call.keywords}
            assert given.get("allow_pickle", "False") == "False", path
            assert not {"weights_only", "shell"} & given.keys(), path
