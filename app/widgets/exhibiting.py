"""The open section of the Paper page: verdict, picture, numbers side by side, what is there and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import names, palette, published
from analysis.curves import ablation_figure, accuracy_figure
from analysis.reproduction import Claim, Comparison, Kind, Picture, Verdict
from analysis.reproduction.comparison import margins_words
from analysis.subgraphs import Sample, make_panel, original_panel, panels_html
from analysis.tables import caption
from app.widgets import chart, controls, frame, links, look, needing, reading, sampling
from app.widgets.judging import Judged
from app.widgets.look import BadgeColor
from app.widgets.opened import Opened
from glt import formats
from glt.store import Run
from glt.tickets.graph import graph_of
from glt.verdicts import DELTA

LOOKS: dict[Kind, tuple[BadgeColor, str]] = {
    "reproduced": ("green", ":material/check:"),
    "partly": ("orange", ":material/contrast:"),
    "not reproduced": ("red", ":material/close:"),
    "open": ("gray", ":material/help:"),
    "incomplete": ("blue", ":material/hourglass_empty:"),
    "shown": ("green", ":material/image:"),
    "not run": ("gray", ":material/radio_button_unchecked:"),
    "unavailable": ("gray", ":material/block:"),
}
GALLERY = Sample("walk", 120)
HEIGHT = 560


def badge(verdict: Verdict, unmeasured: bool = False) -> str:
    """Write a verdict's kind as a small coloured word inside Markdown; `unmeasured` graphs have none yet."""
    if unmeasured:
        return ":gray-badge[:material/straighten: Open it to measure and judge]"
    color, icon = LOOKS[verdict.kind]
    return f":{color}-badge[{icon} {verdict.title}]"


def section(found: Opened, judged: Judged) -> None:
    """Show one experiment in full."""
    experiment, setting = judged.plan.experiment, judged.plan.setting
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(experiment.label, anchor=False, width="content")
        st.markdown(badge(judged.verdict), width="content")
    where = f"{experiment.place} · {names.dataset(setting.dataset)}, {names.model(setting.model)}"
    st.caption(f"{where}, {names.task(setting.task)}. {experiment.about}")
    _words(judged)
    if judged.runs:
        with frame.or_why():
            _pictures(judged)
        _side_by_side(judged.rows)
    else:
        frame.empty(
            "Nothing to show yet",
            f"As {experiment.place} of the paper, drawn here as soon as a run below has finished its first round.",
            "menu_book",
        )
    _claims(judged.claims)
    needing.show(found, judged)


def _words(judged: Judged) -> None:
    experiment, setting, verdict = judged.plan.experiment, judged.plan.setting, judged.verdict
    with st.container(border=True, key="verdict", gap="xsmall"):
        st.markdown(frame.plain(verdict.sentence).replace("\\`", "`"))
        for fact in published.facts(experiment.name, *setting, falls_short=verdict.falls_short):
            st.caption(f":material/info: {frame.plain(fact.text)}")
        frame.results_note(judged.runs)


def _pictures(judged: Judged) -> None:
    pictures = judged.exhibit.pictures
    if not pictures:
        return
    picture = pictures[0]
    if len(pictures) > 1:
        labels = {str(each.x): each.label for each in pictures}
        axis = controls.segments("axis", "Over", labels, label_visibility="collapsed")
        picture = next(each for each in pictures if each.x == axis)
    if picture.kind == "subgraphs":
        _subgraphs(judged.runs[0], judged.plan.experiment.rounds)
    else:
        _curve(judged.runs, picture, bool(judged.rows))


def _curve(runs: list[Run], picture: Picture, printed: bool) -> None:
    figure = _figure(reading.stamps(runs), picture, look.is_dark(), printed, runs)
    chart.show(figure, f"paper-{picture.x}", f"Ours as in {picture.place}")
    st.caption(f"As {picture.place}. {frame.plain(caption(reading.rounds_of(runs), paper=printed))}")
    chart.numbers(figure, f"paper-{picture.x}", f"Ours as in {picture.place}")


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={Picture: repr})
def _figure(
    stamps: tuple[reading.Stamp, ...], picture: Picture, dark: bool, printed: bool, _runs: list[Run]
) -> go.Figure:
    x = picture.x
    if picture.kind == "ablation" and len(_runs) > 1:
        return ablation_figure(_runs, x=x, dark=dark)
    table = reading.curve_of(_runs, "test", x, "dense_features", DELTA)
    rounds = reading.rounds_of(_runs)
    return accuracy_figure(table, rounds, x=x, paper=printed, dark=dark, seeds=False)


def _subgraphs(run: Run, number: int) -> None:
    seed = next((seed for seed in run.seeds() if run.seed(seed).whole_rounds() > number), None)
    if seed is None:
        st.caption(f"The subgraphs are of round {number}, which no seed has finished yet.")
        return
    graph = graph_of(run.seed(seed))
    part = sampling.subgraph(graph, GALLERY)
    title = f"{palette.label(run.config.method)}, round {number}"
    panel = make_panel(graph, part, reading.edge_mask(run, seed, number), title)
    html = panels_html([original_panel(graph, part), panel], look.is_dark(), HEIGHT)
    st.iframe(html, height=HEIGHT, alt=f"{names.dataset(graph.name)}, {title}. {' '.join(panel.caption)}")
    sparsity = formats.percent(run.seed(seed).rounds()[number].graph_sparsity, 2)
    st.caption(f"As Figure 8: original and {title}, seed {seed}, graph sparsity {sparsity}; a random walk's nodes.")
    links.link("subgraphs", "Choose another part", ":material/hub:", run=run.reference, round=str(number))


def _side_by_side(rows: Sequence[Comparison]) -> None:
    if not rows:
        return
    again = any(row.rerun for row in rows)
    what = "Measure" if rows[0].quantity == "measure" else "Round"
    heads = [
        "Graph" if what == "Measure" else "Method",
        what,
        "Ours",
        "Paper",
        "Difference",
        "Shown",
        *(["Authors' code, run again"] if again else []),
    ]
    table = [_cells(row, again) for row in rows]
    with st.container(key="figures-paper"):
        st.table(pd.DataFrame(table, columns=heads), border="horizontal", hide_index=True, width="content")
    sources = "; ".join(dict.fromkeys(row.source for row in rows))
    st.caption(f"{_method_words(rows)} Paper: {sources}.")


def _method_words(rows: Sequence[Comparison]) -> str:
    """Say what was tested, with which margins, and over how many values."""
    margins = margins_words({row.quantity for row in rows})
    family = max(row.agreement.family for row in rows)
    tested = (
        f"two one-sided t tests show the mean within the margin (agrees), a two-sided one beyond it (differs), Holm "
        f"over {formats.number_of(family, 'value')} at 5 %, else open, with about how many seeds would settle it"
        if family
        else "a test needs two seeds"
    )
    return (
        f"Mean and 95% interval over seeds, from three on. A printed number is one run and taken as exact; {tested}. "
        f"Margins: {margins}, never finer than the printed digits."
    )


def _cells(row: Comparison, again: bool) -> list[str]:
    words = row.agreement_words()
    shown = f":orange[{words}]" if row.agreement.word == "differs" else words
    cells = [row.group, row.where, row.ours_words(), row.paper_words(), row.difference_words(), shown]
    return [*cells, row.rerun_words() or formats.MISSING] if again else cells


def _claims(claims: Sequence[Claim]) -> None:
    if not claims:
        return
    st.markdown("**What the paper says**")
    marks = {True: ":green-badge[holds]", False: ":orange-badge[does not hold]", None: ":gray-badge[open]"}
    for claim in claims:
        mark = marks[claim.holds] if claim.tested else ":gray-badge[no verdict]"
        st.markdown(f"{frame.plain(claim.text)} {mark}")
        st.caption(f"{claim.place}. Ours: {frame.plain(claim.ours)}.")
