"""Where `--out` leads: a file is replaced whole, a link stays a link, a device or a pipe is written into."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.cli.main import main as analysis_main
from glt.cli.main import main
from glt.store.paths import EXAMPLES

RUN = next(path.name for path in sorted(EXAMPLES.iterdir()) if path.name.startswith("cora-node-gcn-ugs"))
STORE = ["--store", str(EXAMPLES)]
VERBS: dict[str, tuple[Callable[[list[str]], int], list[str]]] = {
    "export": (main, ["export", RUN, *STORE, "--round", "1", "--format", "csv"]),
    "table": (analysis_main, ["table", "tickets", RUN, *STORE, "--format", "csv"]),
}


@pytest.fixture(params=VERBS)
def run(request: pytest.FixtureRequest) -> Callable[[Path], int]:
    """Run a verb that writes a file, into the file that is given."""
    command, arguments = VERBS[request.param]
    return lambda out: command([*arguments, "--out", str(out)])


def test_a_link_stays_and_leads_to_what_was_written(run: Callable[[Path], int], tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to("real.csv")
    assert run(link) == 0
    assert link.is_symlink()
    assert "," in (tmp_path / "real.csv").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "real.csv"]


def test_a_pipe_stays_and_is_written_into(run: Callable[[Path], int], tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    assert run(pipe) == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(timeout=60)
    assert "," in found[0]


def test_a_folder_is_one_sentence(
    run: Callable[[Path], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"{tmp_path} cannot be written" in told
    assert "give another --out" in told
    assert list(tmp_path.iterdir()) == []


def test_links_that_lead_to_each_other_are_one_sentence(
    run: Callable[[Path], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    assert run(loop) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"{loop} cannot be written" in told
    assert loop.is_symlink()
