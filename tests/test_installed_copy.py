"""`pip install .` into a separate environment: everything works from any folder, without the checkout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest

from glt.store import bundled_examples
from tests.opening import started

ROOT = Path(__file__).parents[1]
# Files of a checkout that are made on the machine.
MADE = {".git", ".venv", "build", "dist", "runs"}
# Python 3.10 always looks into the working folder first.
OTHERS = ("glt", "analysis", "app") if sys.version_info >= (3, 11) else ()
SHORT = ("--set", "rounds=1", "epochs=1", "retrain_epochs=1", "hidden=8")
LOOK = """
import importlib.util, json, glt
from glt.datasets import load_graph
from glt.store import bundled_examples
print(json.dumps({
    "place": glt.__file__,
    "examples": [run.name for run in bundled_examples()],
    "nodes": load_graph("cora").num_nodes,
    "others": [name for name in ("benchmarks", "tests", "examples") if importlib.util.find_spec(name)],
}))
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with an installed copy; the packages it needs are those of this Python."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(ROOT, folder / "source", ignore=_made)
    venv.create(folder / "environment", with_pip=False, symlinks=True)
    python = folder / "environment" / "bin" / "python"
    site = _site(folder / "environment")
    # A line of a .pth adds a folder and not the .pth files in it: the checkout's own installation stays out.
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps"]
    options = ["--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run([*pip, *options, str(folder / "source")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "source")
    return folder / "environment"


@pytest.fixture
def run_command(environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command of the environment from an unrelated folder."""
    for name in ("GLT_STORE", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)

    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(environment / "bin" / name), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    return run


def test_the_wheel_holds_command_examples_and_data(environment: Path, run_command: Command) -> None:
    assert "studio" in run_command("glt", "--help").stdout
    found = json.loads(run_command("python", "-c", LOOK).stdout)
    assert Path(found["place"]).is_relative_to(environment)
    assert found["examples"] == [run.name for run in bundled_examples()]
    assert found["examples"]
    assert found["nodes"] == 2708
    assert found["others"] == []
    # Nothing of the packages is missing: every file that is no Python source too.
    for package in ("app", "glt", "analysis"):
        ours = {path.relative_to(ROOT) for path in (ROOT / package).rglob("*") if path.is_file()}
        kept = {path for path in ours if "__pycache__" not in path.parts}
        assert not [path for path in kept if not (_site(environment) / path).is_file()]


def test_wheel_dependencies_equal_the_pins(environment: Path, run_command: Command) -> None:
    lines = (line.strip() for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines())
    pinned = {_plain(line) for line in lines if line and not line.startswith(("#", "-"))}
    metadata = next(_site(environment).glob("glt_studio-*.dist-info/METADATA")).read_text(encoding="utf-8")
    declared = Parser().parsestr(metadata).get_all("Requires-Dist") or []
    assert {_plain(each) for each in declared} == pinned
    # The doctor compares with what the installed copy declares.
    assert "no pinned versions found" not in run_command("glt", "doctor").stdout


def test_the_installed_command_works_from_any_folder(run_command: Command, tmp_path: Path) -> None:
    # Workers do not import another package of that name from the working folder.
    for name in OTHERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('code of the working folder ran')\n")
    run_command("glt", "run", "--dataset", "cora", "--seeds", "0", *SHORT)
    listed = json.loads(run_command("glt", "list", "--json").stdout)
    assert [each["seeds"] for each in listed] == [{"0": "done"}]
    measured = run_command("glt", "measure", listed[0]["run"], "--round", "1", "--json").stdout
    assert json.loads(measured)["original"]["nodes"] == 2708


@pytest.mark.parametrize("way", ["the script", "glt studio"])
def test_the_installed_app_is_protected(way: str, environment: Path, tmp_path: Path) -> None:
    script = [environment / "bin" / "python", "-m", "streamlit", "run", _site(environment) / "app" / "main.py"]
    command = {"the script": script, "glt studio": [environment / "bin" / "glt", "studio"]}[way]
    with started(command, tmp_path, tmp_path) as server:
        server.assert_serves_this_machine_alone()


def _site(environment: Path) -> Path:
    return environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def _made(folder: str, names: list[str]) -> set[str]:
    made = {name for name in names if name == "__pycache__" or name.endswith((".egg-info", "_cache"))}
    return made | (MADE & set(names) if Path(folder) == ROOT else set())


def _plain(requirement: str) -> str:
    return requirement.replace(" ", "").replace("'", '"')
