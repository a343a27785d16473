"""The degree distribution of one round beside the original graph's and that of a random twin."""

from __future__ import annotations

import streamlit as st

from analysis import names, palette
from analysis.curves import Degrees, degree_figure
from analysis.measures import MeasuredGraph, random_twins
from analysis.measures.degrees import degree_counts, degree_gini
from analysis.titles import short_title
from app.widgets import chart, look
from glt import formats
from glt.masks import EdgeMask
from glt.store import Run


def show(run: Run, seed: int, number: int, whole: MeasuredGraph, mask: EdgeMask) -> None:
    """Draw the three distributions, with their Gini coefficients in the caption."""
    method = run.config.method
    pruned, twin = (whole.keeping(each.either_way()) for each in (mask, random_twins([(seed, mask)], 1)[0]))
    figure = degree_figure(
        [
            Degrees("Original", palette.DENSE, degree_counts(whole)),
            Degrees(short_title(run), method, degree_counts(pruned), color=run.annotation.color),
            Degrees("random, as dense", method, degree_counts(twin), "dot", run.annotation.color),
        ],
        look.is_dark(),
    )
    title = f"Share of nodes with at least so many neighbours, round {number}"
    chart.show(figure, "degrees", title)
    ginis = ", ".join(formats.fixed(degree_gini(graph), 3) for graph in (whole, pruned, twin))
    st.caption(
        f"{names.dataset(run.config.dataset)}, round {number}, seed {seed}: the share of nodes that have at least so "
        f"many neighbours. Gini of degrees, in the order of the legend: {ginis}. Isolated nodes are what the curves "
        "lack at 1; dotted: one draw of as many undirected edges as the round kept."
    )
    chart.numbers(figure, "degrees", title)
