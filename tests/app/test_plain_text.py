"""Texts of others on a page lead nowhere, even where Markdown makes links of bare addresses."""

from __future__ import annotations

import re

import pytest

from app.components.frame import JOINER, plain, plain_lines

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
