"""The ablation: panels, insets and keys on the screen and on paper."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.axes import Axes

from analysis.ablation import ablation_panels
from analysis.cli.main import main
from analysis.drawing import screen
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.figures.ablation import ablation_curves
from analysis.figures.base import FIGURES, FigureChoices
from analysis.style import palette
from analysis.tables.curves import XAxis
from glt.errors import ConfigError, StoreError
from glt.formats import as_typed
from glt.store import Run


@pytest.fixture
def runs(make_swept: Callable[..., Run]) -> Sequence[Run]:
    return [make_swept(p_graph=g, p_weight=w) for g, w in product((0.05, 0.1, 0.2), (0.1, 0.2, 0.4))]


def lines(figure: go.Figure, axis: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.mode == "lines" and trace.xaxis == axis]


def test_each_panel_has_its_lines_and_its_inset_shows_them_again(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs))
    for panel, axis, inset in zip(ablation_panels(runs), ("x", "x2"), ("x3", "x4"), strict=True):
        assert [trace.name for trace in lines(figure, axis)] == list(panel.labels.values())
        assert [trace.line.color for trace in lines(figure, axis)] == [style.light for style in palette.steps(3)]
        for line, again in zip(lines(figure, axis), lines(figure, inset), strict=True):
            assert np.array_equal(line.x, again.x)
            assert np.array_equal(line.y, again.y)
    titles = [note.text for note in figure.layout.annotations]
    assert "<b>(a) p_weight = 20 %</b>" in titles
    assert titles.count("Dense 81.2 %") == 2


@pytest.mark.parametrize("x", ["graph", "weight", "macs"])
def test_the_inset_enlarges_the_box_that_is_drawn(make_swept: Callable[..., Run], x: XAxis) -> None:
    layout = screen.draw(
        ablation_curves([make_swept(hidden=size, slope=10 + size / 16) for size in (8, 16, 32)], x=x)
    ).layout
    (box,) = [shape for shape in layout.shapes if shape.type == "rect"]
    across, up = layout.xaxis2, layout.yaxis2
    ends = [box.x0, box.x1]
    assert across.range == pytest.approx(np.log10(ends) if x == "macs" else ends)
    assert (across.range[0] > across.range[1]) == (x == "macs")
    assert up.range == pytest.approx([box.y0, box.y1])
    low, high = layout.yaxis.range
    assert up.domain[1] - up.domain[0] > (box.y1 - box.y0) / (high - low)
    assert layout.xaxis.domain[0] < across.domain[0] < across.domain[1] < layout.xaxis.domain[1]


def test_marks_name_their_round_and_values_differ_in_marker(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs))
    marked = {tuple(place) for trace in figure.data if trace.customdata is not None for place in trace.customdata}
    assert marked == {(run, k) for panel in ablation_panels(runs) for run in panel.labels for k in range(13)}
    keys = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.marker.symbol for trace in keys] == ["circle", "square", "triangle-up"] * 2
    assert [trace.legend for trace in keys] == ["legend"] * 3 + ["legend2"] * 3


def test_dark_takes_the_light_part_of_the_scale(runs: Sequence[Run]) -> None:
    figure = screen.draw(ablation_curves(runs), dark=True)
    assert [trace.line.color for trace in lines(figure, "x")] == [style.dark for style in palette.steps(3)]


def test_a_single_run_is_refused(make_swept: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="needs runs that differ"):
        screen.draw(ablation_curves([make_swept()]))


def insets(area: Axes) -> list[Axes]:
    return [child for child in area.child_axes if isinstance(child, Axes)]


@pytest.mark.parametrize(("venue", "columns", "points"), [("icml", 1, 234.0), ("icml", 2, 486.0), ("ieee", 2, 515.52)])
def test_fonts_are_embedded_and_the_width_is_the_venue_s(
    runs: Sequence[Run], tmp_path: Path, venue: str, columns: int, points: float
) -> None:
    if shutil.which("pdffonts") is None:
        pytest.skip("pdffonts (poppler-utils) is not installed")
    out = tmp_path / "f.pdf"
    out.write_bytes(figure_bytes(draw("ablation", runs, FigureChoices(venue=venue, columns=columns)), "pdf"))
    fonts = subprocess.run(["pdffonts", out], check=True, capture_output=True, text=True).stdout.splitlines()[2:]
    assert fonts
    assert all("TrueType" in font and font.split()[-5] == "yes" for font in fonts)
    words = subprocess.run(["pdfinfo", out], check=True, capture_output=True, text=True).stdout
    size = next(line for line in words.splitlines() if line.startswith("Page size"))
    assert float(size.split()[2]) == pytest.approx(points, abs=0.05)


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_the_same_bytes_twice(runs: Sequence[Run], kind: str) -> None:
    choices = FigureChoices(columns=2, margin=0.01)
    first = figure_bytes(draw("ablation", runs, choices), kind)
    assert figure_bytes(draw("ablation", runs, choices), kind) == first


def test_each_varied_setting_has_a_panel_with_its_own_keys(runs: Sequence[Run]) -> None:
    graph, weight = draw("ablation", runs, FigureChoices(columns=2)).axes
    for area, title, keys in (
        (graph, "(a) p_weight = 20 %", ["p_graph = 5 %", "p_graph = 10 %", "p_graph = 20 %"]),
        (weight, "(b) p_graph = 5 %", ["p_weight = 10 %", "p_weight = 20 %", "p_weight = 40 %"]),
    ):
        legend = area.get_legend()
        assert legend.get_title().get_text() == title
        assert [text.get_text() for text in legend.get_texts() if "=" in text.get_text()] == keys
        assert "Dense 81.2%" in [text.get_text() for text in area.texts]
        lines = [line for line in area.lines if len(line.get_xdata()) == 13]
        assert [line.get_color() for line in lines] == [style.light for style in palette.steps(3)]
        assert len({handle.get_marker() for handle in legend.legend_handles[:3]}) == 3


@pytest.mark.parametrize("x", ["graph", "weight", "macs"])
def test_the_inset_shows_a_part_of_its_panel_larger(make_swept: Callable[..., Run], x: XAxis) -> None:
    close = [make_swept(hidden=size, slope=10 + size / 16) for size in (8, 16, 32)]
    for area in draw("ablation", close, FigureChoices(x=x)).axes:
        (inset,) = insets(area)
        left, right = sorted(area.get_xlim())
        low, high = area.get_ylim()
        assert left < min(inset.get_xlim()) < max(inset.get_xlim()) < right
        assert low < inset.get_ylim()[0] < inset.get_ylim()[1] < high
        assert (inset.get_xlim()[0] > inset.get_xlim()[1]) == (x == "macs")
        assert inset.get_xscale() == area.get_xscale()
        place = inset.get_position().height / area.get_position().height
        assert place > (inset.get_ylim()[1] - inset.get_ylim()[0]) / (high - low)
        (indicator,) = [child for child in area.get_children() if type(child).__name__ == "InsetIndicator"]
        assert indicator.rectangle.get_height() == pytest.approx(inset.get_ylim()[1] - inset.get_ylim()[0])


def test_all_axes_are_a_grid_of_panels(runs: Sequence[Run]) -> None:
    assert len(draw("ablation", runs, FigureChoices(x="all", columns=2)).axes) == 6


def test_one_setting_is_one_panel_without_a_letter(make_swept: Callable[..., Run]) -> None:
    (area,) = draw("ablation", [make_swept(hidden=size, slope=size) for size in (8, 16)], FigureChoices()).axes
    assert area.get_legend().get_title().get_text() == ""
    assert area.get_legend().get_texts()[0].get_text() == "hidden = 8"


def test_runs_that_are_no_ablation_are_refused(make_swept: Callable[..., Run], make_scored: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="needs runs that differ"):
        draw("ablation", [make_swept()], FigureChoices())
    with pytest.raises(StoreError, match="no finished round"):
        draw("ablation", [make_scored("admm", [])], FigureChoices())
    assert "ablation" in FIGURES.names()


def test_command_line_writes_the_figure(runs: Sequence[Run], tmp_path: Path) -> None:
    out = tmp_path / "f.pdf"
    paths = [str(run.path) for run in runs]
    assert main(["figure", "ablation", *paths, "--x", "graph", "--venue", "icml", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"%PDF")


def test_a_complaint_is_one_line(runs: Sequence[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figure", "ablation", str(runs[0].path), "--out", str(tmp_path / "f.pdf")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert as_typed("sweep") in said
