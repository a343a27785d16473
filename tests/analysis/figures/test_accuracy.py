"""Curves of accuracy: what is drawn on the screen and on paper, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis.cli.main import main
from analysis.drawing import screen
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.drawing.venues import VENUES
from analysis.figures.accuracy import accuracy_curves
from analysis.figures.base import FIGURES, FigureChoices
from analysis.style import palette
from analysis.tables.curves import curve_table
from analysis.tables.rounds import rounds_table
from glt.errors import ConfigError, StoreError
from glt.store import Run

UGS = [[0.82, 0.8251, 0.80, 0.79, 0.78], [0.81, 0.8149, 0.81, 0.78, 0.77]]


RANDOM = [[0.82, 0.80, 0.70, 0.50, 0.30], [0.81, 0.80, 0.71, 0.52, 0.31]]


@pytest.fixture
def rounds(make_scored: Callable[..., Run]) -> pd.DataFrame:
    return rounds_table([make_scored("ugs", UGS), make_scored("random", RANDOM)])


def on_screen(rounds: pd.DataFrame, **choices: object) -> go.Figure:
    asked = {name: choices[name] for name in ("x", "score", "macs") if name in choices}
    dark = bool(choices.pop("dark", False))
    return screen.draw(accuracy_curves(curve_table(rounds, **asked), rounds, **choices), dark)


def points(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.customdata is not None]


def test_every_round_is_one_mark_that_names_its_run_and_round(rounds: pd.DataFrame) -> None:
    marked = [tuple(place) for trace in points(on_screen(rounds)) for place in trace.customdata]
    expected = {(run, number) for run in rounds["run"].unique() for number in range(5)}
    assert len(marked) == len(expected)
    assert set(marked) == expected


def test_means_are_drawn_in_percent_and_macs_in_millions(rounds: pd.DataFrame) -> None:
    lines = [
        trace for trace in on_screen(rounds, x="macs", macs="published").data if trace.mode == "lines" and trace.name
    ]
    assert lines[0].y.tolist() == pytest.approx([81.5, 82.0, 80.5, 78.5, 77.5])
    assert lines[0].x.tolist()[:2] == pytest.approx([2007.0, 1605.6])


def test_tickets_are_stars_in_the_method_s_colour_and_bigger(rounds: pd.DataFrame) -> None:
    figure = on_screen(rounds)
    stars = [trace for trace in points(figure) if trace.marker.symbol == "star"]
    assert [place[1] for place in stars[0].customdata] == [1]
    assert stars[0].marker.color == palette.color("ugs")
    others = [trace for trace in points(figure) if trace.marker.symbol == "circle"]
    assert min(stars[0].marker.size) >= max(size for trace in others for size in trace.marker.size)


def test_marker_area_falls_with_macs(rounds: pd.DataFrame) -> None:
    squares = next(trace for trace in points(on_screen(rounds)) if trace.marker.symbol == "square")
    area = np.square(squares.marker.size)
    step = np.diff(area) / np.diff(rounds.query("method == 'random' and seed == 0")["macs_dense_features"].iloc[1:])
    assert step == pytest.approx(np.full(3, step[0]), rel=1e-4)
    assert step[0] > 0


def test_dense_is_one_dashed_line_with_its_value(rounds: pd.DataFrame) -> None:
    figure = on_screen(rounds)
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "dash"]
    assert [shape.y0 for shape in dashed] == pytest.approx([81.5])
    assert "Dense<br>81.5 %" in [note.text for note in figure.layout.annotations]


def test_different_dense_models_are_named(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82, 0.8]]), make_scored("random", [[0.80, 0.8]])])
    words = [note.text for note in on_screen(rounds).layout.annotations]
    assert "Dense 82.0 %<br>UGS" in words
    assert "Dense 80.0 %<br>Random pruning" in words


def test_hover_has_all_the_numbers(rounds: pd.DataFrame) -> None:
    trace = next(trace for trace in points(on_screen(rounds)) if trace.marker.symbol == "circle" and len(trace.x) == 3)
    text = trace.hovertext[0]
    for words in (
        "<b>UGS</b>, round 2",
        "80.5 %",
        "mean of 2 seeds, too few for an interval",
        "\N{MINUS SIGN}1.0 points against dense 81.5 %",
        "<b>UGS</b>, round 2 \N{EM DASH} open",
        "Open with 2 seeds: needs",
        "Holm over 6 rounds)",
        "Graph sparsity 9.8 %, weight sparsity 36.0 %",
        "99.0 % either way, 81.5 % both ways",
        "1278 M MACs",
    ):
        assert words in text


def test_three_seeds_have_an_interval(make_scored: Callable[..., Run]) -> None:
    figure = on_screen(rounds_table([make_scored("ugs", [[0.82, 0.80], [0.81, 0.81], [0.80, 0.79]])]))
    text = next(trace for trace in points(figure) if trace.marker.symbol == "circle").hovertext[0]
    # Student's t with two degrees of freedom: 4.303 times 0.01 / sqrt(3).
    assert "80.0 ± 2.5 %" in text
    assert "mean of 3 seeds, 95% interval" in text


def test_one_seed_draws_no_band_and_says_so(make_scored: Callable[..., Run]) -> None:
    figure = on_screen(rounds_table([make_scored("ugs", [[0.82, 0.8]])]))
    assert all(trace.fill is None for trace in figure.data)
    assert "1 seed, no interval" in points(figure)[0].hovertext[0]


def test_a_collapsing_method_leaves_the_window_and_is_named(rounds: pd.DataFrame) -> None:
    near = on_screen(rounds)
    assert near.layout.yaxis.range[0] > 55
    assert "falls to 30.5 %" in [note.text for note in near.layout.annotations]
    full = on_screen(rounds, near=False)
    assert full.layout.yaxis.range[0] < 30
    assert not any("falls to" in note.text for note in full.layout.annotations)


def test_macs_axis_is_logarithmic_with_dense_on_the_left(rounds: pd.DataFrame) -> None:
    axis = on_screen(rounds, x="macs").layout.xaxis
    assert axis.type == "log"
    assert axis.range[0] > axis.range[1]
    assert "1000 M" in axis.ticktext
    # Words on a log axis are placed by the logarithm.
    foot = next(note for note in on_screen(rounds, x="macs").layout.annotations if note.text.startswith("ticket"))
    assert foot.x == pytest.approx(np.log10(1996.6 * 0.8))


def open_marks(figure: go.Figure) -> list[go.Scatter]:
    return [t for t in figure.data if t.hovertext is not None and t.customdata is None]


def test_the_paper_s_points_are_open_and_tell_their_place(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82] * 10])])
    assert open_marks(on_screen(rounds)) == []
    ticket, others = open_marks(on_screen(rounds, paper=True))
    assert [*ticket.x, *others.x] == pytest.approx([18.55, 22.62, 36.98, 55.99])
    assert [ticket.marker.symbol, others.marker.symbol] == ["star-open", "circle-open"]
    assert "Table 2" in ticket.hovertext[0]
    assert "Paper's dense<br>80.7 %" in [note.text for note in on_screen(rounds, paper=True).layout.annotations]


def test_the_papers_points_are_on_printed_axes_only(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.82] * 10])])
    drawn = open_marks(on_screen(rounds, x="macs", paper=True))
    assert [place for trace in drawn for place in trace.x] == [826.0, 275.0]
    assert open_marks(on_screen(rounds, x="macs", macs="sparse_features", paper=True)) == []


def test_labels_are_escaped(rounds: pd.DataFrame) -> None:
    rounds = rounds.assign(label="<img src=x>")
    figure = on_screen(rounds)
    assert all("<img" not in (trace.name or "") for trace in figure.data)
    assert all("<img" not in text for trace in points(figure) for text in trace.hovertext)
    assert all("<img" not in note.text for note in figure.layout.annotations)


def test_light_and_dark_have_a_transparent_ground(rounds: pd.DataFrame) -> None:
    for dark in (False, True):
        layout = on_screen(rounds, dark=dark).layout.template.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert on_screen(rounds, dark=True).layout.template.layout.font.color != layout.xaxis.linecolor
    assert points(on_screen(rounds, dark=True))[0].marker.line.color == "#0E1117"


def test_no_rounds_give_empty_axes() -> None:
    rounds = rounds_table([])
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    assert points(figure) == []
    assert figure.layout.xaxis.title.text.startswith("Graph sparsity")


def test_the_axis_holds_the_line_of_a_seed_far_above_the_mean(make_scored: Callable[..., Run]) -> None:
    rounds = rounds_table([make_scored("ugs", [[0.65, 0.64], [0.77, 0.78]])])
    low, high = on_screen(rounds).layout.yaxis.range
    assert low < 64
    assert high > 78
    assert on_screen(rounds, seeds=False).layout.yaxis.range[1] < 78


@pytest.mark.parametrize("x", ["graph", "weight"])
def test_the_label_of_a_ticket_at_the_end_stays_out_of_the_margin(make_scored: Callable[..., Run], x: str) -> None:
    ends = {"ugs": ([0.7, 0.69, 0.68, 0.71], "right"), "random": ([0.7, 0.71, 0.68, 0.68], "left")}
    for method, (scores, side) in ends.items():
        seeds = [scores, [0.7, *[score + 0.0001 for score in scores[1:]]]]
        figure = on_screen(rounds_table([make_scored(method, seeds)]), x=x)
        (label,) = (note for note in figure.layout.annotations if str(note.text).startswith("ticket"))
        assert label.xanchor == side


PRINTED_UGS = [[0.82, 0.829, 0.80, 0.79, 0.78], [0.81, 0.8192, 0.81, 0.78, 0.77]]


@pytest.fixture
def runs(make_scored: Callable[..., Run]) -> Sequence[Run]:
    return [make_scored("ugs", PRINTED_UGS), make_scored("random", RANDOM)]


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


def test_dense_is_labelled_and_tickets_have_stars(runs: Sequence[Run]) -> None:
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
def test_too_many_dots_for_the_memory_are_refused(
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
        (["--out", "f.eps"], 2, "f.eps has no known ending"),
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
