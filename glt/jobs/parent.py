"""Workers that must not outlive the command that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have Linux kill this process when `parent` ends; elsewhere `is_orphan` is asked from time to time."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if is_orphan(parent):
        os._exit(1)


def is_orphan(parent: int) -> bool:
    """Say whether the process that started this one is gone."""
    return os.getppid() != parent
