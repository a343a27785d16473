"""What a seed is computed with: recorded when it begins, compared when it goes on."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import glt
from glt.data.registry import current_hash
from glt.errors import JobError
from glt.jobs.settings import Settings
from glt.lottery.initial_weights import ENVIRONMENT_KEY, Source
from glt.results_version import KEY, RESULTS_VERSION, version_of
from glt.store import SeedFolder

SOURCES = Path(glt.__file__).resolve().parent
PACKAGES = ("numpy", "scipy", "torch", "torch-geometric", "safetensors")


def record_environment(seed_run: SeedFolder, settings: Settings, data_hash: str, source: Source | None = None) -> None:
    """Write environment.json of a new seed; on a resume add versions, threads and code that differ from its own.

    Raises JobError when the data set, or the pre-training it starts from, is no longer the one it began with.
    """
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
    check_source(seed_run, recorded, source)
    later: list[dict[str, Any]] = recorded.get("resumed_with", [])
    same_threads = recorded.get("threads") in (None, settings.threads)
    now = versions if same_threads else {**versions, "threads": settings.threads}
    now = {**now, **_other_code(recorded)}
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


def computing_code() -> dict[str, Any]:
    """Return what tells which code computes: results version, digest of the sources, commit, and edits since.

    `revision` is the commit of the repository the sources lie in, None for an installed copy; `modified` says whether
    the sources of `glt` differ from that commit, and is left out where git cannot tell. The digest is of the sources
    as they are, so it names edited and installed ones too.
    """
    return {KEY: RESULTS_VERSION, "sources": sources_digest(SOURCES), **git_state(SOURCES)}


def sources_digest(folder: Path) -> str:
    """Return SHA-256 (hex) over the path and content of every Python file below a folder, in the order of paths."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return found.hexdigest()


def git_state(sources: Path) -> dict[str, Any]:
    """Return the commit of the repository whose folder `sources` is in, and whether they were edited since.

    The commit is None outside a repository of the project's own, and `modified` is then left out.
    """
    root = sources.parent
    revision = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    if not revision:
        return {"revision": None}
    # In a pathspec of git, * stands for any folders too.
    changed = _git(root, "status", "--porcelain", "--untracked-files=all", "--", f"{sources.name}/*.py")
    return {"revision": revision} | ({} if changed is None else {"modified": bool(changed)})


def _git(root: Path, *arguments: str) -> str | None:
    """Return what a git command prints, None where it cannot be run or fails."""
    command = ["git", "-C", str(root), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def _other_code(recorded: dict[str, Any]) -> dict[str, Any]:
    """Return what computes now where it is not the code a seed began with; nothing where it is the same."""
    now = computing_code()
    same = recorded.get("sources") == now["sources"] and version_of(recorded) == now[KEY]
    return {} if same else now


def _version(package: str) -> dict[str, str]:
    try:
        return {package: version(package)}
    except PackageNotFoundError:
        return {}
