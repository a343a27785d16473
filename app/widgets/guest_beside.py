"""A ticket file beside the runs here: its point among their rounds, and each run's round of about its sparsity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.curves import pareto_figure
from analysis.curves.guest import NAME, with_guest
from analysis.tables import Score, XAxis
from analysis.tables.pareto import with_front
from app.widgets import frame, links, look, pickers, reading, round_chart, scoring
from app.widgets.opened import opened, setting
from glt import formats
from glt.config import RunConfig
from glt.store import Run
from glt.verdicts import DELTA

SCORE: Score = "test"


def show(found: Mapping[str, Any]) -> None:
    """Draw the file among the rounds of the runs with its data set, task and network."""
    config = RunConfig.model_validate(found["config"])
    alike = [run for run in pickers.with_rounds(opened().runs) if setting(run.config) == setting(config)]
    runs = pickers.together(alike) if alike else []
    if not runs:
        frame.empty(
            "No run to stand beside",
            "No run here, example or yours, has this data set, task and network.",
            "stacked_line_chart",
            "launch",
            "Launch one",
        )
        return
    x = scoring.pick_axis()
    round_chart.show(_figure(runs, found, x), "guest", "The ticket file's test score and cost among the rounds here")
    curve = reading.curve_of(runs, SCORE, "graph", "dense_features", DELTA)
    with st.container(key="figures-guest"):
        st.table(as_read(found, curve), border="horizontal", hide_index=True, width="content")
    st.caption(
        "The ring and the first line are the file's, one seed. Each run's round is the one nearest in graph "
        "sparsity, the mean over its seeds. MACs with dense features."
    )
    _same_run(found, runs)


def numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Return what a file's masks and outputs give, by name; what cannot be found is as the file states it."""
    return {each["name"]: each["in_file"] if each["found"] is None else each["found"] for each in found["stated"]}


def _figure(runs: list[Run], found: Mapping[str, Any], x: XAxis) -> go.Figure:
    table = reading.curve_of(runs, SCORE, x, "dense_features", DELTA)
    figure = pareto_figure(with_front(table, x), reading.rounds_of(runs), x=x, score=SCORE, dark=look.is_dark())
    mine = numbers(found)
    return with_guest(figure, mine, mine["test"], x, look.is_dark())


def as_read(found: Mapping[str, Any], curve: pd.DataFrame) -> pd.DataFrame:
    """Return the file's row, then each run's round that is nearest to it in graph sparsity."""
    mine = numbers(found)
    pruned = curve.assign(apart=(curve["graph_sparsity"] - mine["graph_sparsity"]).abs())
    nearest = pruned.sort_values("apart", kind="stable").groupby("run", sort=False).head(1).sort_index()
    rows = [_row(NAME, found["round"], mine["test"], mine, mine["macs.dense_features"], 1)]
    rows += [
        _row(
            row["label"],
            row["round"],
            row["mean"],
            {str(key): value for key, value in row.items()},
            row["macs"],
            row["seeds"],
        )
        for row in nearest.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _row(label: str, number: int, score: float, shares: Mapping[str, Any], macs: float, seeds: int) -> dict[str, str]:
    return {
        "": frame.plain(label),
        "Round": str(number),
        "Test": formats.percent(score),
        "Graph sparsity": formats.percent(shares["graph_sparsity"]),
        "Weight sparsity": formats.percent(shares["weight_sparsity"]),
        "Edges kept, either way": formats.percent(shares["edges_kept_either_way"]),
        "MACs": formats.macs(macs),
        "Seeds": str(seeds),
    }


def _same_run(found: Mapping[str, Any], runs: list[Run]) -> None:
    """Lead to the run the file was made from, where it is here."""
    made_from = next((run for run in runs if run.name == found["run"]), None)
    if made_from is not None:
        view = {"run": made_from.reference, "round": str(found["round"])}
        links.link("subgraphs", "The run it was made from is here", ":material/hub:", **view)
