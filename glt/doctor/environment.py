"""Checks of the machine: packages against the pins, the store's disk, available data sets. No network."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

import glt
from glt.datasets import DATASETS
from glt.errors import StoreError
from glt.formats import file_size
from glt.store import Store, paths
from glt.store.locks import lock_open
from glt.user_path import data_root, free_bytes

PROGRAM = "glt-studio"
PINS = Path(glt.__file__).parents[1] / "requirements.txt"


@dataclass(frozen=True)
class Machine:
    """One line per check; `faults` are the lines that keep GLT Studio from working."""

    lines: tuple[str, ...]
    faults: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return what `glt doctor --json` prints."""
        return asdict(self)


def machine(store: Store) -> Machine:
    """Check the machine of a store."""
    missing, versions = packages(PINS)
    writable, disk = _disk(store)
    available = [spec.name for spec in DATASETS if spec.is_at_hand()]
    missing_sets = [spec.name for spec in DATASETS if spec.name not in available]
    there = f"; not yet: {', '.join(missing_sets)} (downloaded when a run first needs them)" if missing_sets else ""
    data = f"Data in {data_root()}: {', '.join(available)}{there}."
    optional = "Optional: LaTeX (for PGF figures), Chromium (for the browser tests)."
    faults = [line for line, is_fault in ((versions, bool(missing)), (disk, not writable)) if is_fault]
    return Machine((versions, disk, data, optional), tuple(faults))


def packages(pins: Path) -> tuple[list[str], str]:
    """Return the missing packages of `pins` (else of the program), and a line on all."""
    pinned = list(_required(pins))
    missing: list[str] = []
    others: list[str] = []
    for each in pinned:
        try:
            found = Version(version(each.name))
        except PackageNotFoundError:
            missing.append(each.name)
        else:
            if not each.specifier.contains(found.public):
                others.append(f"{each.name} is {found}, pinned {each.specifier}")
    faults = [*(f"{name} is missing" for name in missing), *others]
    verdict = "; ".join(faults) or (f"all {len(pinned)} packages as pinned" if pinned else "no pinned versions found")
    how = "pip install -r requirements.txt" if pins.exists() else "install GLT Studio again with pip"
    return missing, f"Python {platform.python_version()}; {verdict}{f': {how}' if faults else ''}."


def _required(pins: Path) -> Iterator[Requirement]:
    """Return the requirements that apply to this Python."""
    try:
        lines = pins.read_text(encoding="utf-8").splitlines() if pins.exists() else requires(PROGRAM) or []
    except PackageNotFoundError:
        lines = []
    for line in lines:
        try:
            requirement = Requirement(line.split("#")[0])
        except InvalidRequirement:
            continue
        if requirement.specifier and (requirement.marker is None or requirement.marker.evaluate()):
            yield requirement


def _disk(store: Store) -> tuple[bool, str]:
    """Say whether the store can be written and locked, or made, and how much space is free."""
    there = next(path for path in (store.root, *store.root.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            lock_open(file.fileno(), store.root / paths.CONFIG_LOCK)
        free = f", {file_size(free_bytes(store.root))} free"
    except StoreError as error:
        return False, str(error)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        return False, f"Store {store.root}: cannot be written ({why}): choose another with --store or GLT_STORE."
    return True, f"Store {store.root}: {'can be written' if store.root.exists() else 'not made yet'}{free}."
