"""SeedFolder: the folder of one seed, whatever is computed in it: who works on it, how far, and on what."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from glt.config import canonical_json
from glt.data.registry import current_hash
from glt.errors import StoreError
from glt.store import paths
from glt.store.json_files import SEE_DOCTOR, read_json
from glt.store.liveness import ACTIVE, concluded
from glt.store.lock import locked
from glt.store.records import Status
from glt.store.remembered import remembered
from glt.store.resuming import unusable
from glt.store.safe_files import make_folder, overwrite_file, refuse_link, replace_file
from glt.store.setting_aside import Aside
from glt.store.signing import signed, unsigned


class Configuration(Protocol):
    """What the settings of every run have in common."""

    @property
    def dataset(self) -> str:
        """Name of the data set."""

    @property
    def task(self) -> str:
        """Name of the task."""

    def canonical_json(self) -> str:
        """Return all settings as JSON with sorted keys."""


_written_status = remembered(lambda path: Status.model_validate(read_json(path, SEE_DOCTOR)))


def _read_environment(path: Path) -> dict[str, Any]:
    found = read_json(path, SEE_DOCTOR)
    if not isinstance(found, dict):
        raise StoreError(f"{path} is damaged (no JSON object): {SEE_DOCTOR}.")
    return unsigned(path, found, SEE_DOCTOR)


_written_environment = remembered(_read_environment)


class SeedFolder(ABC):
    """One seed of a run, read by everyone and written by the one worker that holds its lock."""

    def __init__(self, run: Path, seed: int, config: Configuration, writable: bool = True) -> None:
        self.seed = seed
        self.config = config
        self.path = paths.seed_folder(run, seed)
        self._writable = writable

    @property
    def log_path(self) -> Path:
        """What the worker printed."""
        return self.path / paths.LOG

    @property
    def lock_path(self) -> Path:
        """The lock that the one worker holds."""
        return self.path / paths.LOCK

    @property
    def gone(self) -> str:
        """What is said where a worker or whoever follows it finds the folder no longer there."""
        run = self.path.parent
        of = f"seed {self.seed} of {run.name}" if run.is_dir() else f"the run {run.name}"
        return f"The folder of {of} was moved or deleted while it computed: put it back, then resume the run."

    @abstractmethod
    def is_complete(self) -> bool:
        """Say whether everything the config asks for is there, without looking into it."""

    @abstractmethod
    def is_sound(self) -> bool:
        """Say whether everything the config asks for can be read."""

    @abstractmethod
    def drop_unfinished(self, aside: Aside | None = None) -> int:
        """Clear away what is not whole and return how many parts are: rounds, or the one result.

        What is damaged is moved to `aside`, by default a folder of the run.
        """

    def _move_unusable(self, aside: Aside | None) -> Aside:
        """Move aside what cannot be opened and what it was computed with, where that is damaged; return where to."""
        aside = aside or Aside(self.path.parent)
        for path in unusable(self.path):
            aside.move(path)
        try:
            self.environment()
        except StoreError:
            aside.move(self.path / paths.ENVIRONMENT)
        return aside

    @cached_property
    def is_example(self) -> bool:
        """Whether this is a bundled example, which has no theta_0 and no weights."""
        return (self.path.parent / paths.EXAMPLE_MARK).exists()

    def was_started(self) -> bool:
        """Say whether a worker was ever asked for this seed."""
        return (self.path / paths.STATUS).exists() or self.is_complete()

    def status(self) -> Status:
        """Return the worker's state; "lost" when it should be at work but its process is gone.

        A seed that was done before its run was extended is "stopped". A missing or damaged status file is no error:
        what the other files tell is returned instead.
        """
        path = paths.inside(self.path, paths.STATUS)
        try:
            status = concluded(_written_status(path), self.lock_path)
        except (StoreError, ValidationError):
            return self._status_by_files(f"{path} is {'damaged' if path.exists() else 'missing'}: {SEE_DOCTOR}.")
        extended = status.state == "done" and not self.is_complete()
        return status.model_copy(update={"state": "stopped"}) if extended else status

    def written_status(self) -> Status | None:
        """Return the status as it stands in its file, None where there is none that can be read."""
        try:
            return _written_status(self.path / paths.STATUS)
        except (StoreError, ValidationError):
            return None

    def is_at_work(self) -> bool:
        """Say whether a worker is at this seed or waits for its turn; cheaper than `status`."""
        try:
            return concluded(_written_status(paths.inside(self.path, paths.STATUS)), self.lock_path).state in ACTIVE
        except (StoreError, ValidationError):
            return False

    def environment(self) -> dict[str, Any]:
        """Return versions, threads, device and data hash of the computation; empty before it began."""
        path = self.path / paths.ENVIRONMENT
        return _read_environment(path) if os.path.lexists(path) else {}

    def known_environment(self) -> dict[str, Any]:
        """Return `environment()`, or nothing where it cannot be read; a file is read again only when it changed."""
        try:
            return _written_environment(self.path / paths.ENVIRONMENT)
        except StoreError:
            return {}

    def data_hash(self) -> str | None:
        """Return the hash of the data set's content that the computation began with, None where none can be read.

        Where an earlier version gave that content another hash it is the one of today.
        """
        known = self.known_environment().get("data_hash")
        return current_hash(known) if isinstance(known, str) else None

    def lock(self) -> AbstractContextManager[None]:
        """Own the folder for as long as the context lasts; StoreError names the process that owns it already."""
        self.make()
        return locked(self.lock_path)

    def make(self) -> None:
        """Make the folder; raises StoreError when it cannot be written or belongs to an example."""
        self._writing()
        make_folder(self.path)

    def write_status(self, status: Status) -> None:
        """Replace the status; a reader sees the old one or the new one.

        Where a second file has no room beside the old one, that is written over: a full disk has to be told of.
        """
        self._writing()
        path, content = self.path / paths.STATUS, canonical_json(status.model_dump(mode="json")).encode()
        try:
            replace_file(path, content, durable=False)
        except StoreError:
            if not path.exists():
                raise
            overwrite_file(path, content)

    def write_environment(self, environment: Mapping[str, Any]) -> None:
        """Write what the computation runs on: versions, threads, device, git revision, data hash."""
        self._writing()
        replace_file(self.path / paths.ENVIRONMENT, canonical_json(signed(environment)).encode())

    def _status_by_files(self, fault: str) -> Status:
        if self.is_complete():
            return Status(state="done", seed=self.seed)
        return Status(state="lost", seed=self.seed, error=fault)

    def _writing(self) -> None:
        if not self._writable or self.is_example:
            raise StoreError(f"{self.path} is open for reading only: choose a store of your own with --store.")
        refuse_link(self.path.parent, self.path)
