"""Paths that users write, in arguments and in the environment, with `~` for a home folder; where their files are."""

from __future__ import annotations

import os
from pathlib import Path

from glt.errors import ConfigError
from glt.printable import quoted

STORE_VARIABLE, DEFAULT_STORE = "GLT_STORE", "runs"


def user_path(text: str) -> Path:
    """Return the path a user wrote; a leading `~` or `~name` is that user's home folder.

    A shell replaces it only at the start of an unquoted word, not in `--out=~/x`. A folder that is really called `~`
    is written `./~`. Raises ConfigError where the home folder is not known.

    >>> user_path("~/runs") == Path.home() / "runs", str(user_path("./~/runs"))
    (True, '~/runs')
    """
    # Decided by the text: Path drops the "./" that tells a folder called "~" from the home folder.
    if not text.startswith("~"):
        return Path(text)
    try:
        return Path(text).expanduser()
    except RuntimeError:
        home = text.split("/", 1)[0]
        raise ConfigError(
            f"The home folder {quoted(home)} in {quoted(text)} is not known here: write the whole path, or "
            f"./{home} for a folder of that name."
        ) from None


def path_from_environment(variable: str) -> Path | None:
    """Return the path that a variable of the environment holds, None where it is empty or not set.

    Raises ConfigError as `user_path` does, naming the variable.
    """
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        return user_path(text)
    except ConfigError as error:
        raise ConfigError(f"{variable} cannot be used: {error}") from None


def default_store() -> Path:
    """Return the folder of the user's runs: `GLT_STORE`, by default `runs` in the working folder."""
    return path_from_environment(STORE_VARIABLE) or Path(DEFAULT_STORE)


def cache_folder() -> Path:
    """Return the user's cache folder for this program: `GLT_CACHE`, or glt-studio in `XDG_CACHE_HOME` or ~/.cache."""
    if named := path_from_environment("GLT_CACHE"):
        return named
    return (path_from_environment("XDG_CACHE_HOME") or Path.home() / ".cache") / "glt-studio"


def data_root() -> Path:
    """Return the folder of downloaded data sets: `GLT_DATA`, by default in the user's cache folder."""
    return path_from_environment("GLT_DATA") or cache_folder() / "data"
