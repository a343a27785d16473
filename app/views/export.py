"""Export: figures, tables and reproduction bundles, with a preview."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import pandas as pd
import streamlit as st

from analysis.ablation import one_sweep
from analysis.budget import budget_table
from analysis.bundle import bundle_bytes
from analysis.commands import figure_command, lost_sources
from analysis.drawing.files import DPI, csv_bytes, figure_bytes, formats_here, json_bytes
from analysis.drawing.page import MOST_PANELS, on_page, plan
from analysis.drawing.venues import FONTS, LARGEST, SMALLEST, VENUES
from analysis.figures.base import FIGURES, GROUPS, Figure, FigureChoices, Use
from analysis.latex import budget_latex, measurements_latex, tickets_latex
from analysis.runs import printed_measurements, runs_with_rounds, training_part
from app.components import controls, downloads, frame, graph_select, measurement, run_select
from app.components.frame import plain
from app.data import cache
from app.data.runs import open_catalog
from app.views.budget import pick_budget
from glt import formats
from glt.errors import ConfigError, StudioError
from glt.lottery.graph import graph_of
from glt.store import Run

# The only figure of a sweep.
ABLATION = "ablation"
TABLES = {
    "measurements": "Table · Measurements of the graph",
    "tickets": "Table · Tickets",
    "budget": "Table · Methods at an equal budget",
}
BUNDLE, PANELS = "bundle", "panels"
DOTS = {"150": "150 dpi", "300": "300 dpi", "600": "600 dpi"}
GRIDS = ("1x2", "2x1", "2x2", "1x3", "3x1", "2x3", "3x2", "1x4", "4x1")
SHAPES = {"": "automatic", **{grid: grid.replace("x", " by ") for grid in GRIDS}}
FIRST_PANELS = ("accuracy", "pareto")
SCREEN_PIXELS_AN_INCH = 150
MIME = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pgf": "application/x-tex",
    "csv": "text/csv",
    "json": "application/json",
}
CURVE: tuple[Use, ...] = ("axis", "score", "paper", "near")
GALLERY = "gallery"
BUNDLE_HEIGHT = 520


def page() -> None:
    """Show the page."""
    with frame.page("Export", "Figures and tables for a paper."):
        finished = run_select.finished_runs(
            "runs",
            "Nothing to export yet",
            "Figures and tables appear as soon as a run has finished a round.",
            "file_save",
        )
        if not finished:
            return
        with frame.row("choice"):
            what = controls.select("what", "Figure or table", _whats(), "accuracy", width=360)
            runs = run_select.pick_runs(
                finished, one_sweep(finished) if what == ABLATION else run_select.together(finished)
            )
            choices = FigureChoices() if what in TABLES else pick_page()
            if what != GALLERY:
                back = partial(open_figure, GALLERY)
                st.button("All figures", key="to-gallery", type="tertiary", icon=":material/grid_view:", on_click=back)
        if readable := run_select.chosen_runs(runs, "file_save"):
            _show(what, readable, choices)
            frame.results_note(runs)


def _whats() -> dict[str, str]:
    figures = {
        figure.name: f"Figure · {figure.label}" for group in GROUPS for figure in FIGURES if figure.group == group
    }
    first = {GALLERY: "Gallery · all figures of these runs"}
    last = {BUNDLE: "Reproduction bundle · everything as a zip"}
    return {**first, **figures, PANELS: "Panels · several figures as one", **TABLES, **last}


def _show(what: str, runs: list[Run], choices: FigureChoices) -> None:
    if what == GALLERY:
        _gallery(runs, choices)
    elif what in TABLES:
        _table(what, runs)
    elif what == BUNDLE:
        _bundle(runs, choices)
    elif what == PANELS:
        _panels(runs, choices)
    else:
        with st.container(key="controls", gap="small"):
            choices = pick_choices(runs, choices, FIGURES.get(what).uses)
        _figure(Request(what, tuple(runs), choices), what)


def _panels(runs: list[Run], choices: FigureChoices) -> None:
    with st.container(key="controls", gap="small"):
        with frame.row("panel-controls"):
            words = {figure.name: figure.label for figure in FIGURES}
            names = controls.several(
                "figures", "Panels, in this order", words, FIRST_PANELS, max_selections=MOST_PANELS
            )
            shape = controls.select("shape", "Rows by columns", SHAPES, width=150)
        uses = frozenset(use for name in names for use in FIGURES.get(name).uses)
        choices = pick_choices(runs, choices, uses)
    if not names:
        frame.empty("No panels chosen", "Choose at least one figure in the row above.", "grid_view")
        return
    _figure(Request(",".join(names), tuple(runs), choices, shape or None if len(names) > 1 else "1x1"), PANELS)


def _figure(request: Request, what: str) -> None:
    choices = request.choices
    if "trend" in request.name.split(",") and not measurement.offer_trend(request.runs, choices.measure, choices.null):
        return
    name = f"{request.runs[0].config.dataset}-{what}-{choices.venue}"
    place = st.container()
    row = frame.row("downloads")
    failures = st.container()
    with row:
        dots = int(controls.select("dpi", "Resolution", DOTS, str(DPI), width=110, label_visibility="collapsed"))
        labels = {
            **{kind: kind.upper() for kind in formats_here()},
            "csv": "CSV of its points",
            "json": "JSON of its points",
        }
        for kind, label in labels.items():
            file = partial(request.file, kind, dots)
            downloads.file_button(label, f"{name}.{kind}", MIME[kind], file, failures)
    with place:
        _preview(request, dots)
        own, store = [run.reference for run in request.runs], str(open_catalog().store.root)
        out = f"{name}.{'pdf' if dots == DPI else 'png'}"
        command = figure_command(request.name, own, choices, store, out, request.shape or "", dots)
        st.code(command, language="bash", wrap_lines=True)


def _preview(request: Request, dots: int) -> None:
    with st.skeleton(height=360):
        picture, about = request.shown(dots)
    with st.container(border=True, key="preview", horizontal_alignment="center"):
        wide = request.choices.width
        alt = f"Preview of the figure, {wide:g} inches wide. {about}"
        st.image(picture, width=int(wide * SCREEN_PIXELS_AN_INCH), alt=alt)
    frame.caption(
        f"{VENUES[request.choices.venue].label}, {wide:g} in wide, fonts embedded.",
        frame.plain(about),
        "Caption",
    )
    if missing := request.missing:
        st.caption(f":material/info: {missing}")


def _bundle(runs: list[Run], choices: FigureChoices) -> None:
    with st.container(key="controls", gap="small"):
        choices = pick_choices(runs, choices, CURVE)
    content = made_bundle(runs, choices)
    if content is not None:
        downloads.file_button("Bundle", f"{runs[0].config.dataset}-bundle.zip", "application/zip", lambda: content)
        for sentence in lost_sources(runs_with_rounds(runs)):
            st.warning(frame.plain(sentence), icon=":material/warning:")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            readme = archive.read("README.md").decode()
        sizes = [{"File": entry.filename, "Size": formats.file_size(entry.file_size)} for entry in entries]
        listing, text = st.columns([1, 1.6], gap="medium")
        listing.dataframe(pd.DataFrame(sizes), hide_index=True, height=BUNDLE_HEIGHT)
        text.code(readme, language="markdown", height=BUNDLE_HEIGHT, wrap_lines=True)


def _table(what: str, runs: list[Run]) -> None:
    with frame.row("controls"):
        result = {"measurements": _measurements, "tickets": _tickets, "budget": _budget}[what](runs)
    if result is None:
        return
    table, latex = result
    st.code(latex, language="latex", height=420, wrap_lines=True)
    name = f"{runs[0].config.dataset}-{what}"
    with st.container(horizontal=True, gap="small", key="downloads"):
        downloads.file_button("LaTeX", f"{name}.tex", "application/x-tex", latex.encode)
        downloads.file_button("CSV", f"{name}.csv", "text/csv", partial(csv_bytes, table))
        downloads.file_button("JSON", f"{name}.json", "application/json", partial(json_bytes, table))


def _measurements(runs: list[Run]) -> tuple[pd.DataFrame, str] | None:
    dataset = runs[0].config.dataset
    number = run_select.pick_round(max(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()))
    if not measurement.offer_table(runs, (number,), null=False):
        return None
    table = measurement.table_of(runs, number, null=False, printed=printed_measurements(runs[0].config))
    return table, measurements_latex(table, dataset, note=training_part(runs[0].config))


def _tickets(runs: list[Run]) -> tuple[pd.DataFrame, str]:
    score, macs, margin = run_select.pick_score(), run_select.pick_macs(), run_select.pick_margin()
    table = cache.tickets_of(runs, score, macs, margin)
    if table.empty:
        raise ConfigError("These runs have no pruned round yet: wait for round 1, or choose other runs.")
    return table, tickets_latex(table, score, macs, margin)


def _budget(runs: list[Run]) -> tuple[pd.DataFrame, str]:
    budget, score, macs = pick_budget(runs), run_select.pick_score(), run_select.pick_macs()
    table = budget_table(cache.rounds_of(runs), budget, score, macs)
    return table, budget_latex(table, score, macs)


@dataclass(frozen=True)
class Request:
    """A figure, or several (comma-separated) in a `shape`, of some runs."""

    name: str
    runs: tuple[Run, ...]
    choices: FigureChoices
    shape: str | None = None

    @property
    def missing(self) -> str:
        """Which runs the figure leaves out, in a sentence; "" for none."""
        return " ".join(dict.fromkeys(filter(None, (FIGURES.get(n).missing(self.runs) for n in self.name.split(",")))))

    def shown(self, dpi: int) -> tuple[bytes, str]:
        """Return the figure as PNG and its caption, cached until its runs or choices change."""
        return _shown(self, dpi)

    def file(self, kind: str, dpi: int) -> bytes:
        """Return the figure as a file, or its points as CSV or JSON."""
        if kind == "png":
            return self.shown(dpi)[0]
        drawing = plan(self.name, self.runs, self.choices, self.shape)
        if kind in ("csv", "json"):
            return (csv_bytes if kind == "csv" else json_bytes)(drawing.points)
        return figure_bytes(on_page(drawing, self.choices), kind)


@cache.cached(64)
def _shown(request: Request, dpi: int) -> tuple[bytes, str]:
    drawing = plan(request.name, request.runs, request.choices, request.shape)
    return figure_bytes(on_page(drawing, request.choices), "png", dpi), drawing.caption


COLUMNS = {"1": "one column", "2": "two columns"}
ABOUT_EDGE = (
    "Two node numbers or ids, separated by a comma. Empty: of the node with most neighbours, the edge that was removed "
    "first."
)
ABOUT_NULL = "Dotted: as many undirected edges as each run kept, drawn at random."


def pick_page() -> FigureChoices:
    """Choose venue, width, font and greys."""
    venue = controls.select("venue", "Venue", {v.name: v.label for v in VENUES.values()}, "icml", width=120)
    columns = controls.segments("columns", "Width", COLUMNS)
    letters = controls.select("font", "Font", {str(name): words for name, words in FONTS.items()}, width=130)
    own = VENUES[venue].text
    points = controls.number("text", "Font size (pt)", own, SMALLEST, LARGEST, 0.5, width=110)
    grey = controls.switch("grey", "Greyscale", help="Greys and dashes instead of colours, for print.")
    font = next(name for name in FONTS if name == letters)
    text = None if points == own else points
    return FigureChoices(venue=venue, columns=int(columns), font=font, text=text, grey=grey)


def pick_choices(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    """Add the choices of figures with these `uses` to those of the page."""
    if any(use in uses for use in CURVE):
        with frame.row("controls-axis"):
            choices = _pick_curve(choices, uses)
    if "budget" in uses:
        with frame.row("controls-budget"):
            choices = replace(choices, budget=pick_budget(runs))
    if any(use in uses for use in ("round", "seed", "sample")):
        with frame.row("controls-round"):
            choices = _pick_round(runs, choices, uses)
    if "measure" in uses:
        with frame.row("controls-measure"):
            trend = measurement.pick_trend()
            null = controls.switch("null", "Random graphs of equal density", True, help=ABOUT_NULL)
            choices = replace(choices, measure=trend.name, over=trend.x, null=null)
    if "chance" in uses:
        choices = replace(choices, chance=run_select.pick_chance())
    if "edge" in uses:
        with frame.row("controls-edge"):
            choices = _pick_edge(runs, choices)
    return choices


def _pick_curve(choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    if "axis" in uses:
        axes = {**run_select.AXES, "all": "All three"}
        choices = replace(choices, x=cast(Any, controls.segments("x", "Horizontal axis", axes)))
    if "score" in uses:
        macs, score = run_select.pick_macs(), run_select.pick_score()
        choices = replace(choices, macs=macs, score=score, margin=run_select.pick_margin())
    with frame.row("switches", "center", width="content"):
        paper = "paper" in uses and controls.switch("paper", "Paper's points")
        whole = "near" in uses and controls.switch("whole", "Full range")
    return replace(choices, paper=paper, near=not whole)


def _pick_round(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    if "seed" in uses:
        shared = sorted(set.intersection(*(set(run.seeds()) for run in runs)))
        if not shared:
            raise ConfigError("The chosen runs have no seed in common: choose other runs.")
        seeds = {str(seed): str(seed) for seed in shared}
        choices = replace(choices, seed=int(controls.select("seed", "Seed", seeds, width=90)))
    if "round" in uses:
        finished = min(run.existing_seed(choices.seed).whole_rounds() for run in runs)
        choices = replace(choices, round=run_select.pick_round(finished))
    if "sample" in uses:
        graph = graph_of(runs[0].existing_seed(choices.seed))
        picked = graph_select.pick_round_sample(graph)
        graph_select.tell_unknown(graph, picked)
        fresh = controls.switch("fresh", "Edges removed in this round", help="Highlights them with strong dashes.")
        by_cause = controls.switch("by_cause", "Causes", help="Colours removed edges by what decided their removal.")
        choices = replace(choices, sample=replace(picked.sample, nodes=picked.nodes), fresh=fresh, causes=by_cause)
    return choices


def _pick_edge(runs: Sequence[Run], choices: FigureChoices) -> FigureChoices:
    text = controls.text("edge", "Edge", width=220, placeholder="first removed at the hub", help=ABOUT_EDGE)
    if not text:
        return choices
    ends = graph_select.find_nodes(graph_of(runs[0].existing_seed(choices.seed)), text)
    if len(ends) != 2:
        raise ConfigError("An edge has two ends: name two nodes, separated by a comma.")
    return replace(choices, edge=(ends[0], ends[1]))


ACROSS, THUMBNAIL_DPI = 3, 120
# Pixels; a taller picture scrolls.
THUMBNAIL_HEIGHT = 270
# Panels of a thumbnail; more would be too narrow to read.
MOST_PREVIEWED = 4
SLOW = "Not drawn: reads every round of every seed. Open the figure to draw it."
LARGE = "Not drawn: reads a large graph. Open the figure to draw it."


def _gallery(runs: Sequence[Run], choices: FigureChoices) -> None:
    # Each figure shows a round that all seeds have.
    last = min((run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()), default=1) - 1
    choices = replace(choices, round=min(run_select.DEFAULT_ROUND, max(last, 0)))
    for group, words in GROUPS.items():
        st.subheader(words, anchor=False)
        entries = [figure for figure in FIGURES if figure.group == group]
        for column, entry in frame.in_columns(entries, ACROSS):
            with column:
                _figure_card(entry, runs, choices)


def _figure_card(entry: Figure, runs: Sequence[Run], choices: FigureChoices) -> None:
    shown = runs[:MOST_PREVIEWED] if "round" in entry.uses else runs
    with st.container(border=True, key=f"card-{entry.name}", gap="small"):
        st.button(entry.label, key=f"open-{entry.name}", on_click=open_figure, args=(entry.name,), width="stretch")
        with st.container(
            height=THUMBNAIL_HEIGHT, border=False, key=f"thumb-{entry.name}", horizontal_alignment="center"
        ):
            _thumbnail(entry, Request(entry.name, tuple(shown), choices))
        if len(shown) < len(runs):
            st.caption(f"The first {len(shown)} of {len(runs)} runs. Open the figure for all.")


def _thumbnail(entry: Figure, request: Request) -> None:
    if entry.slow:
        st.caption(f":material/hourglass_empty: {SLOW}")
        return
    try:
        if entry.group == "structure" and "round" in entry.uses and measurement.is_large(request.runs[:1]):
            st.caption(f":material/hourglass_empty: {LARGE}")
            return
        with st.skeleton(height=THUMBNAIL_HEIGHT - 20):
            picture, _ = request.shown(THUMBNAIL_DPI)
        st.image(picture, width="stretch", alt=f"Preview: {entry.label}")
    except StudioError as error:
        st.caption(f":material/info: {plain(str(error))}")
    # A failure must not hide the other figures. Streamlit's control-flow exceptions derive from BaseException.
    except Exception as error:
        st.caption(f":material/info: Not drawn ({plain(f'{type(error).__name__}: {error}')}).")


def open_figure(name: str) -> None:
    """Choose a figure or the gallery."""
    st.session_state["what"] = name


BUNDLE_KEPT = "export: bundle"
ABOUT_BUNDLE = "Figures, tables, their numbers, settings, environments, and the commands that reproduce them."
BUNDLING = "Drawing figures and measuring graphs (up to a minute per new graph)"


def made_bundle(runs: list[Run], choices: FigureChoices) -> bytes | None:
    """Return the bundle of these runs and choices, None until created."""
    state = cache.stamps(runs), repr(choices)
    known, content = st.session_state.get(BUNDLE_KEPT, (None, None))
    if known == state:
        return bytes(content)
    st.caption(ABOUT_BUNDLE)
    if controls.pressed("Create bundle", "make-bundle", repr(state), type="primary", icon=":material/folder_zip:"):
        with st.spinner(BUNDLING):
            st.session_state[BUNDLE_KEPT] = state, bundle_bytes(runs, choices)
        st.rerun()
    return None
