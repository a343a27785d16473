"""Pages that show runs of another results version say so once, and those of today's say nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from glt.results_version import version_note
from glt.store import Run
from glt.store.paths import EXAMPLES


@pytest.mark.parametrize("page", ["curves", "tickets", "compare", "runs", "export"])
def test_a_page_names_the_version_of_the_examples(
    page: str, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.data.runs.EXAMPLES", EXAMPLES)
    app = open_page(page)
    assert not app.exception
    note = version_note([Run.open(EXAMPLES / "cora-node-gcn-ugs-df8e8f72")])
    assert note
    assert [caption.value for caption in app.caption].count(note) == 1


def test_runs_without_another_version_need_no_words(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    app = open_page("curves")
    assert not any("results version" in caption.value for caption in app.caption)
