"""Pages run by AppTest over a small store whose masks are drawn, not trained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.data import runs
from glt.presets import resolve
from glt.store import Pretraining, Run, State, Store
from glt.store.examples import pack_run
from glt.user_path import STORE_VARIABLE
from tests.opening import open_at

OpenPage = Callable[..., AppTest]
MakeRun = Callable[..., Run]
MakePretraining = Callable[..., Pretraining]


def texts(app: AppTest) -> str:
    """Return all words of a page."""
    kinds = (app.subheader, app.markdown, app.caption, app.info, app.success, app.warning, app.error)
    return " ".join(str(element.value) for kind in kinds for element in kind)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store that the app opens, and no examples beside it."""
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / "store"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(runs, "EXAMPLES", tmp_path / "no examples")
    st.cache_data.clear()
    st.cache_resource.clear()
    return Store(tmp_path / "store")


@pytest.fixture
def make_run(store: Store, draw_seed: Callable[..., None]) -> MakeRun:
    """Write a run; `states` gives the state of each seed, and every seed has `rounds` rounds after round 0."""

    def make(
        method: str = "ugs", states: tuple[State, ...] = ("done", "done"), rounds: int = 3, **settings: Any
    ) -> Run:
        values = {"method": method, "rounds": 3, "epochs": 5, "retrain_epochs": 5, **settings}
        run = store.create(resolve(values, "official"))
        for seed, state in enumerate(states):
            draw_seed(run.seed(seed), rounds, state)
        return run

    return make


@pytest.fixture
def open_page() -> OpenPage:
    """Open a page by its address, with query parameters; the page must run to its end."""

    def open_page(name: str, **view: str | list[str]) -> AppTest:
        app = open_at(name, view)
        assert not app.exception, app.exception
        return app

    return open_page


@pytest.fixture
def example(make_run: MakeRun, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A bundled example beside an empty store."""
    run = make_run("ugs")
    packed = pack_run(run, tmp_path / "examples")
    store.move_to_trash(run.path)
    monkeypatch.setattr(runs, "EXAMPLES", tmp_path / "examples")
    return packed
