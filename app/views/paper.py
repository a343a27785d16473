"""Paper: the paper's figures and tables beside our runs, each with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from analysis import palette, published
from analysis.drawing.description import Description
from analysis.figures.ablation import ablation_curves
from analysis.figures.accuracy import accuracy_curves
from analysis.labels import dataset_label, model_label, task_label
from analysis.reproduction.claims import EXHIBITS, Claim, Exhibit, Picture
from analysis.reproduction.comparison import Comparison, Evidence, family_words, margins_words
from analysis.reproduction.verdict import ExperimentVerdict, Kind, judge_experiment, settled
from analysis.tables.captions import caption
from app.components import controls, frame, graph_select, measurement, url_state
from app.components.downloads import drawn, numbers_popover, show_figure, show_text_table
from app.components.frame import BadgeColor
from app.data import cache
from app.data.runs import Catalog, open_catalog, state_of
from app.views import attribution, other_methods
from app.views.run_detail import say_not_started
from glt import formats
from glt.errors import ConfigError
from glt.jobs.estimate import Forecast
from glt.lottery.graph import graph_of
from glt.pretraining.config import PretrainConfig
from glt.reproduction import EXPERIMENTS, Experiment, Need, Plan, Setting, in_order, make_plan
from glt.reproduction.plan import ArmState, arm_state, command, cost_words, order_words, preparations, start
from glt.seeds import read_seeds
from glt.store import AnyRun, Run, Store, run_name
from glt.training.tasks import TASKS

FIRST = "node-classification"
DEFAULT_SEEDS = "0-2"
MEASURED = "paper: measured"
BEYOND = "attribution"
# More required runs are folded.
MOST_LISTED = 10


def page() -> None:
    """Show the page."""
    with frame.page("Paper", "The paper's figures and tables on small graphs, beside our runs."):
        dataset, model, seeds = _controls()
        catalog = open_catalog()
        contents, section = st.columns([1, 3.1], gap="large")
        with contents:
            experiment = _contents(catalog, dataset, model, seeds)
        with section:
            if experiment is None:
                other_methods.show(catalog, dataset, model, seeds)
                return
            setting = experiment.nearest(dataset, model, _task(experiment))
            if experiment.name == BEYOND:
                _show_attribution(catalog, make_plan(experiment, setting, seeds, catalog.runs))
                return
            _open_section(catalog, experiment, setting, (dataset, model), seeds)


def _controls() -> tuple[str, str, tuple[int, ...]]:
    settings = [setting for experiment in in_order() for setting in experiment.settings]
    datasets = {name: dataset_label(name) for name in dict.fromkeys(setting.dataset for setting in settings)}
    models = {name: model_label(name) for name in dict.fromkeys(setting.model for setting in settings)}
    with frame.row("controls"):
        dataset = controls.segments("dataset", "Data set", datasets, "cora")
        model = controls.segments("model", "Network", models, "gcn")
        about = "Seeds required of every run. Means are over all existing seeds."
        written = controls.text("seeds", "Required seeds", DEFAULT_SEEDS, width=130, help=about) or DEFAULT_SEEDS
    try:
        seeds = read_seeds(written)
    except ConfigError as error:
        frame.failure(f"{error} Seeds {DEFAULT_SEEDS} are shown.")
        seeds = read_seeds(DEFAULT_SEEDS)
    return dataset, model, seeds


def _contents(catalog: Catalog, dataset: str, model: str, seeds: Sequence[int]) -> Experiment | None:
    """Choose an experiment of the paper; None for the section on other methods."""
    experiments = {experiment.name: experiment for experiment in [*in_order(), EXPERIMENTS.get(BEYOND)]}
    labels = {name: f"{experiment.place} · {experiment.label}" for name, experiment in experiments.items()}
    task = st.session_state.get("task")
    captions = {}
    for name, experiment in experiments.items():
        setting = experiment.nearest(dataset, model, task)
        if name == BEYOND:
            plan = make_plan(experiment, setting, seeds, catalog.runs)
            captions[name] = f":gray-badge[{len(plan.needs) - len(plan.lacking)} of {len(plan.needs)} runs complete]"
            continue
        result = _known_section(catalog, experiment, setting, seeds)
        captions[name] = badge(result.verdict, bool(result.runs) and _is_unmeasured(experiment, setting))
    labels[other_methods.NAME] = other_methods.LABEL
    captions[other_methods.NAME] = other_methods.found_words(catalog, dataset, model)
    return experiments.get(controls.contents("experiment", "Contents", labels, FIRST, captions))


def _task(experiment: Experiment) -> str:
    tasks = list(dict.fromkeys(setting.task for setting in experiment.settings))
    if len(tasks) == 1:
        return tasks[0]
    labels = {name: TASKS.get(name).label for name in tasks}
    return controls.segments("task", "Task", labels, label_visibility="collapsed")


def _known_section(catalog: Catalog, experiment: Experiment, setting: Setting, seeds: Sequence[int]) -> Section:
    """Return the section of an experiment; graphs are measured once it was opened."""
    return make_section(catalog, experiment, setting, seeds, (experiment.name, setting) in _measured())


def _measured() -> set[tuple[str, Setting]]:
    known: set[tuple[str, Setting]] = st.session_state.setdefault(MEASURED, set())
    return known


def _is_unmeasured(experiment: Experiment, setting: Setting) -> bool:
    return EXHIBITS.get(experiment.name).measures and (experiment.name, setting) not in _measured()


def _open_section(
    catalog: Catalog, experiment: Experiment, setting: Setting, chosen: tuple[str, str], seeds: Sequence[int]
) -> None:
    if chosen != (setting.dataset, setting.model):
        shown = f"{dataset_label(setting.dataset)} with {model_label(setting.model)}"
        st.caption(f":material/info: The paper has no such panel: {shown} is shown.")
    if _is_unmeasured(experiment, setting):
        _measured().add((experiment.name, setting))
        make_section(catalog, experiment, setting, seeds, measure=True)
        # Rerun: the contents were written before the measurements were known.
        st.rerun()
    show_section(catalog, _known_section(catalog, experiment, setting, seeds))


@dataclass(frozen=True, eq=False)
class Section:
    """The section of an experiment in a setting: runs, missing runs and their cost, comparisons, and the verdict."""

    exhibit: Exhibit
    plan: Plan
    runs: list[Run]
    cost: Forecast
    rows: list[Comparison]
    claims: list[Claim]
    verdict: ExperimentVerdict


def make_section(
    catalog: Catalog, experiment: Experiment, setting: Setting, seeds: Sequence[int], measure: bool
) -> Section:
    """Return the section of an experiment, with its verdict; graphs are measured only with `measure`."""
    plan = make_plan(experiment, setting, seeds, catalog.runs)
    exhibit = EXHIBITS.get(experiment.name)
    # The run of every arm, or its substitute.
    figured = [need.run if need.has_rounds else need.stand_in for need in plan.needs]
    runs = list({run.reference: run for run in figured if run is not None}.values())
    cost = cache.forecast_of(catalog, [need.config for need in plan.lacking if need.config], plan.seeds)
    # A run with other settings is drawn and labelled; it never counts in a mean, a claim or a verdict.
    tested = plan.runs if measure or not exhibit.measures else []
    scored: dict[str, Run] = {}
    for other in EXHIBITS if exhibit.scores else ():
        # Printed scores of all experiments in this setting are one family of tests.
        if other.scores and setting in EXPERIMENTS.get(other.name).settings:
            of_other = make_plan(EXPERIMENTS.get(other.name), setting, seeds, catalog.runs)
            scored |= {run.reference: run for run in of_other.runs}
    rows, claims = _compared(exhibit, setting, tested, list(scored.values())) if tested else ([], [])
    claims = settled(claims, plan)
    return Section(
        exhibit, plan, runs, cost, rows, claims, judge_experiment(plan, rows, claims, cost_words(plan, cost))
    )


def _compared(
    exhibit: Exhibit, setting: Setting, runs: list[Run], scored: list[Run]
) -> tuple[list[Comparison], list[Claim]]:
    if exhibit.measures:
        # Measuring shows a progress bar and has its own cache.
        table = partial(measurement.table_of, runs, published.MEASUREMENT_ROUND, False)
        return _compare(exhibit, setting, runs, scored, table)
    return _compared_curves(exhibit.name, setting, runs, scored)


@cache.cached(256, shared=True)
def _compared_curves(
    name: str, setting: Setting, runs: list[Run], scored: list[Run]
) -> tuple[list[Comparison], list[Claim]]:
    return _compare(EXHIBITS.get(name), setting, runs, scored, pd.DataFrame)


def _compare(
    exhibit: Exhibit, setting: Setting, runs: list[Run], scored: list[Run], measured: Callable[[], pd.DataFrame]
) -> tuple[list[Comparison], list[Claim]]:
    rounds = cache.rounds_of(scored) if scored else None
    evidence = Evidence(setting, runs, cache.rounds_of(runs), measured, rounds)
    return exhibit.rows(evidence), exhibit.claims(evidence)


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


def badge(verdict: ExperimentVerdict, unmeasured: bool = False) -> str:
    """Return a verdict as a Markdown badge; `unmeasured` graphs have none yet."""
    if unmeasured:
        return ":gray-badge[:material/straighten: Not measured]"
    color, icon = LOOKS[verdict.kind]
    return f":{color}-badge[{icon} {verdict.title}]"


def show_section(catalog: Catalog, section: Section) -> None:
    """Show one experiment in full."""
    experiment, setting = section.plan.experiment, section.plan.setting
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(experiment.label, anchor=False, width="content")
        st.markdown(badge(section.verdict), width="content")
    where = f"{experiment.place} · {dataset_label(setting.dataset)}, {model_label(setting.model)}"
    st.caption(f"{where}, {task_label(setting.task)}. {experiment.about}")
    _verdict(section)
    if section.runs:
        with frame.or_why():
            _pictures(section)
        _side_by_side(section.rows)
    else:
        frame.empty(
            "Nothing to show yet",
            f"Shows {experiment.place} as soon as a run below has finished its first round.",
            "menu_book",
        )
    if section.claims:
        st.markdown("**Claims of the paper**")
    marks = {True: ":green-badge[holds]", False: ":orange-badge[does not hold]", None: ":gray-badge[open]"}
    for claim in section.claims:
        mark = marks[claim.holds] if claim.tested else ":gray-badge[no verdict]"
        st.markdown(f"{frame.plain(claim.text)} {mark}")
        st.caption(f"{claim.place}. Ours: {frame.plain(claim.ours)}.")
    show_needs(catalog, section.plan, section.cost)


def _verdict(section: Section) -> None:
    experiment, setting, verdict = section.plan.experiment, section.plan.setting, section.verdict
    with st.container(border=True, key="verdict", gap="xsmall"):
        st.markdown(frame.plain(verdict.sentence).replace("\\`", "`"))
        facts = [fact.text for fact in published.facts(experiment.name, *setting, falls_short=verdict.falls_short)]
        if facts:
            frame.caption("", "\n\n".join(map(frame.plain, facts)), "Differences from the paper")
        frame.results_note(section.runs)


def _pictures(section: Section) -> None:
    pictures = section.exhibit.pictures
    if not pictures:
        return
    picture = pictures[0]
    if len(pictures) > 1:
        labels = {str(option.x): option.label for option in pictures}
        axis = controls.segments("axis", "Horizontal axis", labels, label_visibility="collapsed")
        picture = next(option for option in pictures if option.x == axis)
    if picture.kind == "subgraphs":
        _subgraphs(section.runs[0], section.plan.experiment.rounds)
    else:
        _curve(section.runs, picture, bool(section.rows))


def _curve(runs: list[Run], picture: Picture, printed: bool) -> None:
    figure, title = _curve_figure(runs, picture, printed), f"Our runs as in {picture.place}"
    show_figure(figure, f"paper-{picture.x}", title)
    frame.caption(f"{title.partition(' (')[0]}.", frame.plain(caption(cache.rounds_of(runs), paper=printed)))
    numbers_popover(figure, f"paper-{picture.x}", title)


@drawn()
def _curve_figure(runs: list[Run], picture: Picture, printed: bool) -> Description:
    x = picture.x
    if picture.kind == "ablation" and len(runs) > 1:
        return ablation_curves(runs, x=x)
    table = cache.curve_of(runs, "test", x)
    return accuracy_curves(table, cache.rounds_of(runs), x=x, paper=printed, seeds=False)


def _subgraphs(run: Run, number: int) -> None:
    seed = next((seed for seed in run.seeds() if run.seed(seed).whole_rounds() > number), None)
    if seed is None:
        st.caption(f"Subgraphs appear as soon as a seed has finished round {number}.")
        return
    title = f"{palette.label(run.config.method)}, round {number}"
    graph_select.show_beside_original(graph_of(run.seed(seed)), cache.edge_mask(run, seed, number), title)
    sparsity = formats.percent(run.seed(seed).rounds()[number].graph_sparsity, 2)
    st.caption(f"As Figure 8: original and {title}, seed {seed}, graph sparsity {sparsity}. Nodes of a random walk.")
    url_state.link("subgraphs", "Other samples", ":material/hub:", run=run.reference, round=str(number))


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
        "Test",
        *(["Authors' code, rerun"] if again else []),
    ]
    table = [_cells(row, again) for row in rows]
    show_text_table("paper", pd.DataFrame(table, columns=heads))
    sources = "; ".join(dict.fromkeys(row.source for row in rows))
    frame.caption("Ours: mean and 95% interval over seeds.", f"{_method_words(rows)} Paper: {frame.plain(sources)}.")


def _method_words(rows: Sequence[Comparison]) -> str:
    """Return what was tested, with which margins, and over how many values."""
    margins = margins_words({row.quantity for row in rows})
    family = family_words(rows)
    tested = (
        "agrees: two one-sided t tests show the mean within the margin; differs: a two-sided t test shows it outside; "
        f"open: neither, with the seeds needed. Tests at 5 %, {family} (per figure or table of the paper)"
        if family
        else "a test needs two seeds"
    )
    return (
        f"Intervals need three seeds. A printed number is one run and taken as exact. Tests: {tested}. Margins: "
        f"{margins}, never finer than the printed digits."
    )


def _cells(row: Comparison, again: bool) -> list[str]:
    words = row.agreement_words()
    shown = f":orange[{words}]" if row.agreement.word == "differs" else words
    cells = [row.group, row.where, row.ours_words(), row.paper_words(), row.difference_words(), shown]
    return [*cells, row.rerun_words() or formats.MISSING] if again else cells


def _show_attribution(catalog: Catalog, plan: Plan) -> None:
    """Show the factorial of edges, weights and starts, which is not in the paper."""
    st.subheader(plan.experiment.label, anchor=False)
    where = f"{plan.experiment.place} · {dataset_label(plan.setting.dataset)}, {model_label(plan.setting.model)}"
    st.caption(f"{where}. {plan.experiment.about}")
    attribution.show_results(catalog.runs, plan.setting)
    cost = cache.forecast_of(catalog, [need.config for need in plan.lacking if need.config], plan.seeds)
    show_needs(catalog, plan, cost)


def show_needs(catalog: Catalog, plan: Plan, cost: Forecast) -> None:
    """Show every arm's state, and offer to start what is missing."""
    store = catalog.store
    with st.container(border=True, key="needs", gap="small"):
        st.markdown("**Required runs**")
        shown = (
            st.expander(formats.number_of(len(plan.needs), "run")) if len(plan.needs) > MOST_LISTED else nullcontext()
        )
        with shown:
            for number, need in enumerate(plan.needs):
                _need(number, need, plan, store)
        if not plan.lacking:
            if not plan.unavailable:
                st.caption(f"Complete for seeds {', '.join(map(str, plan.seeds))}.")
            return
        st.caption(frame.plain(f"Missing: {cost_words(plan, cost)}. Time: {cost.basis}."))
        firsts = preparations(plan, store)
        for first in firsts:
            name = run_name(first)
            known = next((run for run in catalog.pretrainings if run.name == name), None)
            state = state_of(known) if known is not None else "not started"
            st.caption(f"First, a pre-training of unknown duration: {name} ({state}).")
        for sentence in order_words(plan, firsts):
            st.caption(f":material/account_tree: {frame.plain(sentence)}")
        _button(catalog, plan, firsts)
        st.code(command(plan), language="bash", wrap_lines=True)


def _button(catalog: Catalog, plan: Plan, firsts: list[PretrainConfig]) -> None:
    known = {run.name: run for run in catalog.pretrainings}
    idle_firsts = [first for first in firsts if _has_idle(known.get(run_name(first)), plan.seeds)]
    idle = [need for need in plan.lacking if _has_idle(need.own, need.lacking)]
    parts = [formats.number_of(len(idle), "run")] if idle else []
    parts += [formats.number_of(len(idle_firsts), "pre-training")] if idle_firsts else []
    words = f"Start {' and '.join(parts)}" if parts else "All started"
    if st.button(words, key="reproduce", type="primary", icon=":material/play_arrow:", disabled=not parts):
        started = start(plan, catalog.store)
        say_not_started(started)
        # The pre-training runs first.
        url_state.go("runs", run=next(iter([*map(run_name, firsts), *(start.run.name for start in started)])))
    if len(idle) < len(plan.lacking) or len(idle_firsts) < len(firsts):
        url_state.link("runs", "Active runs", ":material/arrow_forward:")


def _has_idle(run: AnyRun | None, seeds: tuple[int, ...]) -> bool:
    """Return whether any seed is idle; without a run, all are."""
    return run is None or any(not run.seed(seed).is_at_work() for seed in seeds)


def _need(number: int, need: Need, plan: Plan, store: Store) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"need-{number}"):
        st.markdown(need.arm.words, width="content")
        words, state = arm_state(need, plan, store)
        colors: dict[ArmState, BadgeColor] = {"complete": "green", "running": "blue", "waiting": "violet"}
        st.badge(frame.plain(words), color=colors.get(state, "gray"))
        if need.run is not None and need.has_rounds:
            st.caption(f"{need.run.reference}{' · example' if need.run.is_example else ''}", width="content")
        elif need.stand_in is not None:
            st.caption(frame.plain(f"shown instead: {need.stand_in.reference} ({need.differs})"), width="content")
