"""What every page has: plain text, notes on results, and a store that is gone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app.components.frame import JOINER, plain, plain_lines
from glt.results_version import version_note
from glt.store import Run, Store
from glt.store.paths import EXAMPLES

# Bare addresses as the page's Markdown finds them, once its own signs and backslashes are gone.
WEB = re.compile(r"(https?://|www(?=\.))([-.\w]+)([^ \t\r\n]*)", re.IGNORECASE)
MAIL = re.compile(r"([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)")


@pytest.mark.parametrize(
    "text",
    [
        "[x](http://evil.test)",
        "see https://evil.test/a?b",
        "HTTP://evil.test",
        "(www.evil.test)",
        "WWW.evil.test",
        "a.b-c+d@evil.test",
        "mailto:a@evil.test",
        "é@evil.test",
    ],
)
def test_a_bare_address_is_no_link(text: str) -> None:
    assert WEB.search(text) or MAIL.search(text)
    for shown in (plain(text), plain_lines(text)):
        read = re.sub(r"\\(?=[^\w\s])", "", shown)
        assert not WEB.search(read)
        assert not MAIL.search(read)
        assert read.replace(JOINER, "") == text


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


def test_a_store_that_is_gone_is_said_until_it_is_back(
    make_run: Callable[..., Run], store: Store, open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    app = open_page("runs")
    assert not app.error
    away = store.root.rename(store.root.with_name("away"))
    assert "no longer exists" in app.run().error[0].value
    away.rename(store.root)
    assert not app.run().error


def test_a_store_that_was_never_there_is_no_loss(store: Store, open_page: Callable[..., AppTest]) -> None:
    assert not store.root.exists()
    assert not open_page("runs").error
