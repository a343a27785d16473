r"""Words of a person's own, with all that LaTeX and mathtext read as commands: every figure draws them as they are."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from matplotlib import cbook
from matplotlib.figure import Figure
from matplotlib.text import Text

from analysis import labels
from analysis.cli.main import main
from analysis.drawing import files
from analysis.drawing.files import figure_bytes
from analysis.drawing.legend import as_drawn, plain
from analysis.drawing.page import draw
from analysis.figures import losers
from analysis.figures.base import FIGURES, FigureChoices
from analysis.removal import groups
from analysis.subgraphs import Sample, panel
from glt.errors import StudioError
from glt.store import Run, Store
from glt.store.annotations import Annotation

RunsFor = Callable[[str], Sequence[Run]]

OWN = r"Costs $5, $x_1^2$ \b~^ {c} # 7 % & _d `e` -- f,,"
CLASS = "a_1 $b^2$ & 5 %"
CHOICES = FigureChoices(round=5, sample=Sample(size=30), measure="edges_kept_either_way")
# Figures that name each of several runs, and figures that name classes.
OF_RUNS = {"accuracy", "degrees", "layers", "losers", "pairs", "pareto", "subgraphs", "trend"}
OF_CLASSES = {"losers", "pairs", "subgraphs"}


@pytest.fixture
def own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call every run and every class something nasty."""
    monkeypatch.setattr(
        labels, "annotations_of", lambda runs: {run.reference: Annotation(title=OWN) for run in runs if run is not None}
    )
    for module in (groups, losers, panel):
        monkeypatch.setattr(module, "class_names", lambda graph: tuple(f"{CLASS} {n}" for n in range(7)))


def words(figure: Figure) -> Iterator[str]:
    figure.draw_without_rendering()
    yield from (text.get_text() for text in figure.findobj(Text) if text.get_text())


@pytest.mark.usefixtures("own_words")
@pytest.mark.parametrize("name", FIGURES.names())
def test_no_figure_reads_a_formula_in_them(runs_for: RunsFor, name: str) -> None:
    found = list(words(draw(name, runs_for(name), CHOICES)))
    assert not [text for text in found if "$" in text and cbook.is_math_text(text)]
    shown = " ".join(" ".join(map(as_drawn, found)).split())
    assert OWN in shown or name not in OF_RUNS
    assert f"{CLASS} " in shown or name not in OF_CLASSES


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ("Costs $5", r"Costs \textdollar{}5"),
        ("$x_1$", r"\textdollar{}x\_1\textdollar{}"),
        (r"\$", r"\textbackslash{}\textdollar{}"),
        ("--x `y` ''", r"-{}-x \`{}y\`{} '{}'"),
        ("«ħ» ą é", "??? a é"),
    ],
)
def test_tex_is_given_what_prints_them(given: str, typed: str) -> None:
    assert files.escaped(plain(given)) == typed


@pytest.mark.skipif(files.tex_found() is None, reason="no TeX is installed")
@pytest.mark.usefixtures("own_words")
def test_they_stand_in_a_pgf(runs_for: RunsFor, tmp_path: Path) -> None:
    content = figure_bytes(draw("accuracy", runs_for("accuracy")[:1], CHOICES), "pgf").decode()
    (typed,) = re.findall(r"\\def%\{\\%\}(Costs.*?)\}\}%$", content, re.MULTILINE)
    # Without the figure around it, which asks for a package that this TeX may not have.
    page = f"\\documentclass{{article}}\\begin{{document}}\\thispagestyle{{empty}}{typed}\\end{{document}}"
    (tmp_path / "page.tex").write_text(page)
    done = subprocess.run(
        [str(files.tex_found()), "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-500:]


def test_a_word_that_tex_refuses_is_one_sentence(
    runs_for: RunsFor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValueError("Error measuring {x}\nLaTeX Output:\n! Extra }, or forgotten $.\n<argument> x")

    monkeypatch.setattr(files, "check_tex", lambda: "pdflatex")
    monkeypatch.setattr(Figure, "savefig", refuse)
    figure = draw("accuracy", runs_for("accuracy")[:1], CHOICES)
    with pytest.raises(StudioError) as error:
        figure_bytes(figure, "pgf")
    assert str(error.value) == "TeX cannot draw this figure (Extra }, or forgotten $): write a PDF instead."
    out = tmp_path / "f.pgf"
    assert main(["figure", "accuracy", str(runs_for("accuracy")[0].path), "--out", str(out)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(files.tex_found() is None, reason="no TeX is installed")
def test_a_title_with_a_dollar_is_written_by_the_command(
    make_scored: Callable[..., Run], store: Store, tmp_path: Path
) -> None:
    run = make_scored("ugs", [[0.8, 0.79, 0.78]])
    store.annotate(run.name, {"title": "Costs $5"})
    out = tmp_path / "f.pgf"
    assert main(["figure", "accuracy", run.name, "--store", str(store.root), "--out", str(out)]) == 0
    assert r"Costs \textdollar{}5" in out.read_text()
