"""Whether this is somebody's first start: nothing run yet, and the tour not ended; kept in the user's state folder."""

from __future__ import annotations

from pathlib import Path

from app.widgets.opened import opened
from glt.errors import StudioError
from glt.store.safe_files import make_folder, replace_file
from glt.user_path import state_folder


def is_first() -> bool:
    """Say whether the store holds no run of the user's own while examples are there, and the tour was never ended."""
    try:
        if ended_file().exists():
            return False
        found = opened()
    except StudioError:
        return False
    return bool(found.examples) and not found.own


def end() -> None:
    """Remember for later starts that the tour was ended; where nothing can be written it is forgotten with the page."""
    try:
        make_folder(ended_file().parent)
        replace_file(ended_file(), b"The guided tour was ended: delete this file to see it at the next first start.\n")
    except StudioError:
        return


def ended_file() -> Path:
    """Return the file that stands for an ended tour: in the user's state folder (`XDG_STATE_HOME`)."""
    return state_folder() / "tour-ended"
