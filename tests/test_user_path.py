"""User folders: `~` in every argument and variable that is a path, no home folder, no writable cache."""

from __future__ import annotations

import json
import logging
import os
import pwd
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.measures import cache
from app.command import main
from app.main import PAGES
from app.tour import ended_file
from app.views.run_detail import short
from glt.datasets import load_graph
from glt.datasets.cache import only_cached
from glt.errors import ConfigError, DataError
from glt.presets import resolve
from glt.store import Run, Store
from glt.store.paths import EXAMPLES
from glt.user_path import cache_folder, data_root, default_store, state_folder, user_path
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as store  # noqa: PLC0414
from tests.opening import load_settings, started

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
    ("verb", "written"),
    [
        ("export {} --round=1 --format=csv", "x.csv"),
        ("table tickets {} --format=csv", "t.csv"),
        ("figure layers {}", "f.pdf"),
    ],
)
def test_tilde_in_output_paths_is_the_home_folder(home: Path, verb: str, written: str) -> None:
    assert main([*verb.format(EXAMPLE).split(), HERE, f"--out=~/{written}"]) == 0
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


def test_tilde_in_every_path_variable(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GLT_STORE", "GLT_CACHE", "GLT_DATA", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, f"~/{variable}")
    assert default_store() == home / "GLT_STORE"
    assert cache_folder() == home / "GLT_CACHE"
    assert data_root() == home / "GLT_DATA"
    assert ended_file().is_relative_to(home / "XDG_STATE_HOME")
    monkeypatch.delenv("GLT_CACHE")
    assert cache_folder() == home / "XDG_CACHE_HOME" / "glt-studio"


def test_a_folder_named_tilde(home: Path) -> None:
    there = Path.cwd() / "~" / "runs"
    assert user_path("./~/runs") == Store("./~/runs").root == there
    # Paths passed to pages and workers lead to the same folder.
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


ROOT = Path(__file__).parents[1]
SITE = Path(__file__).parent / "odd_machine"
STUDIO = (sys.executable, "-c", "import sys; from app.command import main; sys.exit(main())", "studio")


@pytest.fixture
def no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a home folder; returns the folder of temporary files."""

    # Streamlit looks for settings in the home folder; `glt studio` gives it another one.
    load_settings()

    def unknown(number: int) -> pwd.struct_passwd:
        raise KeyError(number)

    for variable in ("HOME", "GLT_CACHE", "GLT_DATA", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that cannot be made: below a file."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "file" / "cache"))
    cache._warn_once.cache_clear()
    return tmp_path / "file" / "cache"


def test_the_fallback_cache_is_private_to_the_user(no_home: Path) -> None:
    own = no_home / f"glt-studio-{os.getuid()}"
    assert cache_folder() == own / ".cache" / "glt-studio"
    assert data_root() == cache_folder() / "data"
    assert state_folder() == own / ".local" / "state" / "glt-studio"
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert short(no_home) == str(no_home)


@pytest.mark.parametrize("taken", ["open to all", "a link", "of another user"])
def test_a_cache_writable_by_others_is_not_read(
    taken: str, no_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = no_home / f"glt-studio-{os.getuid()}"
    if taken == "a link":
        own.symlink_to(tmp_path)
    else:
        own.mkdir()
        own.chmod(0o777 if taken == "open to all" else 0o700)
    if taken == "of another user":
        number = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: number)
        own.rename(no_home / f"glt-studio-{number}")
    with pytest.raises(ConfigError, match=r"not a folder of this user's alone: set GLT_CACHE and GLT_DATA"):
        cache_folder()


def test_commands_work_without_a_home_folder(
    no_home: Path, make_run: Callable[..., Run], store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run("ugs")
    place = ("--store", str(store.root))
    assert main(["doctor", *place, "--json"]) in (0, 1)
    assert str(cache_folder()) in json.loads(capsys.readouterr().out)["machine"]["lines"][2]
    assert main(["measure", run.name, "--round", "1", "--json", *place]) == 0
    assert main(["betweenness", run.name, "--round", "1", "--sample", "2", *place]) == 0
    assert {path.name for path in cache_folder().iterdir()} == {"measures", "betweenness"}


@pytest.mark.parametrize("name", [title.lower() for title in PAGES])
def test_pages_open_without_a_home_folder(
    name: str, no_home: Path, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    app = open_page(name)
    assert not app.exception
    assert not app.error


def test_subprocesses_work_without_a_home_folder(tmp_path: Path) -> None:
    unset = {"GLT_CACHE", "GLT_DATA", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"PYTHONPATH": os.pathsep.join([str(SITE), str(ROOT)]), "TMPDIR": str(tmp_path), "NO_HOME": "yes"}
    (tmp_path / "store").mkdir()
    command = [sys.executable, "-m", "glt", "doctor", "--store", str(tmp_path / "store")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert f"Data in {tmp_path / f'glt-studio-{os.getuid()}'}" in done.stdout


def test_the_app_starts_without_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SITE), str(ROOT)]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("NO_HOME", "yes")
    with started(STUDIO, tmp_path, tmp_path) as server:
        server.assert_serves_this_machine_alone()


def test_an_unwritable_cache_is_reported_once(
    unwritable: Path, make_run: Callable[..., Run], store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    run = make_run("ugs")
    place = ("--store", str(store.root))
    with caplog.at_level(logging.WARNING):
        assert main(["measure", run.name, "--round", "1", "--json", *place]) == 0
        assert main(["betweenness", run.name, "--round", "1", "--sample", "2", *place]) == 0
    printed = [record.getMessage() for record in caplog.records if record.name.startswith("analysis")]
    assert printed == [
        f"Measured values are not saved, because the cache folder {unwritable} cannot be written (Not a directory): "
        "set GLT_CACHE to a writable folder."
    ]


def test_a_large_graph_without_a_cache_names_the_cache(
    unwritable: Path, test_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_DATA", str(test_data / "ogb_sample"))
    only_cached.set()
    with pytest.raises(DataError, match=re.escape(f"cannot be cached in {unwritable / 'graphs'}: set GLT_CACHE")):
        load_graph("ogbn-arxiv")


def test_environment_variables_are_documented() -> None:
    table = (ROOT / "docs" / "trouble.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    sources = [path for part in ("glt", "analysis", "app") for path in (ROOT / part).rglob("*.py")]
    read = {name for path in sources for name in re.findall(r"\bGLT_[A-Z_]+\b", path.read_text(encoding="utf-8"))}
    assert read == {name for name in documented if name.startswith("GLT_")}
