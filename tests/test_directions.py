"""Imports: directions between packages, declared dependencies, and how many files a run and a page enter."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ("glt", "analysis", "app")
SCREEN = {"streamlit", "plotly", "pyvis", "matplotlib"}
TRAINING = {"torch", "torch_geometric", "ogb"}
FORBIDDEN = {
    "glt": SCREEN | {"analysis", "app", "tests", "benchmarks", "examples"},
    "analysis": TRAINING | {"streamlit", "app", "tests", "benchmarks", "examples"},
    "app": TRAINING | {"tests", "benchmarks", "examples"},
}
# A part of glt imports from its own floor and those before it.
FLOORS = [
    floor.split()
    for floor in (
        "errors formats registry seeds user_path verdicts zip_files config masks datasets receptive_field sparse",
        "models training",
        "methods pretraining",
        "presets cost store removal_causes results_version",
        "lottery ticket_file",
        "jobs",
        "reproduction doctor",
        "cli __main__",
    )
]
FLOOR = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}


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
    return rest[0] if head == "glt" and rest and rest[0] in FLOOR else None


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
    assert not parts - set(FLOOR), "say in FLOORS where the new part stands"


def test_glt_imports_only_downwards() -> None:
    found = []
    for path in sources("glt"):
        own = path.relative_to(ROOT / "glt").parts[0].removesuffix(".py")
        below = FLOOR.get(own, len(FLOORS))
        for module in imports_of(path):
            part = part_of(module)
            if part is not None and FLOOR[part] > below:
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
import importlib, sys
for name in {sorted(modules)!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        owner, _, attribute = name.rpartition(".")
        getattr(importlib.import_module(owner), attribute)
registries = ["glt.datasets.DATASETS", "glt.methods.METHODS", "glt.models.MODELS", "glt.training.tasks.TASKS"]
for name in [*registries, "glt.pretraining.augmentations.AUGMENTATIONS"]:
    owner, _, registry = name.rpartition(".")
    assert getattr(importlib.import_module(owner), registry).names()
heavy = {{"torch", "torch_geometric", "ogb", "streamlit"}} & set(sys.modules)
assert not heavy, heavy
"""
    assert modules
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", ["curves", "compare", "measurements", "tickets", "launch", "runs"])
def test_pages_without_paper_figures_do_not_import_matplotlib(page: str) -> None:
    code = (
        f"import sys, app.views.{page}; heavy = {{'matplotlib', 'igraph'}} & set(sys.modules); assert not heavy, heavy"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr


# Dependencies.


OURS = {*HOUSE, "benchmarks", "examples", "docs", "tests"}
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


# Files that are entered: a function of their own is called; imports and `__init__.py` do not count.


# Limits against growth. The goal is 35 for each process of a run and 40 for the page.
MOST_OF_A_COMMAND, MOST_OF_A_WORKER, MOST_OF_A_PAGE = 35, 49, 60

# Runs at the start of every Python process: notes each file of the product in which a function begins. Only functions
# have the flag 1 (CO_OPTIMIZED), which bodies of modules and classes lack.
TRACE = """
import os, sys, threading

ROOT, NOTES = {root!r}, {notes!r}
PACKAGES = tuple(os.path.join(ROOT, name) + os.sep for name in ("glt", "analysis", "app"))
seen, known = set(), {{}}

def enter(frame, event, argument):
    code = frame.f_code
    name = code.co_filename
    ours = known.get(name)
    if ours is None:
        ours = known[name] = name.startswith(PACKAGES) and not name.endswith("__init__.py")
    if ours and name not in seen and code.co_flags & 1 and (code.co_name[0] != "<" or code.co_name == "<lambda>"):
        seen.add(name)
        with open(os.path.join(NOTES, str(os.getpid())), "a") as notes:
            notes.write(os.path.relpath(name, ROOT) + "\\n")

threading.settrace(enter)
sys.settrace(enter)
"""
RUN = "-m glt run --dataset cora --set rounds=1 epochs=3 retrain_epochs=3 hidden=8 --store store".split()
PAGE = """
import os, sys
sys.path.insert(0, {root!r})
os.chdir({root!r})
from tests.opening import open_at
page = open_at("curves", {{}})
assert not page.exception, page.exception
assert page.get("plotly_chart"), "no figure"
"""


def entered(tmp_path: Path, arguments: list[str]) -> list[list[str]]:
    """Run a Python process; return, for it and each of its children, the files in which it called a function."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "sitecustomize.py").write_text(TRACE.format(root=str(ROOT), notes=str(notes)))
    own = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "GLT_STORE": str(tmp_path / "store")}
    own |= {"XDG_STATE_HOME": str(tmp_path / "state"), "GLT_CACHE": str(tmp_path / "cache")}
    subprocess.run([sys.executable, *arguments], check=True, cwd=tmp_path, env={**os.environ, **own})
    return [sorted(path.read_text().split()) for path in notes.iterdir()]


def test_number_of_files_entered_by_a_run(tmp_path: Path) -> None:
    """The command and its worker, each; both together are printed."""
    processes = sorted(entered(tmp_path, RUN), key=lambda files: "glt/jobs/worker.py" in files)
    together = sorted(set().union(*processes))
    print(f"glt run: {[len(files) for files in processes]} files, together {len(together)}", *together, sep="\n")
    command, worker = processes
    assert 0 < len(command) <= MOST_OF_A_COMMAND
    assert 0 < len(worker) <= MOST_OF_A_WORKER


def test_number_of_files_entered_by_the_curves_page(tmp_path: Path) -> None:
    """Its first opening over the bundled examples."""
    found = max(entered(tmp_path, ["-c", PAGE.format(root=str(ROOT))]), key=len)
    print(f"page of curves: {len(found)} files", *found, sep="\n")
    assert "app/main.py" in found
    assert len(found) <= MOST_OF_A_PAGE
