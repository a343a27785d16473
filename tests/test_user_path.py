"""A `~` that the shell left alone is the home folder, in every argument and variable that is a path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.cli.main import main as analysis_main
from app.data.runs import store_root
from app.tour import ended_file
from glt.cli.main import main
from glt.errors import ConfigError
from glt.presets import resolve
from glt.store import Store
from glt.store.paths import EXAMPLES
from glt.user_path import cache_folder, data_root, user_path

EXAMPLE = next(path.name for path in sorted(EXAMPLES.iterdir()) if path.name.startswith("cora-node-gcn-ugs"))
HERE = f"--store={EXAMPLES}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder; the working folder is an empty one beside it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("run", "arguments", "written"),
    [
        (main, ["export", EXAMPLE, HERE, "--round=1", "--format=csv", "--out=~/x.csv"], "x.csv"),
        (analysis_main, ["table", "tickets", EXAMPLE, HERE, "--format=csv", "--out=~/t.csv"], "t.csv"),
        (analysis_main, ["figure", "layers", EXAMPLE, HERE, "--out=~/f.pdf"], "f.pdf"),
    ],
)
def test_what_is_written_lies_in_the_home_folder(
    home: Path, run: Callable[[list[str]], int], arguments: list[str], written: str
) -> None:
    assert run(arguments) == 0
    assert (home / written).is_file()
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("named", ["argument", "variable", "python"])
def test_a_store_in_the_home_folder(home: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("GLT_STORE", "~/runs" if named == "variable" else "other")
    run = Store("~/runs" if named == "python" else home / "runs").create(resolve({}))
    argument = ["--store=~/runs"] if named == "argument" else []
    if named != "python":
        assert main(["annotate", run.name, "--title=Wide", *argument]) == 0
    assert (home / "runs" / run.name).is_dir()
    assert list(Path.cwd().iterdir()) == []


def test_every_variable_that_is_a_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GLT_STORE", "GLT_CACHE", "GLT_DATA", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, f"~/{variable}")
    assert store_root() == home / "GLT_STORE"
    assert cache_folder() == home / "GLT_CACHE"
    assert data_root() == home / "GLT_DATA"
    assert ended_file().is_relative_to(home / "XDG_STATE_HOME")
    monkeypatch.delenv("GLT_CACHE")
    assert cache_folder() == home / "XDG_CACHE_HOME" / "glt-studio"


def test_a_folder_that_is_called_so(home: Path) -> None:
    there = Path.cwd() / "~" / "runs"
    assert user_path("./~/runs") == Store("./~/runs").root == there
    # What a page or a worker is told of a run leads to the same folder.
    run = Store("./~/runs").create(resolve({}))
    assert Store("other").find(str(run.path)).path == there / run.name


def test_an_unknown_home_folder_is_one_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--store=~nobody-of-this-name/runs"]) == 2
    assert "The home folder '~nobody-of-this-name'" in capsys.readouterr().err
    assert main(["show", "~nobody-of-this-name/runs/x"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setenv("GLT_DATA", "~nobody-of-this-name/data")
    with pytest.raises(ConfigError, match="GLT_DATA cannot be used"):
        data_root()
