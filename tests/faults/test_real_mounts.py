"""Once more on real file systems, where this process may mount them: one that fills up, and one that is read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.effort import THOROUGH
from tests.faults.equal_runs import comparable

ROOT = Path(__file__).parents[2]
# In a name space of their own; nobody else sees these mounts, and they go with the process.
APART = ["unshare", "--user", "--map-root-user", "--mount"]
RUN = "--set rounds=3 retrain_epochs=3 epochs=1 hidden=16"
FULL = f"""
set -u
mount -t tmpfs -o size=4m tmpfs disk
FAKE_PAUSE=1 FAKE_GATE=$PWD/gate $GLT run --store disk/store {RUN} >first.out 2>first.err & command=$!
while ! grep -qs round disk/store/*/seed-0/rounds.jsonl; do sleep 0.05; done
cat /dev/zero >disk/ballast 2>/dev/null
touch gate
wait $command; echo $? >first.code
$GLT list --store disk/store --json >list.json && $GLT show --store disk/store "$(ls disk/store)" --json >show.json
echo $? >read.code
rm disk/ballast
FAKE_EPOCH=0 $GLT run --store disk/store {RUN} >second.out 2>&1; echo $? >second.code
cp -r disk/store/* found
"""
READ_ONLY = f"""
set -u
FAKE_EPOCH=0 $GLT run --store made {RUN} >made.out 2>&1
mount -t tmpfs -o size=4m tmpfs disk && cp -r made disk/store && mount -o remount,ro disk
$GLT list --store disk/store --json >list.json && $GLT show --store disk/store "$(ls disk/store)" --json >show.json
echo $? >read.code
$GLT run --store disk/store {RUN.replace("hidden=16", "hidden=17")} >first.out 2>first.err; echo $? >first.code
"""


def may_mount(folder: Path) -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    command = [*APART, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder with a mount point, in a test that is skipped where nothing can be mounted."""
    if not THOROUGH:
        pytest.skip("the disk is broken by injection: make faults")
    (tmp_path / "disk").mkdir()
    if not may_mount(tmp_path / "disk"):
        pytest.skip("this process may not mount file systems")
    return tmp_path


def apart(folder: Path, script: str) -> None:
    environment = {
        **os.environ,
        "GLT": f"{sys.executable} -m glt",
        "PYTHONPATH": f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}",
    }
    subprocess.run([*APART, "/bin/sh", "-c", script], cwd=folder, env=environment, check=True, timeout=1800)


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text()


@pytest.mark.usefixtures("fake_engine")
def test_a_disk_that_fills_up_while_a_run_computes(disk: Path) -> None:
    (disk / "found").mkdir()
    apart(disk, FULL)
    assert read(disk, "first.code") == "1\n"
    err = read(disk, "first.err")
    assert "Seed 0 failed: " in err
    assert "could not be written because the disk is full: free some space, then resume the run." in err
    assert err.count("\n") == 1
    assert read(disk, "read.code") == "0\n"
    assert '"state":"failed"' in read(disk, "show.json").replace(" ", "")
    assert read(disk, "second.code") == "0\n"
    apart(disk, f"FAKE_EPOCH=0 $GLT run --store reference {RUN} >reference.out")
    (found,), (reference,) = (disk / "found").iterdir(), (disk / "reference").glob("cora*")
    assert comparable(found) == comparable(reference)


@pytest.mark.usefixtures("fake_engine")
def test_a_file_system_that_is_read_only(disk: Path) -> None:
    apart(disk, READ_ONLY)
    assert read(disk, "read.code") == "0\n"
    assert '"state":"done"' in read(disk, "show.json").replace(" ", "")
    assert read(disk, "first.code") == "1\n"
    assert "(Read-only file system): choose another store with --store or GLT_STORE" in read(disk, "first.err")
    assert read(disk, "first.err").count("\n") == 1
