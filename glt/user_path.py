"""Paths from users, in arguments and in the environment, with `~`; folders for their files."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from glt.errors import ConfigError, quoted

PROGRAM = "glt-studio"
STORE_VARIABLE, DEFAULT_STORE = "GLT_STORE", "runs"


def user_path(text: str) -> Path:
    """Return the path a user wrote; a leading `~` or `~name` is that user's home folder.

    Shells replace it only at the start of an unquoted word, not in `--out=~/x`. A folder really called `~` is written
    `./~`; its path becomes absolute, so that it is not expanded later. Raises ConfigError if the home folder is
    unknown.

    >>> user_path("~/runs") == Path.home() / "runs", user_path("./~/runs") == Path.cwd() / "~" / "runs"
    (True, True)
    """
    # Decided by the text: Path drops the "./" that tells a folder called "~" from the home folder.
    if not text.startswith("~"):
        path = Path(text)
        return path.absolute() if str(path).startswith("~") else path
    try:
        return Path(text).expanduser()
    except RuntimeError:
        home = text.split("/", 1)[0]
        raise ConfigError(
            f"The home folder {quoted(home)} in {quoted(text)} is not known here: write the whole path, or "
            f"./{home} for a folder of that name."
        ) from None


def path_from_environment(variable: str) -> Path | None:
    """Return the path in an environment variable, None if unset or empty.

    Raises ConfigError as `user_path`, naming the variable.
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
    """Return the user's cache folder: `GLT_CACHE`, or glt-studio in `XDG_CACHE_HOME` or ~/.cache.

    Without a home folder it is a temporary folder of this user; raises ConfigError if another user owns that.
    """
    if named := path_from_environment("GLT_CACHE"):
        return named
    return _place_of_user("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Return the app's state folder: glt-studio in `XDG_STATE_HOME` or ~/.local/state.

    Without a home folder as `cache_folder`.
    """
    return _place_of_user("XDG_STATE_HOME", ".local/state")


def data_root() -> Path:
    """Return the folder of downloaded data sets: `GLT_DATA`, by default in the cache folder."""
    return path_from_environment("GLT_DATA") or cache_folder() / "data"


def free_bytes(folder: Path) -> int:
    """Return the free bytes on the disk of `folder`, which may not exist yet; raises OSError."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def temporary_home() -> Path:
    """Return a temporary folder in place of an unknown home folder, writable by this user only.

    Its name is predictable, so another user could have made it to plant files: raises ConfigError then.
    """
    folder = Path(tempfile.gettempdir()) / f"{PROGRAM}-{os.getuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700)
    try:
        found = folder.lstat()
    except OSError:
        # It could not be made: the first write below it reports that.
        return folder
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise ConfigError(
            f"The home folder is not known here, and {folder} is not a folder of this user's alone: set GLT_CACHE and "
            "GLT_DATA to folders of your own, or HOME to your home folder."
        )
    return folder


def _place_of_user(variable: str, below_home: str) -> Path:
    if root := path_from_environment(variable):
        return root / PROGRAM
    try:
        return Path.home() / below_home / PROGRAM
    except RuntimeError:
        # A container may run under a number that no user has.
        return temporary_home() / below_home / PROGRAM
