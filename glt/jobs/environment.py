"""What a seed is computed with: recorded when it begins, compared when it goes on."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import glt
from glt.data.registry import current_hash
from glt.errors import JobError
from glt.jobs.settings import Settings
from glt.store import SeedFolder
from glt.tickets.start import ENVIRONMENT_KEY, Source

PACKAGES = ("numpy", "scipy", "torch", "torch-geometric", "safetensors")


def record_environment(seed_run: SeedFolder, settings: Settings, data_hash: str, source: Source | None = None) -> None:
    """Write environment.json of a new seed; on a resume add versions and threads that differ from those it began with.

    Raises JobError when the data set, or the pre-training it starts from, is no longer the one it began with.
    """
    recorded = seed_run.environment()
    versions = current_versions()
    if not recorded:
        begun = {
            "versions": versions,
            "threads": settings.threads,
            "device": settings.device,
            "revision": git_revision(),
            "data_hash": data_hash,
        }
        seed_run.write_environment(begun | ({ENVIRONMENT_KEY: source.record()} if source else {}))
        return
    check_data(seed_run, recorded, data_hash)
    check_source(seed_run, recorded, source)
    later: list[dict[str, Any]] = recorded.get("resumed_with", [])
    same_threads = recorded.get("threads") in (None, settings.threads)
    now = versions if same_threads else {**versions, "threads": settings.threads}
    if now not in [recorded.get("versions"), *later]:
        seed_run.write_environment({**recorded, "resumed_with": [*later, now]})


def check_data(seed_run: SeedFolder, recorded: dict[str, Any], data_hash: str) -> None:
    """Raise JobError when the content of the data set is not what the seed began with."""
    before = recorded.get("data_hash")
    if before is not None and current_hash(before) != data_hash:
        raise JobError(
            f"The data set {seed_run.config.dataset} is not the one seed {seed_run.seed} of "
            f"{seed_run.path.parent.name} began with (content {data_hash[:8]}, then {before[:8]}): "
            "bring the old data back, or start the run in another store."
        )


def check_source(seed_run: SeedFolder, recorded: dict[str, Any], source: Source | None) -> None:
    """Raise JobError when the first layer that a seed starts from is not the one it began with."""
    before = recorded.get(ENVIRONMENT_KEY)
    if source is not None and before is not None and before != source.record():
        raise JobError(
            f"Seed {source.seed} of the pre-training {source.run} is not what seed {seed_run.seed} of "
            f"{seed_run.path.parent.name} began with (content {source.layer.sha256[:8]}, then "
            f"{before['sha256'][:8]}): bring the old one back, or start the run in another store."
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
