from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.drawing.venues import VENUES
from analysis.figures.base import FIGURES, FigureChoices
from glt.errors import ConfigError, StoreError
from glt.store import Run

UGS = [[0.82, 0.829, 0.80, 0.79, 0.78], [0.81, 0.8192, 0.81, 0.78, 0.77]]
RANDOM = [[0.82, 0.80, 0.70, 0.50, 0.30], [0.81, 0.80, 0.71, 0.52, 0.31]]


@pytest.fixture
def runs(make_scored: Callable[..., Run]) -> Sequence[Run]:
    return [make_scored("ugs", UGS), make_scored("random", RANDOM)]


def poppler(tool: str, content: bytes, folder: Path) -> str:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} (poppler-utils) is not installed")
    (folder / "figure.pdf").write_bytes(content)
    return subprocess.run([tool, folder / "figure.pdf"], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("venue", "columns", "points"),
    [
        ("icml", 1, 234.0),
        ("icml", 2, 486.0),
        ("neurips", 1, 396.0),
        ("iclr", 1, 396.0),
        ("ieee", 1, 252.0),
        ("ieee", 2, 515.52),
        ("acm", 1, 239.76),
        ("acm", 2, 504.0),
    ],
)
def test_width_is_the_venue_s(runs: Sequence[Run], tmp_path: Path, venue: str, columns: int, points: float) -> None:
    figure = draw("accuracy", runs, FigureChoices(venue=venue, columns=columns))
    words = poppler("pdfinfo", figure_bytes(figure, "pdf"), tmp_path)
    size = next(line for line in words.splitlines() if line.startswith("Page size"))
    assert float(size.split()[2]) == pytest.approx(points, abs=0.05)


@pytest.mark.parametrize("x", ["graph", "macs", "all"])
def test_fonts_are_embedded_and_none_is_type_3(runs: Sequence[Run], tmp_path: Path, x: str) -> None:
    content = figure_bytes(draw("accuracy", runs, FigureChoices(x=x, paper=True)), "pdf")
    fonts = poppler("pdffonts", content, tmp_path).splitlines()[2:]
    assert fonts
    for font in fonts:
        assert "Type 3" not in font
        assert "TrueType" in font
        assert font.split()[-5] == "yes"  # emb


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_the_same_bytes_twice(runs: Sequence[Run], kind: str) -> None:
    choices = FigureChoices(x="all", columns=2, margin=0.01)
    figure = draw("accuracy", runs, choices)
    first = figure_bytes(figure, kind)
    assert figure_bytes(figure, kind) == first
    assert figure_bytes(draw("accuracy", runs, choices), kind) == first


def test_panels_share_the_accuracy_axis_and_run_towards_sparsity(runs: Sequence[Run]) -> None:
    figure = draw("accuracy", runs, FigureChoices(x="all", columns=2))
    graph, weight, macs = figure.axes
    assert [area.get_title("left") for area in figure.axes] == ["(a)", "(b)", "(c)"]
    assert graph.get_ylim() == weight.get_ylim() == macs.get_ylim()
    assert macs.get_xscale() == "log"
    left, right = macs.get_xlim()
    assert left > right
    assert "Inference MACs (M, log scale)" in macs.get_xlabel()


def test_near_view_names_what_falls_out_and_the_full_one_shows_it(runs: Sequence[Run]) -> None:
    near = draw("accuracy", runs, FigureChoices())
    assert near.axes[0].get_ylim()[0] > 60
    assert "to 30.5%" in [text.get_text() for text in near.axes[0].texts]
    full = draw("accuracy", runs, FigureChoices(near=False))
    assert full.axes[0].get_ylim()[0] < 30
    assert all(not text.get_text().startswith("to ") for text in full.axes[0].texts)


def test_dense_is_labelled_and_stars_stand_on_tickets(runs: Sequence[Run]) -> None:
    figure = draw("accuracy", runs, FigureChoices())
    assert "Dense 81.5%" in [text.get_text() for text in figure.axes[0].texts]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"UGS", "Random pruning", "Ticket (shown to lose < 0.5 points)"} <= set(labels)


def test_unknown_names_and_empty_runs(runs: Sequence[Run], make_scored: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="did you mean 'icml'"):
        draw("accuracy", runs, FigureChoices(venue="icm"))
    with pytest.raises(ConfigError, match="Unknown figure"):
        draw("acuracy", runs, FigureChoices())
    with pytest.raises(ConfigError, match="Unknown figure format"):
        figure_bytes(draw("accuracy", runs, FigureChoices()), "eps")
    with pytest.raises(StoreError, match="no finished round"):
        draw("accuracy", [make_scored("admm", [])], FigureChoices())
    assert "accuracy" in FIGURES.names()
    assert list(VENUES) == ["icml", "neurips", "iclr", "ieee", "acm"]


@pytest.mark.parametrize("dpi", ["0", "1201", "1000000"])
def test_more_dots_than_fit_the_memory_are_one_sentence(
    runs: Sequence[Run], dpi: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "f.png"
    assert main(["figure", "accuracy", str(runs[0].path), "--dpi", dpi, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert f"{dpi} dots an inch cannot be: choose 1 to 1200" in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_command_line_writes_the_figure(runs: Sequence[Run], tmp_path: Path) -> None:
    out = tmp_path / "f.pdf"
    paths = [str(run.path) for run in runs]
    arguments = ["figure", "accuracy", *paths, "--x", "macs", "--macs", "sparse_features", "--venue", "icml"]
    assert main([*arguments, "--score", "last", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"%PDF")
    assert main([*arguments, "--out", str(tmp_path / "f.png"), "--dpi", "72"]) == 0
    # Width and height stand at the head of a PNG: 3.25 in at 72 dots an inch.
    assert int.from_bytes((tmp_path / "f.png").read_bytes()[16:20], "big") == 234
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".partial")] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--out", "f.eps"], 2, "f.eps does not say which kind"),
        (["--out", "f.pdf", "--venue", "icmll"], 2, "did you mean 'icml'"),
        (["--out", "no/such/folder/f.pdf"], 1, "No such file"),
    ],
)
def test_complaints_are_one_line(
    runs: Sequence[Run],
    arguments: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["figure", "accuracy", str(runs[0].path), *arguments]) == code
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
