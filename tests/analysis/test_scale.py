from __future__ import annotations

import pytest

from analysis import scale, theme


def lightness(color: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((lightness(one), lightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_lightness_rises_with_the_value_and_stands_out_from_the_ground(count: int) -> None:
    styles = scale.steps(count)
    for dark, ground in ((False, theme.LIGHT.ground), (True, theme.DARK.ground)):
        shades = [lightness(style.color(dark)) for style in styles]
        assert shades == sorted(shades)
        assert len(set(shades)) == count
        assert min(contrast(style.color(dark), ground) for style in styles) >= 2.75
    assert min(contrast(style.words, theme.LIGHT.ground) for style in styles) >= 4.5


def test_neighbours_differ_in_marker() -> None:
    styles = scale.steps(8)
    assert len({style.marker for style in styles}) == len({style.symbol for style in styles}) == 8
