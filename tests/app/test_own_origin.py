"""A session that a page of another port opened shows nothing and does nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.widgets import own_origin
from glt.store import Run

HOST = "localhost:8501"


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        (None, True),
        ("http://localhost:8501", True),
        ("http://localhost:9999", False),
        ("http://localhost", False),
        ("http://127.0.0.1:8501", False),
        ("http://[::1]:8501", False),
        ("http://[", False),
    ],
)
def test_another_port_is_another_page(origin: str | None, is_own: bool) -> None:
    assert own_origin.is_own(origin, HOST) is is_own


@pytest.mark.parametrize(("origin", "shown"), [("http://localhost:9999", False), ("http://localhost:8501", True)])
def test_a_session_of_another_port_is_shown_nothing(
    make_run: Callable[..., Run],
    open_page: Callable[..., AppTest],
    monkeypatch: pytest.MonkeyPatch,
    origin: str,
    shown: bool,
) -> None:
    make_run("ugs")
    headers: Mapping[str, str] = {"Origin": origin, "Host": HOST}
    monkeypatch.setattr(type(st.context), "headers", headers)
    app = open_page("runs")
    assert not app.exception
    assert bool(app.title) is shown
