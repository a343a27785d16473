"""A command in a process of its own that may take so much memory and no more: how it ended, what it said, its peak."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Address space, of which libraries reserve more than they use; it keeps a test that fails from taking the machine.
MOST_ADDRESSES = 12 << 30


class Ended(NamedTuple):
    """The exit code, what it printed where, and the most memory it held, in MiB."""

    code: int
    out: str
    said: str
    peak_mb: float


def limited(*arguments: str, seconds: float = 240) -> Ended:
    """Run `python -m ARGUMENTS` and measure it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=said, preexec_fn=_limit,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, cwd=Path.cwd(),
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, said):
            file.seek(0)
        return Ended(process.returncode, out.read().decode(), said.read().decode(), used.ru_maxrss / 1024)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (200, 200))


def one_sentence(ended: Ended) -> str:
    """Return the one line a command that failed has said; nothing else may be there."""
    assert ended.code not in (0, -9, -11), ended
    assert ended.out == "", ended.out[:300]
    assert ended.said.endswith("\n"), ended.said[:300]
    assert ended.said.count("\n") == 1, ended.said[:2000]
    assert "Traceback" not in ended.said
    assert "Unexpected" not in ended.said
    assert len(ended.said) < 5000
    return ended.said
