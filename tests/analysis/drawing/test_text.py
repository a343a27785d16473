"""Words in paper figures: as they were written, inside the page, and apart."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import plotly.graph_objects as go
import pytest
from matplotlib import cbook
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from plotly.subplots import make_subplots

from analysis import labels
from analysis.alt_text import MOST_SERIES, sentence, series_of, table
from analysis.cli.main import main
from analysis.drawing import files
from analysis.drawing.description import Axis, Description, Panel
from analysis.drawing.files import figure_bytes
from analysis.drawing.legend import as_drawn, plain, width_of, wrapped
from analysis.drawing.page import draw
from analysis.drawing.paper import Ground, drawing
from analysis.drawing.paper_style import paper_style
from analysis.drawing.venues import VENUES
from analysis.figures import losers
from analysis.figures.base import FIGURES, FigureChoices
from analysis.removal import groups
from analysis.subgraphs import panel
from analysis.subgraphs.samplers import Sample
from glt.errors import StudioError
from glt.store import Run, Store
from glt.store.annotations import Annotation

RunsFor = Callable[[str], Sequence[Run]]

OWN = r"Costs $5, $x_1^2$ \b~^ {c} # 7 % & _d `e` -- f,,"

CLASS = "a_1 $b^2$ & 5 %"

CHOICES = FigureChoices(round=5, sample=Sample(size=30), measure="edges_kept_either_way")

# Figures that label each of several runs, and figures that label classes.
OF_RUNS = {"accuracy", "degrees", "layers", "losers", "pairs", "pareto", "subgraphs", "trend"}

OF_CLASSES = {"losers", "pairs", "subgraphs"}


@pytest.fixture
def own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every run and every class a name with special characters."""
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
def test_figures_do_not_read_formulas_in_labels(runs_for: RunsFor, name: str) -> None:
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
def test_labels_are_escaped_for_tex(given: str, typed: str) -> None:
    assert files.escaped(plain(given)) == typed


@pytest.mark.skipif(files.tex_found() is None, reason="no TeX is installed")
@pytest.mark.usefixtures("own_words")
def test_pgf_files_hold_the_labels(runs_for: RunsFor, tmp_path: Path) -> None:
    content = figure_bytes(draw("accuracy", runs_for("accuracy")[:1], CHOICES), "pgf").decode()
    (typed,) = re.findall(r"\\def%\{\\%\}(Costs.*?)\}\}%$", content, re.MULTILINE)
    # Without the figure around it, which asks for a package that this TeX may not have.
    page = f"\\documentclass{{article}}\\begin{{document}}\\thispagestyle{{empty}}{typed}\\end{{document}}"
    (tmp_path / "page.tex").write_text(page)
    done = subprocess.run(
        [str(files.tex_found()), "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-500:]


def test_a_word_that_tex_refuses_is_reported(
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


MakeScored = Callable[..., Run]

PAGES = [(venue.name, columns) for venue in VENUES.values() for columns in (1, 2)]

LONG = "UGS (dropout = 0.9, epochs = 20, hidden = 32, p_graph = 20 %, retrain_epochs = 20, another = long, word = more)"


@pytest.fixture
def runs(make_scored: MakeScored) -> Sequence[Run]:
    """Return three runs of one method that differ in many settings, and so have long labels."""
    scores = [[0.8, 0.79, 0.78]], [[0.7, 0.69, 0.75]], [[0.6, 0.65, 0.63]]
    settings = [dict.fromkeys(("hidden", "epochs", "retrain_epochs"), 8 * number) for number in (1, 2, 3)]
    return [
        make_scored("ugs", each, **several, dropout=several["hidden"] / 100, p_graph=several["hidden"] / 80)
        for each, several in zip(scores, settings, strict=True)
    ]


def extent(text: Text, figure: Figure) -> Bbox:
    return text.get_window_extent(RendererAgg(*figure.bbox.size, figure.dpi))


@pytest.mark.parametrize("text", [None, 12.0])
@pytest.mark.parametrize(("venue", "columns"), PAGES)
def test_legends_stay_on_the_page(runs: Sequence[Run], venue: str, columns: int, text: float | None) -> None:
    figure = draw("accuracy", runs, FigureChoices(venue=venue, columns=columns, text=text))
    words = [each for legend in figure.legends for each in legend.get_texts() if each.get_text().strip()]
    assert "dropout = 0.08, epochs = 8, hidden = 8" in " ".join(words[0].get_text().split())
    for each in [*words, *figure.axes[0].texts]:
        place = extent(each, figure)
        assert place.x0 >= 0
        assert place.x1 <= figure.bbox.width
        assert place.y1 <= figure.bbox.height


def test_overlong_words_are_broken() -> None:
    with paper_style(VENUES["icml"]):
        label = plain("_$" + 80 * "$a")
        lines = wrapped(label, 1.0)
        assert width_of(lines) <= 1.0
        assert as_drawn(lines).replace("\n", "").strip() == "_$" + 80 * "$a"
        assert wrapped(lines, 1.0) == lines
        assert wrapped("UGS", 1.0) == "UGS"


def test_titles_of_panels_stay_on_the_page() -> None:
    with paper_style(VENUES["icml"]):
        panels = [Panel(x=Axis(), y=Axis(), layers=[], title=title) for title in (LONG, "UGS")]
        planned = drawing(Description(panels=panels), 5.5)
        figure = Figure(figsize=(5.5, planned.height), layout="constrained")
        planned.fill(figure)
        figure.draw_without_rendering()
    (long, short) = [area._left_title for area in figure.axes]
    assert as_drawn(" ".join(long.get_text().split())) == f"(a) {LONG}"
    assert short.get_text() == "(b) UGS"
    assert extent(long, figure).x1 <= extent(short, figure).x0


def test_labels_of_dense_lines_hide_no_curve(runs: Sequence[Run]) -> None:
    (area,) = draw("accuracy", runs, FigureChoices()).axes
    dense = [text for text in area.texts if text.get_text().startswith("Dense (")]
    assert len(dense) == 3
    assert all(text.get_bbox_patch() is None for text in area.texts)
    curves = [line.get_zorder() for line in area.get_lines() if line.get_linewidth() > 1]
    assert max(ground.get_zorder() for ground in area.findobj(Ground)) < min(curves)
    half = area.get_window_extent().width / 2
    assert all(len(text.get_text()) < 40 for text in dense)
    assert all(extent(text, area.figure).width < 1.1 * half for text in dense)


@pytest.mark.parametrize("x", ["graph", "weight", "macs"])
def test_exit_labels_are_inside_the_axes_and_apart(make_scored: MakeScored, x: str) -> None:
    near = [[0.81, 0.4, 0.8, 0.8, 0.8, 0.79], [0.8, 0.8, 0.8, 0.8, 0.8, 0.79], [0.81, 0.8, 0.8, 0.8, 0.8, 0.8]]
    runs = [
        make_scored("ugs", near, p_graph=0.2),
        make_scored("random", [[0.8, 0.3, 0.3, 0.3, 0.3, 0.2]] * 3, p_graph=0.2),
        make_scored("admm", [[0.8, 0.8, 0.8, 0.8, 0.4, 0.2]] * 3, p_graph=0.2),
    ]
    figure = draw("accuracy", runs, FigureChoices(x=x))
    (area,) = figure.axes
    places = [extent(text, figure) for text in area.texts if "to " in text.get_text()]
    assert len(places) == 3
    axes = area.get_window_extent()
    assert all(axes.x0 <= place.x0 and place.x1 <= axes.x1 for place in places)
    assert not [1 for n, place in enumerate(places) for other in places[:n] if place.overlaps(other)]


def line(name: str | None, x: list[float], y: list[float], **looks: object) -> go.Scatter:
    return go.Scatter(x=x, y=y, name=name, **looks)


def test_descriptions_state_ends_and_extremes_of_series() -> None:
    figure = go.Figure([line("UGS", [0, 5, 9], [81.9, 83.25, 70.5]), line("Random", [0, 5], [81.9, 26.5])])
    figure.update_layout(xaxis_title_text="Graph sparsity (%)", yaxis_title_text="Test accuracy (%)")
    printed = sentence(figure, "Scores")
    assert printed.startswith("Scores. Values are Test accuracy (%), at Graph sparsity (%). UGS: 3 values, ")
    assert "from 81.9 at 0 to 70.5 at 9, lowest 70.5 at 9, highest 83.25 at 5." in printed
    assert "Random: 2 values, from 81.9 at 0 to 26.5 at 5" in printed
    assert table(figure).to_dict("list") == {
        "Series": ["UGS"] * 3 + ["Random"] * 2,
        "Graph sparsity (%)": ["0", "5", "9", "0", "5"],
        "Test accuracy (%)": [81.9, 83.25, 70.5, 81.9, 26.5],
    }


def test_descriptions_omit_backgrounds_keys_and_missing_values() -> None:
    ground = line("cut", [0, 1], [5, 5], fill="tonexty")
    key, unnamed = line("100 M", [0], [1]), line(None, [0, 1], [1, 2])
    gap = line("UGS", [0, 1, 2], [1.0, math.nan, 3.0])
    (one,) = series_of(go.Figure([ground, key, unnamed, gap]))
    assert (one.name, one.places, one.numbers) == ("UGS", (0, 2), (1.0, 3.0))


def test_traces_of_one_name_are_one_series_per_panel() -> None:
    pieces = [line("Loss", [1, 2], [4, 3]), line("Loss", [3, 4], [2, 1])]
    assert [one.numbers for one in series_of(go.Figure(pieces))] == [(4.0, 3.0, 2.0, 1.0)]
    panels = make_subplots(rows=2, cols=1)
    for row, piece in enumerate(pieces, start=1):
        panels.add_trace(piece, row=row, col=1)
    assert len(series_of(panels)) == 2


def test_horizontal_groups_are_named() -> None:
    figure = go.Figure(line("UGS", [12.5, 30.0], ["Same class", "A &amp; B"], mode="markers"))
    assert "from 12.5 at Same class to 30 at A & B" in sentence(figure, "Cut")


def test_the_description_of_a_matrix_states_its_extremes() -> None:
    figure = go.Figure()
    figure.add_heatmap(x=["a", "b"], y=["a", "b"], z=[[1.0, None], [-4.0, 2.0]], colorbar_title_text="Points")
    assert sentence(figure, "Pairs") == "Pairs. Points: 3 cells, lowest \N{MINUS SIGN}4 at b, a, highest 2 at b, b."


def test_the_description_of_many_series_is_shortened() -> None:
    figure = go.Figure([line(f"s{number}", [0, 1], [0, 1]) for number in range(MOST_SERIES + 3)])
    assert sentence(figure, "Many").endswith("And 3 more series.")


def test_an_empty_figure_still_has_its_title_and_a_table() -> None:
    assert sentence(go.Figure(), "Nothing yet") == "Nothing yet."
    assert table(go.Figure()).empty
