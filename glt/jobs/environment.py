"""What a seed is computed with: recorded when it begins, compared when it goes on."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import glt
from glt.errors import JobError
from glt.jobs.settings import Settings
from glt.store import SeedRun

PACKAGES = ("numpy", "scipy", "torch", "torch-geometric", "safetensors")


def record_environment(seed_run: SeedRun, settings: Settings, data_hash: str) -> None:
    """Write environment.json of a new seed; on a resume add versions that differ from those it began with.

    Raises JobError when the data set is no longer the one the seed began with.
    """
    recorded = seed_run.environment()
    versions = current_versions()
    if not recorded:
        seed_run.write_environment(
            {
                "versions": versions,
                "threads": settings.threads,
                "device": settings.device,
                "revision": git_revision(),
                "data_hash": data_hash,
            }
        )
        return
    check_data(seed_run, recorded, data_hash)
    later: list[dict[str, Any]] = recorded.get("resumed_with", [])
    if versions not in [recorded.get("versions"), *later]:
        seed_run.write_environment({**recorded, "resumed_with": [*later, versions]})


def check_data(seed_run: SeedRun, recorded: dict[str, Any], data_hash: str) -> None:
    """Raise JobError when the content of the data set is not what the seed began with."""
    before = recorded.get("data_hash")
    if before is not None and before != data_hash:
        raise JobError(
            f"The data set {seed_run.config.dataset} is not the one seed {seed_run.seed} of "
            f"{seed_run.path.parent.name} began with (content {data_hash[:8]}, then {before[:8]}): "
            "bring the old data back, or start the run in another store."
        )


def current_versions() -> dict[str, str]:
    """Return the versions of Python, of this project and of the packages that compute."""
    found = {"python": platform.python_version(), "glt-studio": glt.__version__}
    for package in PACKAGES:
        found.update(_version(package))
    return found


def git_revision() -> str | None:
    """Return the commit this code was checked out at, or None outside a repository of its own."""
    root = Path(glt.__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    try:
        result = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None


def _version(package: str) -> dict[str, str]:
    try:
        return {package: version(package)}
    except PackageNotFoundError:
        return {}
