"""Words in a panel of curves: what the dashed lines are, and how far curves fall that leave at the foot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text

from analysis import marks
from analysis.export.figures.words import plain
from analysis.tables.curves import dense_table
from glt import formats

if TYPE_CHECKING:
    from analysis.export.figures.curve_layers import Panel

# Dashed lines closer than this share of the window have no room for words between them.
CLOSE = 0.09
# What a letter at the foot takes of the x axis of a narrow panel, as a share.
LETTER = 0.025
# Letters that the owner of a baseline may have: a method's name always, more where they leave half the panel to curves.
FEWEST_LETTERS, MOST_LETTERS, BESIDE_OWNER = 14, 28, 14
LETTER_INCHES = 0.044
SMALL: dict[str, Any] = {"fontsize": "small", "annotation_clip": False, "zorder": 6}
# Over bands, seeds' bases and the lines of the grid, under every curve.
UNDER_CURVES = 1.8


class Ground(Artist):
    """White under words: it hides the lines of the grid behind them, and no curve."""

    def __init__(self, words: Annotation) -> None:
        super().__init__()
        self._words = words
        self.set_zorder(UNDER_CURVES)
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Draw it where the words stand now."""
        self._words.update_positions(renderer)
        # A line that leads from the words to their mark is no part of them.
        place = Text.get_window_extent(self._words, renderer)
        Rectangle(place.p0, place.width, place.height, facecolor="white", alpha=0.7, linewidth=0).draw(renderer)


def write(area: Axes, text: str, *place: Any, **look: Any) -> Annotation:
    """Write small words into a panel, placed as matplotlib's `annotate` does; curves behind them stay as they are."""
    words = area.annotate(text, *place, **{**SMALL, **look})
    area.add_artist(Ground(words))
    return words


def name_baselines(area: Axes, panel: Panel) -> None:
    """Write over every dashed line what it is; under the lower one of two that lie close."""
    lines = sorted(marks.baselines(dense_table(panel.rounds, panel.score)), key=lambda line: line.mean)
    close = len(lines) == 2 and 100 * (lines[1].mean - lines[0].mean) < CLOSE * (panel.window.high - panel.window.low)
    letters = _owner_letters(area)
    for number, line in enumerate(lines):
        under = close and number == 0
        of_runs = f" ({plain(marks.cut(line.owner, letters))})" if line.owner else ""
        text = f"{line.name}{of_runs} {formats.fixed(100 * line.mean, 1)}%"
        place: Any = (1, 100 * line.mean), (0, -2.5 if under else 2.5), area.get_yaxis_transform(), "offset points"
        words = write(area, text, *place, ha="right", va="top" if under else "baseline")
        # Words over a line must not push the axes aside.
        words.set_in_layout(False)


def _owner_letters(area: Axes) -> int:
    fitting = int(area.get_window_extent().width / area.figure.dpi / 2 / LETTER_INCHES) - BESIDE_OWNER
    return min(max(fitting, FEWEST_LETTERS), MOST_LETTERS)


def name_exits(area: Axes, panel: Panel) -> None:
    """Write at the foot how far the curves fall that leave there: left of them, right of those near the left edge."""
    leaving = sorted([*marks.exits(panel.table, panel.x, panel.window), *_seeds_gone(panel)], key=lambda gone: gone.x)
    texts = [_fall(gone) for gone in leaving]
    spans = [_span(_across(area, gone.x), len(text)) for gone, text in zip(leaving, texts, strict=True)]
    for gone, text, span, level in zip(leaving, texts, spans, _levels(spans), strict=True):
        aside = 4 if span.is_right else -4
        place: Any = (gone.x, panel.window.low), (aside, 3 + 8 * level), "data", "offset points"
        ink = panel.style(gone.run, gone.method).words
        write(area, text, *place, ha="left" if span.is_right else "right", color=ink)


def _fall(gone: marks.Exit) -> str:
    several = f"{formats.number_of(gone.seeds, 'seed')} " if gone.seeds else "" if gone.runs == 1 else f"{gone.runs} "
    return f"{several}to {formats.percent(gone.lowest).replace(' ', '')}"


def _seeds_gone(panel: Panel) -> list[marks.Exit]:
    if not panel.each_seed or panel.crowd:
        return []
    return marks.seed_exits(panel.table, panel.rounds, panel.x, panel.score, panel.macs, panel.window)


def _across(area: Axes, x: float) -> float:
    """Return where a place stands on the x axis, as a share of it from the left."""
    first, last = area.transScale.transform([(edge, 1.0) for edge in area.get_xlim()])[:, 0]
    (here, _), *_ = area.transScale.transform([(x, 1.0)])
    return float((here - first) / (last - first))


class _Span(NamedTuple):
    """What words at the foot take of the axis (shares), and whether they stand right of their exit."""

    left: float
    right: float
    is_right: bool


def _span(across: float, letters: int) -> _Span:
    wide = LETTER * letters
    return _Span(across, across + wide, True) if across < wide else _Span(across - wide, across, False)


def _levels(spans: Sequence[_Span]) -> list[int]:
    """Return on which line each word at the foot stands, so that none touches another."""
    levels: list[int] = []
    for place, span in enumerate(spans):
        near = [other for other, each in enumerate(spans[:place]) if each.left < span.right and span.left < each.right]
        levels.append(min(set(range(place + 1)) - {levels[other] for other in near}))
    return levels
