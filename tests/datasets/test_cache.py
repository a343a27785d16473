"""Work that processes want to do at once: one after the other; and what killed ones left behind goes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glt.datasets.cache import file_lock, scratch_folder

OTHER = """
import sys
from pathlib import Path
from glt.datasets.cache import file_lock
print("started", flush=True)
with file_lock(Path(sys.argv[1]), "reading"):
    print(Path(sys.argv[2]).exists(), flush=True)
"""


def test_a_second_process_waits_and_says_so(tmp_path: Path) -> None:
    done = tmp_path / "done"
    with file_lock(tmp_path / "locks" / "lock", "reading"):
        other = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(tmp_path / "locks" / "lock"), str(done)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert other.stdout is not None
        assert other.stderr is not None
        assert other.stdout.readline() == "started\n"
        assert other.stderr.readline() == "Waiting: another process is reading.\n"
        done.touch()
    assert other.communicate(timeout=1800)[0] == "True\n"


def test_where_no_lock_can_be_made_the_work_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    entered = False
    with file_lock(tmp_path / "file" / "lock", "reading"):
        entered = True
    assert entered
    assert capsys.readouterr().err == ""


def test_an_error_inside_gives_the_lock_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no"), file_lock(tmp_path / "lock", "reading"):
        raise ValueError("no")
    with file_lock(tmp_path / "lock", "reading"):
        assert capsys.readouterr().err == ""


def test_what_a_killed_process_left_goes_and_what_another_needs_stays(tmp_path: Path) -> None:
    for name in (".ogb-old", ".ogb-new", "mine-old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    long_ago = time.time() - 2 * 86_400
    for name in (".ogb-old", "mine-old"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    with scratch_folder(tmp_path, ".ogb-") as made:
        assert made.parent == tmp_path
        assert {path.name for path in tmp_path.iterdir()} == {".ogb-new", "mine-old", made.name}
    assert not made.exists()
