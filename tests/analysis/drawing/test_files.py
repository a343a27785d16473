"""Files: fonts and sizes, figures without colour, PGF."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgba

from analysis.cli.main import main
from analysis.commands import figure_command
from analysis.drawing import files
from analysis.drawing.files import FORMATS, figure_bytes, formats_here
from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from analysis.subgraphs.samplers import Sample
from glt.errors import ConfigError
from glt.store import Run

RunsFor = Callable[[str], Sequence[Run]]


@pytest.mark.skipif(files.tex_found() is None, reason="no TeX is installed")
@pytest.mark.parametrize("name", ["accuracy", "pairs"])
def test_figure_files_are_reproducible(runs_for: RunsFor, name: str) -> None:
    runs, choices = runs_for(name)[:1], FigureChoices(round=5)
    figure = draw(name, runs, choices)
    before, content = figure_bytes(figure, "png", 50), figure_bytes(figure, "pgf")
    assert content == figure_bytes(figure, "pgf") == figure_bytes(draw(name, runs, choices), "pgf")
    assert figure_bytes(figure, "png", 50) == before
    (width,) = re.findall(r"pgfpathrectangle\{\\pgfpointorigin\}\{\\pgfqpoint\{([\d.]+)in\}", content.decode())
    assert float(width) == choices.width
    texts = re.findall(r"\\def%\{\\%\}(.*)\}\}%$", content.decode(), re.MULTILINE)
    assert any("(\\%)" in text for text in texts) == (name == "accuracy")
    assert not any(re.search(r"(?<!\\)[%&#_]", text) for text in texts)


def test_pgf_is_not_offered_without_tex(
    runs_for: RunsFor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files.shutil, "which", lambda name: None)
    assert formats_here() == FORMATS
    out = tmp_path / "f.pgf"
    assert main(["figure", "accuracy", str(runs_for("accuracy")[0].path), "--out", str(out)]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "none of pdflatex, lualatex, xelatex is on the path" in printed
    assert not out.exists()


SCORES = {"ugs": [[0.82, 0.82, 0.8], [0.81, 0.8, 0.8]], "random": [[0.82, 0.8, 0.7], [0.81, 0.8, 0.71]]}


@pytest.fixture
def runs(make_scored: Callable[..., Run]) -> Sequence[Run]:
    return [make_scored(method, scores) for method, scores in SCORES.items()]


def test_text_has_the_chosen_font_and_size(runs: Sequence[Run]) -> None:
    label = draw("accuracy", runs, FigureChoices(font="sans", text=10)).axes[0].xaxis.label
    assert (label.get_fontfamily(), label.get_fontsize()) == (["DejaVu Sans"], 10)
    usual = draw("accuracy", runs, FigureChoices()).axes[0].xaxis.label
    assert (usual.get_fontfamily(), usual.get_fontsize()) == (["STIXGeneral"], 8)


@pytest.mark.parametrize(("font", "text"), [("comic", None), ("times", 90.0), ("times", float("nan"))])
def test_impossible_fonts_are_refused(runs: Sequence[Run], font: Any, text: float | None) -> None:
    with pytest.raises(ConfigError):
        draw("accuracy", runs, FigureChoices(font=font, text=text))


def test_methods_differ_in_a_grey_figure(runs: Sequence[Run]) -> None:
    grey = draw("accuracy", runs, FigureChoices(grey=True))
    keys = {
        text.get_text(): line for text, line in zip(grey.legends[0].texts, grey.legends[0].get_lines(), strict=True)
    }
    ugs, random = keys["UGS"], keys["Random pruning"]
    assert abs(to_rgba(ugs.get_color())[0] - to_rgba(random.get_color())[0]) > 0.2
    assert ugs.get_linestyle() != random.get_linestyle()


def test_greys_of_many_runs_range_from_light_to_dark(make_scored: Callable[..., Run]) -> None:
    crowd = [make_scored("ugs", SCORES["ugs"], p_graph=0.01 * (place + 1)) for place in range(5)]
    figure = draw("accuracy", crowd, FigureChoices(grey=True))
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == len(SCORES["ugs"][0])]
    inks = [to_rgba(line.get_color())[0] for line in lines]
    assert inks == sorted(inks, reverse=True)
    assert len(set(inks)) == len(crowd)


def test_the_command_has_the_chosen_options() -> None:
    command = figure_command("accuracy", ["a"], FigureChoices(font="sans", text=9.5, grey=True), "runs", "f.pdf")
    assert "--font sans --text 9.5 --grey" in command
    sample = Sample(kind="nodes", nodes=(3, 17))
    chosen = FigureChoices(sample=sample, fresh=True, measure="reach", over="kept", null=False, edge=(3, 17))
    command = figure_command("accuracy,trend", ["a"], chosen, "runs", "f.png", "1x2", 600)
    for words in (
        "--nodes 3,17 --fresh",
        "--measure reach --over kept --no-null --edge 3,17",
        "--panels 1x2 --dpi 600",
    ):
        assert words in command
