"""Text comes out of Plotly as it went in, and no figure has another way to put it there."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from analysis.style.palette import escape

ANALYSIS = Path(__file__).parents[3] / "analysis"
# What Plotly's svg_text_utils knows; it leaves every other entity as it is written.
NAMED = {
    "mu": "\N{GREEK SMALL LETTER MU}",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "nbsp": "\N{NO-BREAK SPACE}",
    "times": "\N{MULTIPLICATION SIGN}",
    "plusmn": "\N{PLUS-MINUS SIGN}",
    "deg": "\N{DEGREE SIGN}",
}


def drawn(text: str) -> str:
    """What Plotly 6 shows of text that holds no tag (`convertEntities`)."""
    return re.sub(r"&(#\d+|[a-z]+);", lambda found: _character(found[1]) or found[0], text)


def _character(entity: str) -> str | None:
    return chr(int(entity[1:])) if entity.startswith("#") else NAMED.get(entity)


@given(st.text(st.sampled_from("<>&\"'%{}x;#37quotamp ")))
def test_text_is_shown_as_it_was_written(text: str) -> None:
    escaped = escape(text)
    assert drawn(escaped) == text
    assert not re.search(r"[<>]|%\{", escaped)


def test_no_figure_escapes_in_another_way() -> None:
    figures = [path for path in ANALYSIS.rglob("*.py") if "plotly" in path.read_text()]
    assert ANALYSIS / "drawing" / "screen.py" in figures
    assert not [path for path in figures if re.search(r"from html import .*\bescape\b", path.read_text())]
