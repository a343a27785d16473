"""The environment of a seed: versions, threads, code, data; recorded at its start, compared on a resume."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import glt
from glt.datasets.registry import current_hash
from glt.errors import JobError
from glt.jobs.devices import Settings
from glt.lottery.initial_weights import ENVIRONMENT_KEY, FirstLayerSource
from glt.results_version import KEY, RESULTS_VERSION, version_of
from glt.store import SeedFolder

SOURCES = Path(glt.__file__).resolve().parent
PACKAGES = ("numpy", "scipy", "torch", "torch-geometric", "safetensors")


def record_environment(
    seed_run: SeedFolder, settings: Settings, data_hash: str, source: FirstLayerSource | None = None
) -> None:
    """Write a new seed's environment.json; on a resume add what differs, and refuse changed data."""
    recorded = seed_run.environment()
    versions = current_versions()
    if not recorded:
        begun = {
            "versions": versions,
            "threads": settings.threads,
            "device": settings.device,
            **computing_code(),
            "data_hash": data_hash,
        }
        seed_run.write_environment(begun | ({ENVIRONMENT_KEY: source.record()} if source else {}))
        return
    check_data(seed_run, recorded, data_hash)
    before = recorded.get(ENVIRONMENT_KEY)
    if source is not None and before is not None and before != source.record():
        what = f"Seed {source.seed} of the pre-training {source.run}"
        raise _changed(what, seed_run, source.layer.sha256, before["sha256"])
    later: list[dict[str, Any]] = recorded.get("resumed_with", [])
    same_threads = recorded.get("threads") in (None, settings.threads)
    now = versions if same_threads else {**versions, "threads": settings.threads}
    code = computing_code()
    if recorded.get("sources") != code["sources"] or version_of(recorded) != code[KEY]:
        now = {**now, **code}
    if now not in [recorded.get("versions"), *later]:
        seed_run.write_environment({**recorded, "resumed_with": [*later, now]})


def check_data(seed_run: SeedFolder, recorded: dict[str, Any], data_hash: str) -> None:
    """Raise JobError if the data set's content has changed since the seed began."""
    before = recorded.get("data_hash")
    if before is not None and current_hash(before) != data_hash:
        raise _changed(f"The data set {seed_run.config.dataset}", seed_run, data_hash, before)


def _changed(what: str, seed_run: SeedFolder, now: str, before: str) -> JobError:
    return JobError(
        f"{what} has changed since seed {seed_run.seed} of {seed_run.path.parent.name} began (content hash {now[:8]}, "
        f"then {before[:8]}): restore the old one, or start the run in another store."
    )


def current_versions() -> dict[str, str]:
    """Return the versions of Python, this project and the packages that compute."""
    found = {"python": platform.python_version(), "glt-studio": glt.__version__}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def computing_code() -> dict[str, Any]:
    """Return the results version, a digest of the sources, the commit, and whether they were edited.

    `revision` is None for an installed copy; `modified` (whether `glt` differs from the commit) is left out if git
    cannot tell. The digest names edited and installed sources too.
    """
    return {KEY: RESULTS_VERSION, "sources": sources_digest(SOURCES), **git_state(SOURCES)}


def sources_digest(folder: Path) -> str:
    """Return SHA-256 (hex) over paths and contents of all Python files in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return found.hexdigest()


def git_state(sources: Path) -> dict[str, Any]:
    """Return the commit of the sources' own repository, and whether they were edited since."""
    root = sources.parent
    revision = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    if not revision:
        return {"revision": None}
    # In a pathspec of git, * stands for any folders too.
    changed = _git(root, "status", "--porcelain", "--untracked-files=all", "--", f"{sources.name}/*.py")
    return {"revision": revision} | ({} if changed is None else {"modified": bool(changed)})


def _git(root: Path, *arguments: str) -> str | None:
    """Return a git command's output; None if it fails."""
    command = ["git", "-C", str(root), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
