"""Stores in odd places: names that people give folders, links, relative and overlong paths, and what is no folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glt.cli.main import main
from glt.store import Store
from tests.faults.effort import THOROUGH

SETTINGS = ("--set", "rounds=1", "retrain_epochs=2", "epochs=1", "hidden=16")
# Relative, through a link, and named as people name things.
NAMED = "../here/link/Läufe 2026, 图 🎟 'quoted' $HOME; *"
# As deep as the names of a run's files allow: a path holds 4,096 bytes.
DEEP = "/".join(["d" * 200] * 18)


def glt(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}{os.pathsep}{Path.cwd()}"}
    command = [sys.executable, "-m", "glt", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize("place", [NAMED, *([DEEP] if THOROUGH else [])])
def test_a_run_is_computed_and_listed(tmp_path: Path, place: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "real").mkdir()
    (here / "link").symlink_to(tmp_path / "real")
    done = glt("run", "--store", place, *SETTINGS, folder=here)
    assert done.returncode == 0, done.stderr
    listed = json.loads(glt("list", "--store", place, "--json", folder=here).stdout)
    assert [each["seeds"] for each in listed] == [{"0": "done"}]
    assert Store(here / place).runs()[0].seed(0).whole_rounds() == 2


def one_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a verb that must fail with one line, and return that."""
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    return err


@pytest.mark.parametrize("verb", ["list", "run"])
def test_a_store_that_is_a_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    (tmp_path / "file").write_text("no folder")
    err = one_line(capsys, verb, "--store", str(tmp_path / "file"), *(SETTINGS if verb == "run" else ()))
    assert str(tmp_path / "file") in err
    assert (tmp_path / "file").read_text() == "no folder"


@pytest.mark.parametrize("place", ["n" * 300, "/".join(["n" * 200] * 30)], ids=["a name", "a path"])
@pytest.mark.parametrize("verb", ["list", "run"])
def test_what_is_too_long_for_a_file_system_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, place: str
) -> None:
    one_line(capsys, verb, "--store", str(tmp_path / place), *(SETTINGS if verb == "run" else ()))
