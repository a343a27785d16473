"""Several figures on one page: letters, one legend, equal bytes from everywhere, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest

from analysis.bundle import figure_command
from analysis.cli.main import main
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw, plan
from analysis.figures.base import FigureChoices
from glt.errors import ConfigError
from glt.store import Run

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


def test_panels_of_a_row_begin_and_end_at_the_same_height(runs: Sequence[Run]) -> None:
    places = [part.axes[0].get_window_extent() for part in draw(NAMES, runs, WIDE, "1x3").subfigs]
    assert len({round(place.y0, 3) for place in places}) == 1
    assert len({round(place.y1, 3) for place in places}) == 1


def test_the_command_line_gives_the_same_bytes_and_numbers(
    runs: Sequence[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = [str(run.path.absolute()) for run in runs]
    command = figure_command(NAMES, own, WIDE, "runs", "p.pdf", "3x1").split()[3:]
    assert main(command) == 0
    assert Path("p.pdf").read_bytes() == figure_bytes(draw(NAMES, runs, WIDE, "3x1"), "pdf")
    assert main([*command[:-1], "p.csv"]) == 0
    table = pd.read_csv("p.csv")
    assert list(table["part"].unique()) == ["a", "b", "c"]
    assert len(table) == len(plan(NAMES, runs, WIDE, "3x1").points)


@pytest.mark.parametrize(
    ("names", "shape", "words"),
    [(NAMES, "1x2", "do not fit"), (NAMES, "wide", "no shape"), ("accuracy,degree", None, "did you mean 'degrees'")],
)
def test_what_cannot_be_is_one_sentence(runs: Sequence[Run], names: str, shape: str | None, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        plan(names, runs, WIDE, shape)
    with pytest.raises(ConfigError, match="too many"):
        plan(",".join(["accuracy"] * 13), runs, WIDE)
