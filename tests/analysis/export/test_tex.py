"""PGF: equal bytes, words that TeX can print, and a clear sentence where there is no TeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.drawing import files
from analysis.drawing.files import FORMATS, figure_bytes, formats_here
from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from glt.store import Run

RunsFor = Callable[[str], Sequence[Run]]


@pytest.mark.skipif(files.tex_found() is None, reason="no TeX is installed")
@pytest.mark.parametrize("name", ["accuracy", "pairs"])
def test_a_figure_has_its_width_and_the_same_bytes_and_stays_as_it_was(runs_for: RunsFor, name: str) -> None:
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


def test_words_are_escaped_and_formulas_are_not() -> None:
    assert files.escaped("a_b & 5% {x} #1 ~") == r"a\_b \& 5\% \{x\} \#1 \textasciitilde{}"
    assert files.escaped("\N{MINUS SIGN}5") == r"\ensuremath{-}5"
    assert files.escaped("$x_1$") == "$x_1$"


def test_without_a_tex_it_is_not_offered(
    runs_for: RunsFor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files.shutil, "which", lambda name: None)
    assert formats_here() == FORMATS
    out = tmp_path / "f.pgf"
    assert main(["figure", "accuracy", str(runs_for("accuracy")[0].path), "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "none of pdflatex, lualatex, xelatex is on the path" in said
    assert not out.exists()
