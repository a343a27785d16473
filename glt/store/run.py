"""Run: one folder of the store, a configuration and its seeds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from glt.config import RunConfig, canonical_json, make_config
from glt.errors import ConfigError, StoreError
from glt.store import paths
from glt.store.json_files import read_json
from glt.store.naming import check_name
from glt.store.safe_files import reading, replace_file
from glt.store.seed import SeedRun
from glt.store.tensors import check_schema

REMEDY = "restore it from a copy, or move the run's folder out of the store"


class Run:
    """A run: the rounds of one configuration under several seeds."""

    def __init__(self, path: Path, config: RunConfig, writable: bool = True) -> None:
        self.path = path
        self.name = path.name
        self.config = config
        self.is_example = (path / paths.EXAMPLE_MARK).exists()
        self._writable = writable and not self.is_example

    @classmethod
    def open(cls, path: Path, writable: bool = True) -> Run:
        """Open a run folder; raises StoreError when config.json is missing, damaged, newer or changed afterwards."""
        config = read_config(path)
        check_name(path.resolve().name, config)
        return cls(path, config, writable)

    def seeds(self) -> list[int]:
        """Return the seeds that were started, in ascending order."""
        with reading(self.path, REMEDY):
            found = [seed for path in self.path.iterdir() if (seed := paths.seed_of(path.name)) is not None]
        return sorted(seed for seed in found if self.seed(seed).was_started())

    def seed(self, seed: int) -> SeedRun:
        """Return one seed of the run; its folder need not exist yet."""
        return SeedRun(self.path, seed, self.config, self._writable)

    def existing_seed(self, seed: int | None = None) -> SeedRun:
        """Return a seed that was started, by default the first; raises StoreError that lists those there are."""
        seeds = self.seeds()
        if not seeds:
            raise StoreError(f"The run {self.name} has no seeds yet: start it with `python -m glt run`.")
        if seed is not None and seed not in seeds:
            raise StoreError(f"The run {self.name} has no seed {seed}: it has {', '.join(map(str, seeds))}.")
        return self.seed(seeds[0] if seed is None else seed)

    def first_seed(self) -> SeedRun:
        """Return the lowest seed; raises StoreError when there is none."""
        return self.existing_seed()

    def size_bytes(self) -> int:
        """Return the bytes in the run's files, without following symbolic links."""
        return folder_size(self.path)


def read_config(folder: Path) -> RunConfig:
    """Return the configuration in a run folder; raises StoreError when there is none that can be used."""
    path = folder / paths.CONFIG
    document = read_json(path, REMEDY)
    check_schema(path, document)
    try:
        return make_config(document["config"])
    except (ConfigError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is damaged ({str(error).rstrip('.')}): {REMEDY}.") from None


def write_config(folder: Path, config: RunConfig) -> None:
    """Write the configuration of a run folder."""
    document = {"schema": paths.SCHEMA, "config": config.model_dump(mode="json")}
    replace_file(folder / paths.CONFIG, canonical_json(document).encode())


def folder_size(folder: Path) -> int:
    """Return the bytes in all files below `folder`, without following symbolic links."""
    return sum(_sizes(folder))


def _sizes(folder: Path) -> Iterator[int]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _sizes(Path(entry.path))
                else:
                    yield entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return
