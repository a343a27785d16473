"""What to do about a run whose config.json was damaged and set aside: the copy may still tell the settings."""

from __future__ import annotations

from pathlib import Path

from glt.commands import command
from glt.config import make_config
from glt.errors import ConfigError, StoreError
from glt.store import paths
from glt.store.json_files import read_json
from glt.store.naming import run_name
from glt.store.run_folder import REMEDY


def remedy_without_config(folder: Path) -> str:
    """Return what to do about a run's folder without a config.json; names the damaged one where it was set aside."""
    copies = sorted((folder / paths.ASIDE).glob(f"*/{paths.CONFIG}*"))
    if not copies:
        return REMEDY
    if not _tells_settings(copies[-1], folder.name):
        return (
            f"the damaged one is {copies[-1]}; start a run with the settings it had (python -m glt run), which takes "
            "over what was computed"
        )
    again = command("run", "--config", copies[-1], "--store", folder.parent)
    return f"the damaged one is {copies[-1]}, and its settings fit the folder's name: `{again}` goes on with them"


def _tells_settings(copy: Path, name: str) -> bool:
    """Say whether the settings in a damaged file are those that a run's name was made of."""
    try:
        return run_name(make_config(read_json(copy, "")["config"])) == name
    except (StoreError, ConfigError, KeyError, TypeError):
        return False
