"""A reader that has seen enough (head, less) ends a command quietly, with 0."""

from __future__ import annotations

import subprocess
import sys

from glt.store.paths import EXAMPLES


def test_a_closed_pipe_ends_quietly() -> None:
    line = [sys.executable, "-m", "glt", "list", "--store", str(EXAMPLES)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 0
