"""A run's folder: its name, its settings in config.json, its seeds and its annotation."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from glt.config import RunConfig, canonical_json, make_config
from glt.errors import ConfigError, StoreError, quoted
from glt.formats import as_typed
from glt.pretraining.config import make_pretrain_config
from glt.store import paths
from glt.store.annotations import Annotation, Annotations, annotations_in, entry_name
from glt.store.atomic_io import cached, check_schema, read_json, reading, replace_file, signed, unsigned
from glt.store.seed_run import Configuration, SeedFolder, SeedRun, fingerprint

# Characters of a part of a run's name.
PART = re.compile(r"[\w.+@-]+")
REMEDY = "restore it from a copy, or move the run's folder out of the store"

Seed_co = TypeVar("Seed_co", bound=SeedFolder, covariant=True)
FolderT = TypeVar("FolderT", bound="RunFolder[Any]")
ConfigT = TypeVar("ConfigT", bound=Configuration)


class RunFolder(ABC, Generic[Seed_co]):
    """A configuration and its seeds."""

    verb: str

    def __init__(self, path: Path, config: Configuration, writable: bool = True) -> None:
        self.path = path
        self.name = path.name
        self.config = config
        self.is_example = (path / paths.EXAMPLE_MARK).exists()
        self.is_named_by_path = False
        self.is_bundled = self.is_example and paths.is_in_examples(path)
        # The store through which the run was opened; its folder may be elsewhere.
        self.annotated_in = path.parent
        self._writable = writable and not self.is_example
        # Seeds that were made but not started may start without a change of the folder.
        self._looked = cached(self._look, lasts=lambda looked: looked[0] == looked[1])

    @classmethod
    def open(cls: type[FolderT], path: Path, writable: bool = True) -> FolderT:
        """Open a folder; raises StoreError if config.json is missing, damaged, newer or edited."""
        return cls.from_document(path, read_document(path / paths.CONFIG), writable)

    @classmethod
    def from_document(cls: type[FolderT], path: Path, document: Mapping[str, Any], writable: bool = True) -> FolderT:
        """Open a folder whose config.json holds `document`; raises StoreError as `open` does."""
        config = cls.read_settings(path / paths.CONFIG, document)
        name = path.resolve().name
        try:
            expected = run_name(config)
        except ConfigError as error:
            raise StoreError(f"The run {name} cannot be opened: {error}") from None
        if name != expected:
            raise StoreError(
                f"The folder {name} does not match its config.json, which belongs to {expected}: rename the folder "
                f"back to {expected}, or undo the edit of config.json."
            )
        # Settings that are not in the folder's name are covered by a checksum.
        unsigned(path / paths.CONFIG, document, REMEDY)
        return cls(path, config, writable)

    @classmethod
    @abstractmethod
    def read_settings(cls, path: Path, document: Mapping[str, Any], remedy: str = REMEDY) -> Configuration:
        """Return the settings in `document`, a config.json; raises StoreError for another kind, or damage."""

    @abstractmethod
    def seed(self, seed: int) -> Seed_co:
        """Return one seed of the run; its folder need not exist yet."""

    def seeds(self) -> list[int]:
        """Return the seeds that were started, in ascending order."""
        return list(self._looked(self.path)[0])

    def _look(self, path: Path) -> tuple[list[int], list[int]]:
        """Return the seeds that were started, and all that have a folder."""
        with reading(path, REMEDY):
            found = sorted(seed for each in path.iterdir() if (seed := paths.seed_of(each.name)) is not None)
        return [seed for seed in found if self.seed(seed).was_started()], found

    def existing_seed(self, seed: int | None = None) -> Seed_co:
        """Return a started seed, by default the first; raises StoreError that lists the seeds."""
        seeds = self.seeds()
        if not seeds:
            raise StoreError(f"The run {self.name} has no seeds yet: start it with `{as_typed(self.verb)}`.")
        if seed is not None and seed not in seeds:
            raise StoreError(f"The run {self.name} has no seed {seed}: it has {', '.join(map(str, seeds))}.")
        return self.seed(seeds[0] if seed is None else seed)

    @property
    def reference(self) -> str:
        """The unique reference of this run: its name, or "examples/NAME" if bundled.

        A user's run may have the settings, and so the name, of a bundled example. In tables over several stores it is
        the path.
        """
        return str(self.path) if self.is_named_by_path else self.annotation_key

    @property
    def annotation_key(self) -> str:
        """The key of the run in a store's annotations."""
        return f"{paths.EXAMPLES_PREFIX}{self.name}" if self.is_bundled else self.name

    @property
    def annotation(self) -> Annotation:
        """The annotation of the run, as it is now."""
        return _annotation_of(self, annotations_in(self.annotated_in))

    def size_bytes(self) -> int:
        """Return the bytes in the run's files, without following symbolic links."""
        return folder_size(self.path)


AnyRun = RunFolder[SeedFolder]


def annotations_of(runs: Iterable[AnyRun]) -> dict[str, Annotation]:
    """Return the annotations of runs by their references; reads each store's file once."""
    runs = list(runs)
    found = {root: annotations_in(root) for root in {run.annotated_in for run in runs}}
    return {run.reference: _annotation_of(run, found[run.annotated_in]) for run in runs}


def _annotation_of(run: AnyRun, known: Annotations) -> Annotation:
    return known.of(entry_name(run.annotated_in, known.entries, run.annotation_key))


def folder_size(folder: str | Path) -> int:
    """Return the bytes in all files below `folder`, without following symbolic links."""
    size = 0
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            size += folder_size(entry.path) if is_folder else entry.stat(follow_symlinks=False).st_size
    return size


# A config.json without a kind is a run's.
KIND, RUN = "kind", "run"


class Run(RunFolder[SeedRun]):
    """A run: the rounds of one configuration under several seeds."""

    verb = "run"
    config: RunConfig

    @classmethod
    def read_settings(cls, path: Path, document: Mapping[str, Any], remedy: str = REMEDY) -> RunConfig:
        """Return the settings in a run's config.json; raises StoreError if they cannot be used."""
        if document.get(KIND, RUN) != RUN:
            raise StoreError(
                f"{path.parent.name} is a {document[KIND]} run, which has no rounds: name one with rounds, for example "
                "one that starts from it."
            )
        return settings_in(path, document, make_config, remedy)

    def seed(self, seed: int) -> SeedRun:
        """Return one seed of the run; its folder need not exist yet."""
        return SeedRun(self.path, seed, self.config, self._writable)


def read_config(path: Path) -> RunConfig:
    """Return the configuration in a run's folder, or in a file like config.json."""
    remedy = "give the path of a run's config.json, or of its folder"
    file = path / paths.CONFIG if path.is_dir() else path
    document = read_json(file, remedy)
    if isinstance(document, dict) and "schema" not in document:
        raise StoreError(f"{file} names no format version, as every config.json of a run does: {remedy}.")
    return Run.read_settings(file, read_document(file, remedy), remedy)


def settings_in(
    path: Path, document: Mapping[str, Any], make: Callable[[dict[str, Any]], ConfigT], remedy: str
) -> ConfigT:
    """Return what `make` makes of the settings in a config.json; raises StoreError if they are damaged."""
    settings = document.get("config")
    try:
        if not isinstance(settings, dict):
            raise ConfigError("it holds no settings")
        return make(settings)
    except ConfigError as error:
        raise StoreError(f"{path} is damaged ({str(error).rstrip('.')}): {remedy}.") from None


def read_document(path: Path, remedy: str = REMEDY) -> dict[str, Any]:
    """Return the content of a config.json of any kind; raises StoreError if missing, damaged or newer."""
    document = read_json(path, remedy)
    check_schema(path, document)
    if not isinstance(document.get(KIND, RUN), str):
        raise StoreError(f"{path} is damaged (its kind is not text): {remedy}.")
    return dict(document)


def finished_rounds(run: Run) -> int:
    """Return how many rounds, round 0 included, all seeds of a run have on disk."""
    return sum(run.seed(seed).whole_rounds() for seed in run.seeds())


def write_config(folder: Path, config: Configuration, kind: str = RUN) -> None:
    """Write the configuration of a run folder."""
    document = {"schema": paths.SCHEMA, "config": config.model_dump(mode="json")}
    document |= {} if kind == RUN else {KIND: kind}
    replace_file(folder / paths.CONFIG, canonical_json(signed(document)).encode())


def run_name(config: Configuration) -> str:
    """Return "<dataset>-<task>-<model>-<method>-<hash8>"; raises ConfigError for an unknown method."""
    parts = (config.dataset, config.task, config.model, config.method)
    for part in parts:
        if not PART.fullmatch(part) or part.startswith("."):
            raise ConfigError(
                f"{quoted(part)} cannot be part of a run's name: use letters, digits, '.', '_', '+' and '-'."
            )
    return "-".join((*parts, fingerprint(config)[:8]))


def owner_of(folder: Path) -> str | None:
    """Return the run that the config.json in a folder belongs to, None if it is damaged."""
    path = folder / paths.CONFIG
    try:
        document = unsigned(path, read_json(path, ""), "")
        make = make_config if document.get("kind", "run") == "run" else make_pretrain_config
        return run_name(make(document["config"]))
    except (StoreError, ConfigError, KeyError, TypeError, AttributeError):
        return None
