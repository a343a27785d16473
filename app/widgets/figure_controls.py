"""The controls of a paper figure: those of its page, and those that it has a use for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import streamlit as st

from analysis.export import VENUES, FigureChoices
from analysis.export.figures.base import Use
from analysis.export.venues import FONTS, LARGEST, SMALLEST
from app.widgets import controls, measured_trend, pickers, sampling, scoring
from glt.errors import ConfigError
from glt.store import Run
from glt.tickets.graph import graph_of

COLUMNS = {"1": "one column", "2": "two columns"}
CURVE: tuple[Use, ...] = ("axis", "score", "paper", "near")
ABOUT_EDGE = (
    "Both ends of an edge with a comma between them, by number or the nodes' own ids. Empty: the edge of the node with "
    "most neighbours that was cut first."
)
ABOUT_NULL = "Dotted: as many undirected edges as each run kept, drawn at random."


def pick_page() -> FigureChoices:
    """Choose venue, width, letters and greys."""
    venue = controls.select("venue", "Venue", {v.name: v.label for v in VENUES.values()}, "icml", width=120)
    columns = controls.segments("columns", "Width", COLUMNS)
    letters = controls.select("font", "Letters", {str(name): words for name, words in FONTS.items()}, width=130)
    own = VENUES[venue].text
    points = controls.number("text", "Points", own, SMALLEST, LARGEST, 0.5, width=110)
    grey = controls.switch("grey", "Grey", help="Greys and dashes instead of colours, for a print without any.")
    font = next(name for name in FONTS if name == letters)
    text = None if points == own else points
    return FigureChoices(venue=venue, columns=int(columns), font=font, text=text, grey=grey)


def pick(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    """Choose what figures with these `uses` show; the page's choices stay as they are."""
    rows: tuple[tuple[tuple[Use, ...], Callable[..., FigureChoices]], ...] = (
        (CURVE, _curve),
        (("round", "seed", "sample"), _round),
        (("measure",), _measure),
        (("edge",), _edge),
    )
    for wanted, row in rows:
        if any(use in uses for use in wanted):
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"controls-{wanted[0]}"):
                choices = row(runs, choices, uses)
    return choices


def _curve(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    if "axis" in uses:
        choices = replace(choices, x=scoring.pick_axes())
    if "score" in uses:
        macs, score = scoring.pick_macs(), scoring.pick_score()
        choices = replace(choices, macs=macs, score=score, margin=scoring.pick_margin())
    with st.container(width="content", horizontal=True, gap="small", vertical_alignment="center", key="switches"):
        paper = "paper" in uses and controls.switch("paper", "Paper's points")
        whole = "near" in uses and controls.switch("whole", "Full range")
    return replace(choices, paper=paper, near=not whole)


def _round(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    if "seed" in uses:
        choices = replace(choices, seed=pickers.pick_shared_seed(runs))
    if "round" in uses:
        shown = [run.existing_seed(choices.seed) for run in runs]
        choices = replace(choices, round=pickers.pick_round(shown))
    if "sample" in uses:
        graph = graph_of(runs[0].existing_seed(choices.seed))
        picked = sampling.pick_round_sample(graph)
        sampling.tell_unknown(graph, picked)
        fresh = controls.switch("fresh", "Mark this round's", help="Strong dashes: edges that this very round removed.")
        choices = replace(choices, sample=replace(picked.sample, nodes=picked.nodes), fresh=fresh)
    return choices


def _measure(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    trend = measured_trend.choose()
    null = controls.switch("null", "Beside random graphs", True, help=ABOUT_NULL)
    return replace(choices, measure=trend.name, over=trend.x, null=null)


def _edge(runs: Sequence[Run], choices: FigureChoices, uses: Collection[Use]) -> FigureChoices:
    text = controls.text("edge", "Edge", width=220, placeholder="cut first at the hub", help=ABOUT_EDGE)
    if not text:
        return choices
    ends = sampling.find_nodes(graph_of(runs[0].existing_seed(choices.seed)), text)
    if len(ends) != 2:
        raise ConfigError("An edge has two ends: name two nodes, with a comma between them.")
    return replace(choices, edge=(ends[0], ends[1]))
