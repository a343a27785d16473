"""A page: several panels with one legend, and nothing at its edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from analysis.cli.main import main
from analysis.commands import figure_command
from analysis.drawing import page
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw, plan
from analysis.drawing.venues import VENUES
from analysis.figures.base import FIGURES, FigureChoices
from glt.errors import ConfigError
from glt.formats import file_size
from glt.store import Run, bundled_examples

NAMES = "accuracy,pareto,degrees"

WIDE = FigureChoices(columns=2, round=3)


@pytest.fixture
def runs(runs_for: Callable[[str], Sequence[Run]]) -> Sequence[Run]:
    return runs_for(NAMES)


def test_panels_have_letters_and_one_legend(runs: Sequence[Run]) -> None:
    figure = draw(NAMES, runs, WIDE, "1x3")
    assert [part.get_suptitle() for part in figure.subfigs] == ["(a)", "(b)", "(c)"]
    assert figure.get_size_inches()[0] == WIDE.width
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts() if text.get_text().strip()]
    assert len(words) == len(set(words))
    assert {"UGS (GCN)", "UGS (GIN)", "Pareto front", "Original"} <= set(words)
    assert not any(part.legends for part in figure.subfigs)


def test_panels_of_a_row_are_aligned(runs: Sequence[Run]) -> None:
    places = [part.axes[0].get_window_extent() for part in draw(NAMES, runs, WIDE, "1x3").subfigs]
    assert len({round(place.y0, 3) for place in places}) == 1
    assert len({round(place.y1, 3) for place in places}) == 1


def test_the_command_line_gives_the_same_bytes_and_numbers(
    runs: Sequence[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    own = [str(run.path.absolute()) for run in runs]
    command = figure_command(NAMES, own, WIDE, "runs", "p.pdf", "3x1").split()[1:]
    assert main(command) == 0
    assert capsys.readouterr().out == f"Wrote p.pdf, {file_size(Path('p.pdf').stat().st_size)}.\n"
    assert Path("p.pdf").read_bytes() == figure_bytes(draw(NAMES, runs, WIDE, "3x1"), "pdf")
    assert main([*command[:-1], "p.csv"]) == 0
    table = pd.read_csv("p.csv")
    assert list(table["part"].unique()) == ["a", "b", "c"]
    assert len(table) == len(plan(NAMES, runs, WIDE, "3x1").points)


@pytest.mark.parametrize(
    ("names", "shape", "words"),
    [(NAMES, "1x2", "do not fit"), (NAMES, "wide", "not a grid"), ("accuracy,degree", None, "did you mean 'degrees'")],
)
def test_impossible_choices_are_refused(runs: Sequence[Run], names: str, shape: str | None, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        plan(names, runs, WIDE, shape)
    with pytest.raises(ConfigError, match="too many"):
        plan(",".join(["accuracy"] * 13), runs, WIDE)


def test_panels_without_room_for_their_axes_are_refused(runs: Sequence[Run]) -> None:
    with pytest.raises(ConfigError, match=r"4 panels in a row .* fewer columns .* --panels, or --columns 2"):
        plan("accuracy,pareto", runs, FigureChoices(), "1x4")
    with pytest.raises(ConfigError, match=r"9 panels in a row .* fewer columns of panels with --panels\."):
        plan("accuracy,pareto", runs, WIDE, "9x9")


def test_axes_without_room_are_refused_in_one_sentence(runs: Sequence[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "LEAST_WIDTH", 0.1)
    with pytest.raises(ConfigError, match="9 panels in a row do not fit"):
        draw("accuracy,pareto", runs, FigureChoices(), "9x9")


MakeScored = Callable[..., Run]

# Venues of one width and one size of words give one page.
PAGES = list({FigureChoices(venue=name, columns=n).width: (name, n) for name in VENUES for n in (1, 2)}.values())

CURVES = ("accuracy", "pareto", "teaser")

DPI = 100

# Of 255: lighter pixels are paper or the blur of a stroke.
INK = 200


def left_the_page(figure: Figure, width: float) -> str:
    """Name the page edges that the figure touches or crosses; "" if there are none."""
    assert figure.get_size_inches()[0] == pytest.approx(width)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    ink = (np.asarray(canvas.buffer_rgba())[..., :3] < INK).any(axis=-1)
    box, (wide, high) = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    edges = {
        "left": ink[:, 0].any() or box.x0 < 0,
        "right": ink[:, -1].any() or box.x1 > wide,
        "top": ink[0].any() or box.y1 > high,
        "bottom": ink[-1].any() or box.y0 < 0,
    }
    return ", ".join(edge for edge, touched in edges.items() if touched)


@pytest.fixture(scope="module")
def pair() -> Sequence[Run]:
    """UGS from a random and from a pre-trained start, whose scores lie so near each other that ticks have decimals."""
    names = ("cora-node-gcn-ugs-df8e8f72", "cora-node-gcn-ugs-5840f40e")
    examples = {run.name: run for run in bundled_examples()}
    return [examples[name] for name in names]


# Figures of predictions, which examples lack, and of runs that take masks from others.
OF_OTHER_RUNS = ("attribution", "calibration", "transfer", "who_pays")


@pytest.mark.parametrize("name", FIGURES.names())
def test_no_figure_touches_the_edge_at_any_venue_and_width(
    pair: Sequence[Run], runs_for: Callable[[str], Sequence[Run]], name: str
) -> None:
    touched, shown = {}, runs_for(name) if name in OF_OTHER_RUNS else pair
    for venue, columns in PAGES:
        choices = FigureChoices(venue=venue, columns=columns, round=9)
        touched[venue, columns] = left_the_page(draw(name, shown, choices), choices.width)
    assert not any(touched.values()), touched


@pytest.mark.parametrize(("shape", "columns"), [("2x1", 1), ("1x2", 2), ("2x2", 2), ("4x1", 1)])
def test_no_panel_touches_the_edge(pair: Sequence[Run], shape: str, columns: int) -> None:
    names = "accuracy,pareto" if shape in ("2x1", "1x2") else "accuracy,pareto,teaser,degrees"
    choices = FigureChoices(columns=columns, round=9)
    assert left_the_page(draw(names, pair, choices, shape), choices.width) == ""


@pytest.fixture
def near(make_scored: MakeScored) -> Sequence[Run]:
    """Runs whose scores span less than a point."""
    return [
        make_scored("ugs", [[0.8012, 0.8009, 0.8003, 0.7991]] * 3),
        make_scored("random", [[0.8012, 0.8004, 0.7998, 0.7986]] * 3),
    ]


@pytest.fixture
def many(make_scored: MakeScored) -> Sequence[Run]:
    """Fourteen runs of one method."""
    scores = [[[0.8 - 0.003 * n, 0.79, 0.7]] * 2 for n in range(14)]
    return [make_scored("ugs", each, hidden=8 * (n + 1)) for n, each in enumerate(scores)]


# Every axis at both widths, then the other figures of curves and other letters on the narrower page.
STRAINED = [
    ("accuracy", FigureChoices(columns=n, x=x)) for n in (1, 2) for x in ("graph", "weight", "edges", "macs", "all")
]


STRAINED += [(name, FigureChoices(font="sans", text=12.0)) for name in CURVES]


@pytest.mark.parametrize("runs", ["near", "many"])
def test_long_tick_labels_and_many_runs_stay_on_the_page(request: pytest.FixtureRequest, runs: str) -> None:
    shown: Sequence[Run] = request.getfixturevalue(runs)
    touched = {}
    for name, choices in STRAINED:
        about = (name, choices.x, choices.columns, choices.font)
        touched[about] = left_the_page(draw(name, shown, choices), choices.width)
    assert not any(touched.values()), touched
