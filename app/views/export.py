"""Export: a figure or a table as a paper wants it, seen before it is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from analysis.ablation import one_sweep
from analysis.export import (
    FIGURES,
    FORMATS,
    VENUES,
    FigureChoices,
    csv_bytes,
    draw,
    figure_bytes,
    figure_command,
    json_bytes,
    measurements_latex,
    tickets_latex,
)
from analysis.export.venues import FONTS, LARGEST, SMALLEST
from analysis.shared_graph import printed_measurements, training_part
from app.widgets import bundling, controls, frame, measuring, pickers, reading, sampling, scoring
from app.widgets.opened import opened
from glt.errors import ConfigError
from glt.store import Run
from glt.training.tasks import message_graph

# The one figure that is about the runs of a sweep.
ABLATION = "ablation"
TABLES = {"measurements": "Table · Measurements of the graph", "tickets": "Table · Tickets"}
BUNDLE = "bundle"
COLUMNS = {"1": "one column", "2": "two columns"}
MIME = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}
PREVIEW_DPI = 200
SCREEN_PIXELS_AN_INCH = 150


def page() -> None:
    """Show the page."""
    with frame.page("Export", "Figures and tables as a paper wants them, from the numbers on the other pages."):
        found = pickers.with_rounds(opened().results)
        if not found:
            frame.empty(
                "Nothing to export yet",
                "Figures and tables appear as soon as a run has finished a round.",
                "file_save",
                "launch",
                "Launch a run",
            )
            return
        whats = {**{figure.name: f"Figure · {figure.label}" for figure in FIGURES}, **TABLES}
        whats[BUNDLE] = "Reproduction bundle · all of it in a zip"
        with st.container(key="choice", horizontal=True, vertical_alignment="bottom", gap="small"):
            what = controls.select("what", "Figure or table", whats, "accuracy", width=360)
            runs = pickers.pick_runs(found, one_sweep(found) if what == ABLATION else pickers.together(found))
            choices = FigureChoices() if what in TABLES else _page_choices()
        if not runs:
            frame.empty("No runs chosen", "Choose at least one run in the row above.", "file_save")
        elif what in TABLES:
            _table(what, runs)
        elif what == BUNDLE:
            _bundle(runs, choices)
        else:
            _figure(what, runs, choices)


def _page_choices() -> FigureChoices:
    venue = controls.select("venue", "Venue", {v.name: v.label for v in VENUES.values()}, "icml", width=120)
    columns = controls.segments("columns", "Width", COLUMNS)
    letters = controls.select("font", "Letters", {str(name): words for name, words in FONTS.items()}, width=130)
    own = VENUES[venue].text
    points = controls.number("text", "Points", own, SMALLEST, LARGEST, 0.5, width=110)
    grey = controls.switch("grey", "Grey", help="Greys and dashes instead of colours, for a print without any.")
    font = next(name for name in FONTS if name == letters)
    text = None if points == own else points
    return FigureChoices(venue=venue, columns=int(columns), font=font, text=text, grey=grey)


def _figure(what: str, runs: list[Run], choices: FigureChoices) -> None:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        choices = _round_choices(runs, choices) if FIGURES.get(what).one_round else _curve_choices(choices)
    with st.skeleton(height=360):
        picture = _preview(what, runs, choices)
    with st.container(border=True, key="preview", horizontal_alignment="center"):
        width = int(choices.width * SCREEN_PIXELS_AN_INCH)
        told = _figure_caption(what, runs, choices)
        st.image(picture, width=width, alt=f"Preview of the figure, {choices.width:g} inches wide. {told}")
    st.caption(frame.plain(told))
    if missing := FIGURES.get(what).missing(runs):
        st.caption(f":material/info: {missing}")
    name = f"{runs[0].config.dataset}-{what}-{choices.venue}"
    _command(what, runs, choices, f"{name}.pdf")
    with st.container(horizontal=True, gap="small", key="downloads"):
        for kind in FORMATS:
            _download(kind.upper(), f"{name}.{kind}", MIME[kind], partial(_file, what, runs, choices, kind))
        if not FIGURES.get(what).one_round:
            table = reading.curve_of(runs, choices.score, "graph", choices.macs, choices.tolerance)
            _download("CSV of its points", f"{name}.csv", "text/csv", partial(csv_bytes, table))


def _command(what: str, runs: list[Run], choices: FigureChoices, out: str) -> None:
    own = [run.name if not run.is_example else f"examples/runs/{run.name}" for run in runs]
    store = str(opened().store.root)
    st.code(figure_command(what, own, choices, store, out), language="bash", wrap_lines=True)


def _curve_choices(choices: FigureChoices) -> FigureChoices:
    x, macs = scoring.pick_axes(), scoring.pick_macs()
    score, tolerance = scoring.pick_score(), scoring.pick_tolerance()
    with st.container(width="content", horizontal=True, gap="small", vertical_alignment="center", key="switches"):
        paper = controls.switch("paper", "Paper's points")
        whole = controls.switch("whole", "Full range")
    return replace(
        choices,
        x=x,
        macs=macs,
        score=score,
        tolerance=tolerance,
        paper=paper,
        near=not whole,
    )


def _round_choices(runs: list[Run], choices: FigureChoices) -> FigureChoices:
    seed = pickers.pick_shared_seed(runs)
    number = pickers.pick_round([run.seed(seed) for run in runs])
    sample = sampling.pick_sample(message_graph(runs[0].config))
    return replace(choices, seed=seed, round=number, sample=sample)


def _preview(what: str, runs: list[Run], choices: FigureChoices) -> bytes:
    return _png(what, tuple(reading.stamp(run) for run in runs), repr(choices), runs, choices)


@st.cache_data(max_entries=32, show_spinner=False)
def _png(what: str, stamps: Any, chosen: str, _runs: list[Run], _choices: FigureChoices) -> bytes:
    return figure_bytes(draw(what, _runs, _choices), "png", PREVIEW_DPI)


def _file(what: str, runs: list[Run], choices: FigureChoices, kind: str) -> bytes:
    return figure_bytes(draw(what, runs, choices), kind)


def _figure_caption(what: str, runs: list[Run], choices: FigureChoices) -> str:
    size = f"{VENUES[choices.venue].label}, {choices.width:g} in wide, fonts embedded. "
    return size + FIGURES.get(what).caption(reading.rounds_of(runs), choices)


def _bundle(runs: list[Run], choices: FigureChoices) -> None:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        choices = _curve_choices(choices)
    content = bundling.made(runs, choices)
    if content is not None:
        _download("Bundle", f"{runs[0].config.dataset}-bundle.zip", "application/zip", lambda: content)
        bundling.contents(content)


def _table(what: str, runs: list[Run]) -> None:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        table, latex = _measurements(runs) if what == "measurements" else _tickets(runs)
    st.code(latex, language="latex", height=420, wrap_lines=True)
    name = f"{runs[0].config.dataset}-{what}"
    with st.container(horizontal=True, gap="small", key="downloads"):
        _download("LaTeX", f"{name}.tex", "application/x-tex", latex.encode)
        _download("CSV", f"{name}.csv", "text/csv", partial(csv_bytes, table))
        _download("JSON", f"{name}.json", "application/json", partial(json_bytes, table))


def _measurements(runs: list[Run]) -> tuple[pd.DataFrame, str]:
    dataset = runs[0].config.dataset
    if any(run.config.dataset != dataset for run in runs):
        raise ConfigError("A table of measurements is about one data set: choose runs on the same one.")
    number = pickers.pick_any_round(runs)
    table = measuring.table_of(runs, number, null=False, printed=printed_measurements(runs[0].config))
    return table, measurements_latex(table, dataset, note=training_part(runs[0].config))


def _tickets(runs: list[Run]) -> tuple[pd.DataFrame, str]:
    score, macs, tolerance = scoring.pick_score(), scoring.pick_macs(), scoring.pick_tolerance()
    table = reading.tickets_of(runs, score, macs, tolerance)
    if table.empty:
        raise ConfigError("These runs have no pruned round yet: wait for round 1, or choose other runs.")
    return table, tickets_latex(table, score, macs, tolerance)


def _download(label: str, name: str, mime: str, data: Callable[[], bytes]) -> None:
    st.download_button(label, data, name, mime, key=f"download-{name}", on_click="ignore", icon=":material/download:")
