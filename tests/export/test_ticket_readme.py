"""Somebody who has nothing but the zip: its README holds a whole program, which runs where there is no glt."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.export.archive import ticket_bytes
from glt.export.readme import SHARED, loaders
from glt.export.ticket import Ticket, make_ticket
from glt.models import MODELS
from glt.store import SeedRun
from tests.export.test_plain_pyg import LINK, blocks_of

WITHOUT_US = """
import runpy, sys
for name in ("glt", "analysis", "app"):
    sys.modules[name] = None
runpy.run_path("load.py", run_name="__main__")
"""


def program(readme: str) -> str:
    (block,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    return block


def run_readme(ticket: Ticket, folder: Path, unpacked: bool = False) -> str:
    """Do what the README of a ticket file says, with the file alone; return what the program prints."""
    content = ticket_bytes(ticket)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (folder / "load.py").write_text(program(archive.read("README.md").decode()), encoding="utf-8")
        if unpacked:
            archive.extractall(folder / "ticket")
        else:
            (folder / "ticket.zip").write_bytes(content)
    name = "ticket" if unpacked else "ticket.zip"
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_US, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gcn"},
        {"model": "gcn", **LINK},
        {"model": "gin", "preset": "official"},
        {"model": "gat", "gat_heads": 2},
        {"model": "resgcn", "layers": 3},
    ],
    ids=lambda settings: " ".join(map(str, settings.values())),
)
def test_the_program_in_the_readme_runs_without_glt(
    draw: Callable[..., SeedRun], tmp_path: Path, settings: dict[str, object]
) -> None:
    told = run_readme(make_ticket(draw(**settings), 1), tmp_path)
    assert "the outputs are those of the file: [2708, " in told
    assert ("test accuracy: " in told) == (settings.get("task") != "link")


def test_it_finds_the_score_that_the_file_states_in_the_unpacked_folder_too(ticket: Ticket, tmp_path: Path) -> None:
    told = run_readme(ticket, tmp_path, unpacked=True)
    assert float(told.split("test accuracy: ")[1]) == pytest.approx(ticket.about.record.test, abs=1e-9)


def test_a_zip_that_was_packed_again_in_a_folder_runs_too(ticket: Ticket, tmp_path: Path) -> None:
    content = ticket_bytes(ticket)
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(tmp_path / "again.zip", "w") as again:
        (tmp_path / "load.py").write_text(program(archive.read("README.md").decode()), encoding="utf-8")
        for name in archive.namelist():
            again.writestr(f"my ticket/{name}", archive.read(name))
            again.writestr(f"__MACOSX/my ticket/._{name}", b"junk")
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_US, "again.zip"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the outputs are those of the file" in done.stdout


def test_other_outputs_end_the_program(ticket: Ticket, tmp_path: Path) -> None:
    """The program compares: it must not pass whatever the file holds."""
    ticket.weights["layers.1.weight"][0] += 1.0
    with pytest.raises(AssertionError, match="other outputs than the file's"):
        run_readme(ticket, tmp_path)


def test_the_readme_points_nowhere_that_is_not_there(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        readme = archive.read("README.md").decode()
    assert "docs/" not in readme


def test_document_and_readme_have_the_same_loaders() -> None:
    *documented, _ = blocks_of("Load it in plain PyTorch Geometric")
    assert documented == list(loaders().values())
    assert set(loaders()) == {SHARED, *MODELS.names()}
