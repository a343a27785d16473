"""Disk failures at any write, injected and on real mounts: no partial file is accepted, and runs can be resumed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.faults.conftest import THOROUGH
from tests.robustness.faults.lives import comparable

ROOT = Path(__file__).parents[3]
WORDS = {
    "full": "could not be written because the disk is full: free some space, then ",
    "full for a moment": "could not be written because the disk is full: free some space, then ",
    "broken flush": f"cannot be written ({os.strerror(errno.EIO)})",
    "read-only": f"cannot be written ({os.strerror(errno.EROFS)}): choose another store with --store or GLT_STORE",
}
# In the suite, every so many operations of the part.
STEPS = {
    ("worker", "full"): 20,
    ("worker", "full for a moment"): 32,
    ("worker", "broken flush"): 12,
    ("worker", "killed"): 24,
    ("worker", "read-only"): 48,
    ("start", "full"): 9,
    ("start", "killed"): 9,
}
PARTS = (
    [*STEPS, ("start", "full for a moment"), ("start", "broken flush"), ("start", "read-only")] if THOROUGH else STEPS
)


def check(fault: str, outcome: dict[str, Any]) -> None:
    """Assert that one failed operation left nothing lost or partial, and a good message."""
    assert not outcome["crash"], outcome["crash"]
    assert outcome["whole"] == outcome["sound"]
    assert outcome["same"], "a whole round is not the one it should be"
    assert outcome["again"] == 0, "it cannot be resumed"
    assert outcome["different"] == [], "a resume did not give the same bytes"
    if fault == "killed":
        assert outcome["code"] == -9
    elif outcome["code"] == 0:
        assert outcome["state"] == "done"
    elif outcome["state"] == "failed" and outcome["error"]:
        assert outcome["code"] == 1
        assert WORDS[fault] in outcome["error"]
        assert outcome["error"].count("\n") == 0
    else:
        assert outcome["code"] == 1
        # There was no status to overwrite, or nothing could be written any more.
        assert outcome["state"] in ("", "lost") if fault == "read-only" else not outcome["has_status"]
        assert WORDS[fault] in outcome["printed"] or fault == "read-only"


def broken(folder: Path, part: str, fault: str, chosen: str) -> Iterator[dict[str, Any]]:
    """Return what each failed operation led to."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'tests' / 'fake_engine'}{os.pathsep}{ROOT}",
        "FAKE_CHECKPOINT": "yes",
    }
    command = [sys.executable, "-m", "tests.robustness.faults.every_write", str(folder), part, fault, chosen]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    assert process.returncode == 0, err.decode()
    return map(json.loads, out.splitlines()[1:])


@pytest.mark.parametrize(("part", "fault"), PARTS)
def test_failures_of_every_disk_operation(
    tmp_path: Path, seed: int, say: Callable[[str], None], part: str, fault: str
) -> None:
    step = 1 if THOROUGH else STEPS[part, fault]
    attempts, wrong = 0, []
    for each in broken(tmp_path / "work", part, fault, f"{seed % step}::{step}"):
        attempts += 1
        try:
            check(fault, each)
        except AssertionError as error:
            wrong.append((each["operation"], str(error).splitlines()[0], each))
    say(f"\n{part}, {fault}: {attempts} operations broken (GLT_FAULT_SEED={seed}), {len(wrong)} badly borne")
    assert attempts > 0
    assert not wrong, "\n".join(f"{operation}: {what} {outcome}" for operation, what, outcome in wrong)


# In a separate mount namespace: the mounts are private and end with the process.
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
def test_disk_filling_up_during_a_run(disk: Path) -> None:
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
def test_read_only_file_system(disk: Path) -> None:
    apart(disk, READ_ONLY)
    assert read(disk, "read.code") == "0\n"
    assert '"state":"done"' in read(disk, "show.json").replace(" ", "")
    assert read(disk, "first.code") == "1\n"
    assert "(Read-only file system): choose another store with --store or GLT_STORE" in read(disk, "first.err")
    assert read(disk, "first.err").count("\n") == 1
