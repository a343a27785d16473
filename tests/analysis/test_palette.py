from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis import palette
from glt.methods import METHODS

KNOWN = ["dense", *METHODS.names(), "zeta", "a-method-of-tomorrow"]


def test_the_paper_s_colours() -> None:
    assert [palette.color(name) for name in ("dense", "ugs", "random", "admm")] == [
        "#000000",
        "#D55E00",
        "#0072B2",
        "#E69F00",
    ]


@pytest.mark.parametrize("look", [palette.Style.color, lambda style: style.symbol, lambda style: style.marker])
def test_registered_methods_differ_in_colour_and_in_marker(look: Callable[[palette.Style], str]) -> None:
    looks = [look(palette.style(name)) for name in ("dense", *METHODS.names())]
    assert len(set(looks)) == len(looks)


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", KNOWN)
def test_words_can_be_read_on_both_grounds(name: str) -> None:
    assert 1.05 / (luminance(palette.words_color(name)) + 0.05) >= 4.5
    assert (luminance(palette.words_color(name, dark=True)) + 0.05) / (luminance("#0E1117") + 0.05) >= 4.5


def test_unknown_methods_keep_their_name() -> None:
    assert palette.label("zeta") == "zeta"
