"""Export: a figure or a table as a paper wants it, seen before it is downloaded."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.ablation import one_sweep
from analysis.export import (
    DPI,
    FIGURES,
    GROUPS,
    VENUES,
    FigureChoices,
    csv_bytes,
    figure_command,
    formats_here,
    json_bytes,
    measurements_latex,
    tickets_latex,
)
from analysis.export.panels import MOST
from analysis.shared_graph import printed_measurements, training_part
from app.widgets import (
    bundling,
    controls,
    figure_controls,
    figure_gallery,
    files,
    frame,
    measuring,
    pickers,
    reading,
    scoring,
)
from app.widgets.figure_files import MIME, Wanted
from app.widgets.opened import opened
from app.widgets.readable import readable
from glt.errors import ConfigError
from glt.store import Run

# The one figure that is about the runs of a sweep.
ABLATION = "ablation"
TABLES = {"measurements": "Table · Measurements of the graph", "tickets": "Table · Tickets"}
BUNDLE, PANELS = "bundle", "panels"
DOTS = {"150": "150 dpi", "300": "300 dpi", "600": "600 dpi"}
GRIDS = ("1x2", "2x1", "2x2", "1x3", "3x1", "2x3", "3x2", "1x4", "4x1")
SHAPES = {"": "as they fit", **{grid: grid.replace("x", " by ") for grid in GRIDS}}
FIRST_PANELS = ("accuracy", "pareto")
SCREEN_PIXELS_AN_INCH = 150


def page() -> None:
    """Show the page."""
    with frame.page("Export", "Figures and tables as a paper wants them, from the numbers on the other pages."):
        found = pickers.with_rounds(opened().runs)
        if not found:
            pickers.tell_none_left("runs")
            frame.empty(
                "Nothing to export yet",
                "Figures and tables appear as soon as a run has finished a round.",
                "file_save",
                "launch",
                "Launch a run",
            )
            return
        with st.container(key="choice", horizontal=True, vertical_alignment="bottom", gap="small"):
            what = controls.select("what", "Figure or table", _whats(), "accuracy", width=360)
            runs = pickers.pick_runs(found, one_sweep(found) if what == ABLATION else pickers.together(found))
            choices = FigureChoices() if what in TABLES else figure_controls.pick_page()
            if what != figure_gallery.NAME:
                figure_gallery.way_back()
        pickers.tell_gone("runs")
        if not runs:
            frame.empty("No runs chosen", "Choose at least one run in the row above.", "file_save")
        else:
            _show(what, readable(runs), choices)
            frame.results_note(runs)


def _whats() -> dict[str, str]:
    """Return everything that can be exported, figures in the order of the gallery."""
    figures = {each.name: f"Figure · {each.label}" for group in GROUPS for each in FIGURES if each.group == group}
    first = {figure_gallery.NAME: "Gallery · all figures of these runs"}
    last = {BUNDLE: "Reproduction bundle · all of it in a zip"}
    return {**first, **figures, PANELS: "Panels · several figures as one", **TABLES, **last}


def _show(what: str, runs: list[Run], choices: FigureChoices) -> None:
    if what == figure_gallery.NAME:
        figure_gallery.show(runs, choices)
    elif what in TABLES:
        _table(what, runs)
    elif what == BUNDLE:
        _bundle(runs, choices)
    elif what == PANELS:
        _panels(runs, choices)
    else:
        with st.container(key="controls", gap="small"):
            choices = figure_controls.pick(runs, choices, FIGURES.get(what).uses)
        _figure(Wanted(what, tuple(runs), choices), what)


def _panels(runs: list[Run], choices: FigureChoices) -> None:
    with st.container(key="controls", gap="small"):
        with st.container(key="panel-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
            words = {figure.name: figure.label for figure in FIGURES}
            names = controls.several("figures", "Panels, in this order", words, FIRST_PANELS, max_selections=MOST)
            shape = controls.select("shape", "Rows by columns", SHAPES, width=150)
        uses = frozenset(use for name in names for use in FIGURES.get(name).uses)
        choices = figure_controls.pick(runs, choices, uses)
    if not names:
        frame.empty("No panels chosen", "Choose at least one figure in the row above.", "grid_view")
        return
    _figure(Wanted(",".join(names), tuple(runs), choices, shape or None if len(names) > 1 else "1x1"), PANELS)


def _figure(wanted: Wanted, what: str) -> None:
    choices = wanted.choices
    if "trend" in wanted.name.split(",") and not measuring.is_trend_ready(wanted.runs, choices.measure, choices.null):
        return
    place = st.container()
    row = st.container(horizontal=True, gap="small", key="downloads", vertical_alignment="bottom")
    told = st.container()
    with row:
        dots = int(controls.select("dpi", "Dots an inch", DOTS, str(DPI), width=110, label_visibility="collapsed"))
        _downloads(wanted, what, dots, told)
    with place:
        _preview(wanted, dots)
        _command(wanted, what, dots)


def _preview(wanted: Wanted, dots: int) -> None:
    with st.skeleton(height=360):
        shown = wanted.shown(dots)
    with st.container(border=True, key="preview", horizontal_alignment="center"):
        wide = wanted.choices.width
        alt = f"Preview of the figure, {wide:g} inches wide. {shown.caption}"
        st.image(shown.picture, width=int(wide * SCREEN_PIXELS_AN_INCH), alt=alt)
    st.caption(f"{VENUES[wanted.choices.venue].label}, {wide:g} in wide, fonts embedded. {frame.plain(shown.caption)}")
    if missing := wanted.missing:
        st.caption(f":material/info: {missing}")


def _downloads(wanted: Wanted, what: str, dots: int, told: DeltaGenerator) -> None:
    name = _stem(wanted, what)
    for kind in formats_here():
        files.file_button(kind.upper(), f"{name}.{kind}", MIME[kind], partial(wanted.file, kind, dots), told)
    for kind in ("csv", "json"):
        label = f"{kind.upper()} of its points"
        files.file_button(label, f"{name}.{kind}", MIME[kind], partial(wanted.file, kind, dots), told)


def _stem(wanted: Wanted, what: str) -> str:
    return f"{wanted.runs[0].config.dataset}-{what}-{wanted.choices.venue}"


def _command(wanted: Wanted, what: str, dots: int) -> None:
    own = [run.reference for run in wanted.runs]
    store, out = str(opened().store.root), f"{_stem(wanted, what)}.{'pdf' if dots == DPI else 'png'}"
    command = figure_command(wanted.name, own, wanted.choices, store, out, wanted.shape or "", dots)
    st.code(command, language="bash", wrap_lines=True)


def _bundle(runs: list[Run], choices: FigureChoices) -> None:
    with st.container(key="controls", gap="small"):
        choices = figure_controls.pick(runs, choices, figure_controls.CURVE)
    content = bundling.made(runs, choices)
    if content is not None:
        files.file_button("Bundle", f"{runs[0].config.dataset}-bundle.zip", "application/zip", lambda: content)
        bundling.contents(content, runs)


def _table(what: str, runs: list[Run]) -> None:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        found = _measurements(runs) if what == "measurements" else _tickets(runs)
    if found is None:
        return
    table, latex = found
    st.code(latex, language="latex", height=420, wrap_lines=True)
    name = f"{runs[0].config.dataset}-{what}"
    with st.container(horizontal=True, gap="small", key="downloads"):
        files.file_button("LaTeX", f"{name}.tex", "application/x-tex", latex.encode)
        files.file_button("CSV", f"{name}.csv", "text/csv", partial(csv_bytes, table))
        files.file_button("JSON", f"{name}.json", "application/json", partial(json_bytes, table))


def _measurements(runs: list[Run]) -> tuple[pd.DataFrame, str] | None:
    dataset = runs[0].config.dataset
    number = pickers.pick_any_round(runs)
    if not measuring.is_table_ready(runs, (number,), null=False):
        return None
    table = measuring.table_of(runs, number, null=False, printed=printed_measurements(runs[0].config))
    return table, measurements_latex(table, dataset, note=training_part(runs[0].config))


def _tickets(runs: list[Run]) -> tuple[pd.DataFrame, str]:
    score, macs, margin = scoring.pick_score(), scoring.pick_macs(), scoring.pick_margin()
    table = reading.tickets_of(runs, score, macs, margin)
    if table.empty:
        raise ConfigError("These runs have no pruned round yet: wait for round 1, or choose other runs.")
    return table, tickets_latex(table, score, macs, margin)
