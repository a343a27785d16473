"""Names of runs: what a run is about, and a hash over everything that shapes its rounds."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from glt.config import RunConfig, canonical_json, make_config
from glt.errors import ConfigError, StoreError
from glt.pretraining.config import PretrainConfig, make_pretrain_config
from glt.store.atomic_io import read_json, unsigned
from glt.store.paths import CONFIG, SCHEMA
from glt.user_text import quoted

PART = re.compile(r"[\w.+@-]+")


def fingerprint(config: RunConfig | PretrainConfig) -> str:
    """Return SHA-256 (hex) over the canonical JSON of every setting that shapes a round, and the schema version.

    `rounds` is left out, because more rounds extend a run, and so are the settings the method ignores.
    """
    shaping = config.model_dump(mode="json", exclude=_shapes_nothing(config))
    return hashlib.sha256(canonical_json({**shaping, "schema": SCHEMA}).encode()).hexdigest()


def _shapes_nothing(config: RunConfig | PretrainConfig) -> set[str]:
    from glt.methods import METHODS

    return {"rounds", *METHODS.get(config.method).ignores} if isinstance(config, RunConfig) else set()


def run_name(config: RunConfig | PretrainConfig) -> str:
    """Return the folder name "<dataset>-<task>-<model>-<method>-<hash8>"; raises ConfigError for an unknown method.

    >>> run_name(PretrainConfig()).rsplit("-", 1)[0]
    'cora-node-gcn-graphcl'
    """
    parts = (config.dataset, config.task, config.model, config.method)
    for part in parts:
        if not PART.fullmatch(part) or part.startswith("."):
            raise ConfigError(
                f"{quoted(part)} cannot be part of a run's name: use letters, digits, '.', '_', '+' and '-'."
            )
    return "-".join((*parts, fingerprint(config)[:8]))


def owner_of(folder: Path) -> str | None:
    """Return the name of the run whose config.json lies in a folder, None where it is damaged."""
    path = folder / CONFIG
    try:
        document = unsigned(path, read_json(path, ""), "")
        make = make_config if document.get("kind", "run") == "run" else make_pretrain_config
        return run_name(make(document["config"]))
    except (StoreError, ConfigError, KeyError, TypeError, AttributeError):
        return None


def check_name(name: str, config: RunConfig | PretrainConfig) -> None:
    """Raise StoreError unless `name` is the name of a run with `config`."""
    try:
        expected = run_name(config)
    except ConfigError as error:
        raise StoreError(f"The run {name} cannot be opened: {error}") from None
    if name != expected:
        raise StoreError(
            f"The folder {name} does not match its config.json, which belongs to {expected}: name the folder "
            f"{expected} again where it was renamed, or undo the change where the file was edited."
        )
