"""Export: gallery and reproduction bundle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import pytest

from analysis.bundle import bundle_bytes
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.figures.base import FIGURES, FigureChoices
from app.components.downloads import Written
from app.views import export
from app.views.export import Request
from glt.errors import StudioError
from glt.store import Run
from tests.app.conftest import MakeRun, OpenPage


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    return make_run("ugs", states=("done",))


def test_the_gallery_states_why_a_figure_is_missing(run: Run, open_page: OpenPage) -> None:
    app = open_page("export", what="gallery", runs=run.name)
    shown = [caption.value for caption in app.caption]
    assert any("needs runs that differ" in text for text in shown)
    assert any("stores no edge scores" in text for text in shown)
    app.button(key="open-pareto").click().run()
    assert not app.exception
    assert app.selectbox(key="what").value == "pareto"
    assert any("figure pareto" in block.value for block in app.code)
    app.button(key="to-gallery").click().run()
    assert app.selectbox(key="what").value == "gallery"


EXAMPLE = "examples/cora-node-gcn-ugs-df8e8f72"


@pytest.mark.parametrize(
    ("choices", "shown"),
    [
        ({"what": "tickets"}, r"\begin{tabular}"),
        ({"what": "measurements", "round": "1"}, r"\begin{tabular}"),
        ({"what": "subgraphs", "round": "1", "size": "30"}, "figure subgraphs"),
        ({"what": "panels", "figures": ["accuracy", "trend"], "measure": "reach"}, "figure accuracy,trend"),
    ],
)
def test_tables_and_figures_with_their_own_controls(open_page: OpenPage, choices: dict[str, Any], shown: str) -> None:
    app = open_page("export", runs=EXAMPLE, **choices)
    assert any(shown in block.value for block in app.code)
    assert not app.error


def test_an_edge_needs_two_nodes(open_page: OpenPage) -> None:
    app = open_page("export", runs=EXAMPLE, what="scores", edge="0")
    assert "An edge has two ends" in app.error[0].value
    app = open_page("export", runs=EXAMPLE, what="scores", edge="0,633")
    assert not app.error


def test_a_failed_figure_leaves_the_gallery_usable(
    run: Run, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise ValueError("Axis limits cannot be NaN")

    monkeypatch.setitem(FIGURES._entries, "accuracy", replace(FIGURES.get("accuracy"), describe=fail))
    app = open_page("export", what="gallery", runs=run.name)
    assert any("Not drawn (ValueError" in caption.value for caption in app.caption)
    assert app.button(key="open-trend")


@pytest.mark.parametrize(
    ("error", "captions"),
    [
        (ValueError("bad\nletter"), "cora-accuracy-icml.svg could not be written (ValueError: bad letter): choose"),
        (StudioError("TeX cannot draw it: write a PDF."), "TeX cannot draw it: write a PDF."),
    ],
)
def test_the_page_states_why_a_file_cannot_be_made(
    run: Run, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, error: Exception, captions: str
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    calls = []
    monkeypatch.setattr(Request, "file", lambda request, kind, dpi: calls.append(kind) or b"")
    app = open_page("export", what="accuracy", runs=run.name)
    app.download_button(key="download-cora-accuracy-icml.pdf").click().run()
    assert (calls, list(app.error)) == (["pdf"], [])
    monkeypatch.setattr(Request, "file", fail)
    app.run()
    app.download_button(key="download-cora-accuracy-icml.svg").click().run()
    assert not app.exception
    (shown,) = app.error
    assert shown.value.replace("\\", "").startswith(captions)
    assert "\n" not in shown.value
    app.run()
    assert not app.error


def test_an_export_file_is_rendered_once() -> None:
    made = []
    file = Written("f.pdf", lambda: made.append(1) or b"content")
    assert (file.failure(), file.content(), file.content(), len(made)) == ("", b"content", b"content", 1)


def test_chosen_panels_are_in_the_command(run: Run, open_page: OpenPage) -> None:
    view = {"what": "panels", "runs": run.name, "figures": ["degrees", "training"], "shape": "2x1", "dpi": "150"}
    app = open_page("export", **view)
    (command,) = [block.value for block in app.code]
    assert "figure degrees,training" in command
    assert command.endswith("--panels 2x1 --dpi 150 --out cora-panels-icml.png")


def test_the_preview_equals_the_file(run: Run, open_page: OpenPage) -> None:
    choices = FigureChoices(grey=True)
    request = Request("degrees", (run,), choices)
    assert (
        request.shown(150)[0] == request.file("png", 150) == figure_bytes(draw("degrees", [run], choices), "png", 150)
    )
    assert request.file("pdf", 150) == figure_bytes(draw("degrees", [run], choices), "pdf")
    assert request.file("csv", 150).startswith(b"kind,run,label,method")
    assert request.file("json", 150).startswith(b"[")


def test_too_many_panels_show_the_first_runs_with_a_note(make_run: MakeRun, open_page: OpenPage) -> None:
    runs = [make_run("ugs", states=("done",), hidden=hidden).name for hidden in (8, 16, 32, 64, 128)]
    captions = [caption.value for caption in open_page("export", what="gallery", runs=runs).caption]
    shown = sum("The first 4 of 5 runs" in text for text in captions)
    assert shown == sum("round" in figure.uses for figure in FIGURES)


def test_the_page_and_the_command_make_the_same_bytes(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("export", what="bundle", runs=run.name, columns="2")
    assert export.BUNDLE_KEPT not in app.session_state
    app.button(key="make-bundle").click().run()
    assert not app.exception
    assert app.session_state[export.BUNDLE_KEPT][1] == bundle_bytes([run], FigureChoices(columns=2))
    assert any("Reproduction bundle" in block.value for block in app.code)
    app.segmented_control(key="columns").set_value("1").run()
    assert app.button(key="make-bundle")
