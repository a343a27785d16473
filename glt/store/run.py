"""Run: one folder of the store, a configuration and the rounds of its seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glt.config import RunConfig, canonical_json, make_config
from glt.errors import ConfigError, StoreError
from glt.store import paths
from glt.store.json_files import read_json
from glt.store.naming import check_name
from glt.store.run_folder import REMEDY, RunFolder
from glt.store.safe_files import replace_file
from glt.store.seed import SeedRun
from glt.store.signing import signed, unsigned
from glt.store.tensors import check_schema

# A config.json without a kind is a run's.
KIND, RUN = "kind", "run"


class Run(RunFolder[SeedRun]):
    """A run: the rounds of one configuration under several seeds."""

    verb = "run"
    config: RunConfig

    def __init__(self, path: Path, config: RunConfig, writable: bool = True) -> None:
        super().__init__(path, config, writable)

    @classmethod
    def open(cls, path: Path, writable: bool = True) -> Run:
        """Open a run folder; raises StoreError when config.json is missing, damaged, newer or changed afterwards."""
        config = read_config(path)
        check_name(path.resolve().name, config)
        check_config(path)
        return cls(path, config, writable)

    def seed(self, seed: int) -> SeedRun:
        """Return one seed of the run; its folder need not exist yet."""
        return SeedRun(self.path, seed, self.config, self._writable)


def read_config(folder: Path) -> RunConfig:
    """Return the configuration in a run folder; raises StoreError when there is none that can be used."""
    return read_config_file(folder / paths.CONFIG, REMEDY)


def read_config_file(path: Path, remedy: str = "name the config.json of a run, or its folder") -> RunConfig:
    """Return the configuration in a file like a run's config.json; raises StoreError as `read_config` does."""
    document = read_document(path, remedy)
    if document.get(KIND, RUN) != RUN:
        raise StoreError(
            f"{path.parent.name} is a {document[KIND]} run, which has no rounds: name one with rounds, for example one "
            "that starts from it."
        )
    try:
        return make_config(settings_in(document))
    except ConfigError as error:
        raise StoreError(f"{path} is damaged ({str(error).rstrip('.')}): {remedy}.") from None


def settings_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in what a config.json holds; raises ConfigError when there are none by name."""
    settings = document.get("config")
    if not isinstance(settings, dict):
        raise ConfigError("it holds no settings by name")
    return settings


def read_document(path: Path, remedy: str = REMEDY) -> dict[str, Any]:
    """Return what is in a config.json, of whatever kind; raises StoreError when it is missing, damaged or newer."""
    document = read_json(path, remedy)
    check_schema(path, document)
    if not isinstance(document.get(KIND, RUN), str):
        raise StoreError(f"{path} is damaged (its kind is no word): {remedy}.")
    return dict(document)


def finished_rounds(run: Run) -> int:
    """Return how many rounds, round 0 included, the seeds of a run have on disk together."""
    return sum(run.seed(seed).whole_rounds() for seed in run.seeds())


def check_config(folder: Path) -> None:
    """Raise StoreError when a config.json is not as it was written: some settings are not in the folder's name."""
    path = folder / paths.CONFIG
    unsigned(path, read_document(path), REMEDY)


def write_config(folder: Path, config: RunConfig) -> None:
    """Write the configuration of a run folder."""
    document = {"schema": paths.SCHEMA, "config": config.model_dump(mode="json")}
    replace_file(folder / paths.CONFIG, canonical_json(signed(document)).encode())
