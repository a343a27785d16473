"""The bundle on the Export page is what the command line writes."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from analysis.bundle import bundle_bytes
from analysis.export import FigureChoices
from app.views import export
from glt.store import Run


def test_the_page_makes_the_same_bytes(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    run = make_run("ugs")
    app = open_page("export", what="bundle", runs=run.name, columns="2")
    assert not app.exception
    assert export.BUNDLE_KEPT not in app.session_state
    app.button(key="make-bundle").click().run()
    assert not app.exception
    assert app.session_state[export.BUNDLE_KEPT][1] == bundle_bytes([run], FigureChoices(columns=2))
    assert any("Reproduction bundle" in block.value for block in app.code)
    app.segmented_control(key="columns").set_value("1").run()
    assert app.button(key="make-bundle")
