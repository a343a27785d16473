"""What the store says about an experiment of the paper: its plan, and a verdict kept until a round is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis import published
from analysis.reproduction import EXHIBITS, Claim, Comparison, Evidence, Exhibit, Verdict, judge, settled
from app.widgets import measuring, reading
from app.widgets.opened import Opened
from glt.jobs.forecast import Forecast
from glt.reproduction import Experiment, Plan, Setting, make_plan
from glt.reproduction.starting import cost_words
from glt.store import Run


@dataclass(frozen=True, eq=False)
class Judged:
    """An experiment in a setting: what is there, what is missing and its cost, what was compared, and the verdict."""

    exhibit: Exhibit
    plan: Plan
    runs: list[Run]
    cost: Forecast
    rows: list[Comparison]
    claims: list[Claim]
    verdict: Verdict


def judged(found: Opened, experiment: Experiment, setting: Setting, seeds: Sequence[int], measure: bool) -> Judged:
    """Judge an experiment; graph measurements it needs are taken only if `measure` says so or they are known."""
    plan = make_plan(experiment, setting, seeds, found.runs)
    exhibit = EXHIBITS.get(experiment.name)
    runs = shown_runs(plan)
    cost = reading.forecast_of(found, [need.config for need in plan.lacking if need.config], plan.seeds)
    # A run with other settings is drawn and said to be one, and never counts in a mean, a claim or a verdict.
    tested = plan.runs if measure or not exhibit.measures else []
    rows, claims = _compared(exhibit, setting, tested) if tested else ([], [])
    claims = settled(claims, plan)
    return Judged(exhibit, plan, runs, cost, rows, claims, judge(plan, rows, claims, cost_words(plan, cost)))


def shown_runs(plan: Plan) -> list[Run]:
    """Return the runs of an experiment's figure: for every arm its own, or the one that stands in for it."""
    runs = [need.run if need.has_rounds else need.stand_in for need in plan.needs]
    return list({run.reference: run for run in runs if run is not None}.values())


def _compared(exhibit: Exhibit, setting: Setting, runs: list[Run]) -> tuple[list[Comparison], list[Claim]]:
    if exhibit.measures:
        # Measuring shows a bar and keeps its own tables, so what follows from them is not kept once more.
        return _compare(exhibit, setting, runs, lambda: measuring.table_of(runs, published.MEASUREMENT_ROUND, False))
    return _kept(reading.stamps(runs), exhibit.name, setting, runs)


@st.cache_resource(max_entries=256, show_spinner=False)
def _kept(
    stamps: tuple[reading.Stamp, ...], name: str, setting: Setting, _runs: list[Run]
) -> tuple[list[Comparison], list[Claim]]:
    return _compare(EXHIBITS.get(name), setting, _runs, pd.DataFrame)


def _compare(
    exhibit: Exhibit, setting: Setting, runs: list[Run], measured: Callable[[], pd.DataFrame]
) -> tuple[list[Comparison], list[Claim]]:
    evidence = Evidence(setting, runs, reading.rounds_of(runs), measured)
    return exhibit.rows(evidence), exhibit.claims(evidence)
