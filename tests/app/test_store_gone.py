"""A store that is moved away while a page is open."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from glt.store import Run, Store


def test_a_store_that_is_gone_is_said_until_it_is_back(
    make_run: Callable[..., Run], store: Store, open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    app = open_page("runs")
    assert not app.error
    away = store.root.rename(store.root.with_name("away"))
    assert "no longer there" in app.run().error[0].value
    away.rename(store.root)
    assert not app.run().error


def test_a_store_that_was_never_there_is_no_loss(store: Store, open_page: Callable[..., AppTest]) -> None:
    assert not store.root.exists()
    assert not open_page("runs").error
