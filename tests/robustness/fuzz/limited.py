"""A command in a process of its own that may take so much memory and no more: how it ended, what it said, its peak."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
# Address space, of which libraries reserve more than they use; it keeps a test that fails from taking the machine.
MOST_ADDRESSES = 12 << 30


class Ended(NamedTuple):
    """The exit code, what it printed where, and the most memory it held, in MiB."""

    code: int
    out: str
    said: str
    peak_mb: float


# The peak of a process that was made from a larger one counts that one too: what the system knows of its own memory.
CHILD = """
import atexit, pathlib, resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))
resource.setrlimit(resource.RLIMIT_CPU, (200, 200))
told = pathlib.Path("/proc/self/status")
atexit.register(lambda: pathlib.Path({peak!r}).write_text(told.read_text().split("VmHWM:")[1].split()[0]))
sys.argv = {arguments!r}
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def limited(*arguments: str) -> Ended:
    """Run `python -m ARGUMENTS` and measure it."""
    with tempfile.TemporaryDirectory() as folder:
        peak = Path(folder, "peak")
        code = CHILD.format(most=MOST_ADDRESSES, peak=str(peak), arguments=list(arguments))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env=environment,
        )  # fmt: skip
        told = int(peak.read_text()) / 1024 if peak.exists() else float("inf")
        return Ended(done.returncode, done.stdout, done.stderr, told)


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
