"""A store surrounded by files that must not change, and pages opened by their URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.data import runs
from glt.store import Store
from tests.opening import open_at

SECONDS = 240


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's folder, as home and working folder; it must be unchanged at the end of the test.

    The store is a folder in it, which may change.
    """
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "authorized_keys").write_text("ssh-ed25519 AAAA\n")
    (home / "notes.txt").write_text("nothing to see\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GLT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "cache"))
    monkeypatch.chdir(home)
    before = listing(tmp_path)
    yield tmp_path
    assert listing(tmp_path) == before


def listing(folder: Path) -> dict[str, bytes | str]:
    """Return everything below a folder but the store, the cache and what tests brought, with its content."""
    free = {"store", "state", "cache", "brought"}
    found: dict[str, bytes | str] = {}
    for root, folders, files in os.walk(folder):
        if Path(root) == folder:
            folders[:] = [name for name in folders if name not in free]
        for name in (*folders, *files):
            path = Path(root, name)
            linked = path.is_symlink()
            found[str(path.relative_to(folder))] = (
                str(path.readlink()) if linked else path.read_bytes() if path.is_file() else ""
            )
    return found


@pytest.fixture
def store(around: Path) -> Store:
    """The store of the command line and the app."""
    return Store(around / "store")


@pytest.fixture(scope="module")
def open_page() -> Callable[..., AppTest]:
    """Open a page by its address, with query parameters, over the store that GLT_STORE names and no examples."""

    return partial(open_at, seconds=SECONDS)


@pytest.fixture
def app_over(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have the app show the test's store and nothing else."""
    monkeypatch.setattr(runs, "EXAMPLES", tmp_path / "no examples")
    st.cache_data.clear()
    st.cache_resource.clear()
