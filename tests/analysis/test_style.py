"""Colours and markers of methods and settings, and text in Plotly."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import palette
from analysis.drawing.paper import SHAPES
from analysis.figures.base import dash_of_run
from analysis.palette import DARK, LIGHT, escape
from glt.methods import METHODS
from glt.removal_causes import CAUSES

LATER = ("combine", "teddy", "wd_glt", "ace_glt", "fast_glt")
KNOWN = sorted({"dense", *METHODS.names(), *LATER, "zeta", "a-method-of-tomorrow"})


@pytest.mark.parametrize("look", [palette.Style.color, lambda style: style.symbol])
def test_registered_methods_differ_in_colour_and_in_marker(look: Callable[[palette.Style], str]) -> None:
    looks = [look(palette.style(name)) for name in ("dense", *METHODS.names())]
    assert len(set(looks)) == len(looks)


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", KNOWN)
def test_colours_have_contrast_on_both_backgrounds(name: str) -> None:
    assert 1.05 / (luminance(palette.style(name).words) + 0.05) >= 4.5
    assert (luminance(palette.style(name).dark) + 0.05) / (luminance("#0E1117") + 0.05) >= 4.5


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_causes_differ_in_grey_print_and_from_every_method() -> None:
    styles = [palette.cause_style(cause) for cause in CAUSES]
    greys = sorted(
        0.299 * red + 0.587 * green + 0.114 * blue for red, green, blue in (palette.rgb(s.light) for s in styles)
    )
    assert min(high - low for low, high in pairwise(greys)) > 0.1 * 255
    assert min(contrast(style.words, "#FFFFFF") for style in styles) >= 4.5
    assert min(contrast(style.dark, DARK.ground) for style in styles[1:]) >= 3
    # Greys of figures follow the colours of methods.
    assert not {style.light for style in styles} & {palette.style(name).light for name in KNOWN}


def test_methods_of_the_paper_and_edge_scores_have_their_line_styles() -> None:
    dashes = {name: palette.style(name).dash for name in ("dense", "ugs", "random", "admm", "score", "reinit")}
    assert {name: dash for name, dash in dashes.items() if dash} == {"admm": 1, "score": 3}


def test_later_methods_differ_from_all_others_and_from_unknown_ones() -> None:
    looks = [palette.style(name) for name in (*LATER, "dense", "ugs", "random", "admm", "score", "reinit")]
    others = [palette.style(name) for name in ("zeta", "a-method-of-tomorrow")]
    for part in ("light", "dark", "words", "symbol"):
        found = [getattr(look, part) for look in looks]
        assert len(set(found)) == len(found)
        assert not {getattr(look, part) for look in others} & set(found)
    assert {look.symbol for look in looks} <= SHAPES.keys()


def test_further_runs_of_a_method_use_the_next_dashes() -> None:
    runs = {"ugs-1": "ugs", "admm-1": "admm", "ugs-2": "ugs", "admm-2": "admm"}
    table = pd.DataFrame({"run": list(runs), "method": list(runs.values())})
    assert dash_of_run(table) == {"ugs-1": 0, "admm-1": 1, "ugs-2": 1, "admm-2": 2}


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_lightness_rises_with_the_value(count: int) -> None:
    styles = palette.steps(count)
    for dark, ground in ((False, LIGHT.ground), (True, DARK.ground)):
        shades = [luminance(style.color(dark)) for style in styles]
        assert shades == sorted(shades)
        assert len(set(shades)) == count
        assert min(contrast(style.color(dark), ground) for style in styles) >= 2.75
    assert min(contrast(style.words, LIGHT.ground) for style in styles) >= 4.5


def test_neighbours_differ_in_marker() -> None:
    styles = palette.steps(8)
    assert len({style.symbol for style in styles}) == 8


ANALYSIS = Path(__file__).parents[2] / "analysis"
# Entities that Plotly's svg_text_utils converts; it leaves all others unchanged.
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
def test_escaped_text_is_shown_verbatim(text: str) -> None:
    escaped = escape(text)
    assert drawn(escaped) == text
    assert not re.search(r"[<>]|%\{", escaped)


def test_escaping_is_in_one_place() -> None:
    figures = [path for path in ANALYSIS.rglob("*.py") if "plotly" in path.read_text()]
    assert ANALYSIS / "drawing" / "screen.py" in figures
    assert not [path for path in figures if re.search(r"from html import .*\bescape\b", path.read_text())]
