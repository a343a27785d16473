"""Whatever operation on the disk goes wrong, nothing half is taken as whole, and with room again the run goes on.

The suite breaks a few operations of a tiny run, other ones each time; `make faults` every one of them.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults.effort import THOROUGH

ROOT = Path(__file__).parents[2]
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


@dataclass(frozen=True)
class Broken:
    """What one broken operation led to."""

    fault: str
    operation: str
    told: dict[str, Any]

    def check(self) -> None:
        """Raise AssertionError for anything that is lost, half, or said badly."""
        told = self.told
        assert not told["crash"], told["crash"]
        assert told["whole"] == told["sound"]
        assert told["same"], "a whole round is not the one it should be"
        assert told["again"] == 0, "it cannot be resumed"
        assert told["different"] == [], "a resume did not give the same bytes"
        if self.fault == "killed":
            assert told["code"] == -9
        elif told["code"] == 0:
            assert told["state"] == "done"
        else:
            self._check_words()

    def _check_words(self) -> None:
        told, words = self.told, WORDS[self.fault]
        assert told["code"] == 1
        if told["state"] == "failed" and told["error"]:
            assert words in told["error"]
            assert told["error"].count("\n") == 0
        else:
            # Nobody had written a status that could be written over, or nothing could be written any more.
            assert told["state"] in ("", "lost") if self.fault == "read-only" else not told["has_status"]
            assert words in told["printed"] or self.fault == "read-only"


def broken(folder: Path, part: str, fault: str, chosen: str) -> Iterator[Broken]:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'tests' / 'fake_engine'}{os.pathsep}{ROOT}",
        "FAKE_CHECKPOINT": "yes",
    }
    command = [sys.executable, "-m", "tests.faults.every_write", str(folder), part, fault, chosen]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    assert process.returncode == 0, err.decode()
    for line in out.splitlines()[1:]:
        told = json.loads(line)
        yield Broken(fault, told["operation"], told)


@pytest.mark.parametrize(("part", "fault"), PARTS)
def test_a_disk_that_breaks_at_any_operation(
    tmp_path: Path, seed: int, say: Callable[[str], None], part: str, fault: str
) -> None:
    step = 1 if THOROUGH else STEPS[part, fault]
    attempts, wrong = 0, []
    for each in broken(tmp_path / "work", part, fault, f"{seed % step}::{step}"):
        attempts += 1
        try:
            each.check()
        except AssertionError as error:
            wrong.append((each.operation, str(error).splitlines()[0], each.told))
    say(f"\n{part}, {fault}: {attempts} operations broken (GLT_FAULT_SEED={seed}), {len(wrong)} badly borne")
    assert attempts > 0
    assert not wrong, "\n".join(f"{operation}: {what} {told}" for operation, what, told in wrong)
