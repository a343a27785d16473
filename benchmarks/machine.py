"""On what and of what was measured: the processor, its memory, versions and the revision; no names, no paths."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from glt.jobs.environment import SOURCES, current_versions, git_state

EDITED = "+modified"
FURTHER_PACKAGES = ("networkx", "igraph", "pandas", "streamlit")


def machine() -> dict[str, str | int | float]:
    """Return the processor's model, cores, memory and kind of system."""
    return {
        "processor": _processor(),
        "cores": psutil.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of what computes and of what draws."""
    return {**current_versions(), **{name: found for name in FURTHER_PACKAGES if (found := _version(name))}}


def revision() -> str | None:
    """Return the commit that is measured, marked where the sources were edited since."""
    state = git_state(SOURCES)
    commit: str | None = state["revision"]
    return f"{commit}{EDITED}" if commit and state.get("modified") else commit


def _processor() -> str:
    # platform.processor() is empty on many Linux systems.
    lines = Path("/proc/cpuinfo")
    if lines.is_file():
        for line in lines.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
