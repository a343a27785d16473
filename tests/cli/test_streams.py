"""Standard streams that are closed, full or of ASCII alone, readers that leave, and where `--out` leads."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.cli.main import main as analysis_main
from glt.cli.main import main
from glt.store import Store
from glt.store.paths import EXAMPLES

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANG": "C"}
UGS, RANDOM = (
    next(path.name for path in sorted(EXAMPLES.iterdir()) if path.name.startswith(f"cora-node-gcn-{method}"))
    for method in ("ugs", "random")
)
READING = {
    "list": ["glt", "list"],
    "list --json": ["glt", "list", "--json"],
    "show": ["glt", "show", UGS],
    "doctor": ["glt", "doctor", UGS],
    "cost": ["glt", "cost", UGS, "--round", "1"],
    "annotate": ["glt", "annotate", UGS],
    "reproduce": ["glt", "reproduce"],
    "leaders": ["analysis", "leaders", UGS, RANDOM],
    "compare": ["analysis", "compare", UGS, RANDOM],
    "measure": ["analysis", "measure", UGS, "--round", "1"],
    "explain": ["analysis", "measure", "--explain"],
    "betweenness": ["analysis", "betweenness", UGS, "--round", "1", "--sample", "16"],
    "table": ["analysis", "table", "tickets", UGS],
    "help": ["glt", "--help"],
}
CLOSED = {"out": ">&-", "err": "2>&-", "both": ">&- 2>&-", "in": "<&-", "all": "<&- >&- 2>&-"}


@pytest.fixture
def titled(tmp_path: Path) -> Path:
    """A store of links to two examples, which have titles and notes beyond ASCII."""
    store = tmp_path / "store"
    store.mkdir()
    for name in (UGS, RANDOM):
        (store / name).symlink_to(EXAMPLES / name)
    for name in (UGS, RANDOM):
        Store(store).annotate(name, {"title": f"Größe — {name[14:17]} ✓", "note": "häßlich"})
    return store


def shell(
    arguments: list[str], store: Path, redirection: str = "", **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a verb by a shell, which closes streams; those that read runs get the store."""
    places = [] if arguments[1] in ("reproduce", "--help") or "--explain" in arguments else ["--store", str(store)]
    command = f'exec "$@" {redirection}'
    line = ["sh", "-c", command, "sh", sys.executable, "-m", *arguments, *places]
    environment = {**os.environ, "GLT_CACHE": str(store.parent / "cache"), **variables}
    return subprocess.run(line, capture_output=True, check=False, env=environment, timeout=300)


@pytest.mark.parametrize("verb", READING)
def test_a_closed_output_is_no_error(verb: str, titled: Path) -> None:
    done = shell(READING[verb], titled, CLOSED["all" if verb in ("list", "table") else "out"])
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Unexpected" not in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["err", "both", "in"])
def test_other_closed_streams_are_none_either(closed: str, titled: Path) -> None:
    done = shell(READING["list --json"], titled, CLOSED[closed])
    assert done.returncode == 0
    assert (closed == "both") == (done.stdout == b"")
    assert len(json.loads(done.stdout or b"[1, 2]")) == 2
    assert shell(["glt", "show", "nothing"], titled, CLOSED[closed]).returncode == 1


def test_what_is_printed_ends_in_no_file_that_is_written(tmp_path: Path) -> None:
    """A file that is opened while standard output is closed must not get its number."""
    code = """
import os, sys
from glt.cli.main import prepare_streams
prepare_streams()
file = open("made", "w")
print("lost")
os.write(1, b"lost too")
os.write(2, b"and this")
file.write("kept")
sys.exit(0 if file.fileno() > 2 else 3)
"""
    line = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code]
    assert subprocess.run(line, check=False, cwd=tmp_path).returncode == 0
    assert (tmp_path / "made").read_text() == "kept"


def test_a_full_disk_behind_an_output_is_one_sentence(titled: Path) -> None:
    done = shell(READING["list"], titled, ">/dev/full")
    assert (done.returncode, done.stderr) == (1, b"The file system: No space left on device.\n")
    assert shell(["glt", "show", "nothing"], titled, "2>/dev/full").returncode == 1


@pytest.mark.parametrize("verb", READING)
def test_no_verb_fails_in_a_locale_of_ascii(verb: str, titled: Path) -> None:
    done = shell(READING[verb], titled, **ASCII)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    if verb in ("show", "leaders"):
        assert b"Gr\\xf6\\xdfe" in b"".join(done.stdout.split())


def test_a_table_is_utf_8_whatever_the_locale(titled: Path) -> None:
    done = shell([*READING["table"], "--format", "csv"], titled, **ASCII)
    assert "Größe — ugs ✓" in done.stdout.decode()


def test_a_title_beyond_ascii_is_kept_in_a_locale_of_ascii(titled: Path) -> None:
    done = shell(["glt", "annotate", UGS, "--title", "Größe", "--note", "häßlich, 漢字"], titled, **ASCII)
    assert (done.returncode, done.stderr) == (0, b"")
    (run,) = [run for run in Store(titled).runs() if run.name == UGS]
    assert (run.annotation.title, run.annotation.note) == ("Größe", "häßlich, 漢字")


def test_a_title_that_is_no_utf_8_is_one_sentence(titled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", UGS, "--store", str(titled), "--title", "Gr\udcf6\udcdfe"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "is not valid UTF-8" in told


def test_a_closed_pipe_ends_quietly() -> None:
    line = [sys.executable, "-m", "glt", "list", "--store", str(EXAMPLES)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 0


STORE = ["--store", str(EXAMPLES)]
WRITING: dict[str, tuple[Callable[[list[str]], int], list[str]]] = {
    "export": (main, ["export", UGS, *STORE, "--round", "1", "--format", "csv"]),
    "table": (analysis_main, ["table", "tickets", UGS, *STORE, "--format", "csv"]),
}


@pytest.fixture(params=WRITING)
def write(request: pytest.FixtureRequest) -> Callable[[Path], int]:
    """Run a verb that writes a file, into the file that is given."""
    command, arguments = WRITING[request.param]
    return lambda out: command([*arguments, "--out", str(out)])


def test_a_link_stays_and_leads_to_what_was_written(write: Callable[[Path], int], tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to("real.csv")
    assert write(link) == 0
    assert link.is_symlink()
    assert "," in (tmp_path / "real.csv").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "real.csv"]


def test_a_pipe_stays_and_is_written_into(write: Callable[[Path], int], tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    assert write(pipe) == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(timeout=60)
    assert "," in found[0]


@pytest.mark.parametrize("what", ["a folder", "links that lead to each other"])
def test_what_cannot_be_written_is_one_sentence(
    write: Callable[[Path], int], what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place.csv"
    if what == "a folder":
        place.mkdir()
    else:
        place.symlink_to(place)
    assert write(place) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"{place} cannot be written" in told
    assert "give another --out" in told
    assert list(tmp_path.iterdir()) == [place]
    assert place.is_symlink() or not list(place.iterdir())
