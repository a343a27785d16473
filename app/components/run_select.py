"""Controls for runs, seeds, rounds, axis and score."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar, cast

import streamlit as st

from analysis import palette, published
from analysis.figures.base import Chance
from analysis.figures.curves import MAC_NAMES
from analysis.labels import (
    changed_settings,
    dataset_label,
    model_label,
    objective_label,
    pretraining_title,
    setting_details,
    settings_of,
    task_label,
    with_titles,
)
from analysis.tables.curves import Score, XAxis
from app.components import controls, frame, url_state
from app.data.runs import ORDER, follows_another, open_catalog, setting, state_of
from glt.config import pretraining_of
from glt.errors import StoreError
from glt.jobs.sweep import value_words
from glt.store import Annotation, AnyRun, MacConvention, Pretraining, Run, annotations_of
from glt.verdicts import DELTA

# Session key of a control: chosen runs that no longer exist.
_GONE = "gone from: "
# Pixels.
WIDEST_RUN = 360
# Settings in a title.
MOST_DETAILS = 3
# Default runs of a figure.
MOST_TOGETHER = 12
# The paper's measurements are of this round.
DEFAULT_ROUND = published.MEASUREMENT_ROUND


def run_words(runs: Sequence[Run]) -> dict[str, str]:
    """Return the label of each run by its reference.

    Select boxes cut the end of a label, so the settings that differ directly follow the method.
    """
    details = run_details(tuple(runs))
    titles = with_titles({run.reference: _titled(run, details[run.reference]) for run in runs}, runs)
    tags = {run.reference: "example" if run.is_bundled else "copy of an example" for run in runs if run.is_example}
    return {name: f"{title} · {tags[name]}" if name in tags else title for name, title in titles.items()}


@lru_cache(maxsize=32)
def run_details(runs: tuple[Run, ...]) -> dict[str, str]:
    """Return what distinguishes each run from others of its title: settings or a name."""
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        alike[subject(run)].append(run)
    return {name: words for group in alike.values() for name, words in _distinctions(group).items()}


def _distinctions(runs: Sequence[Run]) -> dict[str, str]:
    # A user's run and the example of its name have the same settings; the tag distinguishes them.
    by_name = {run.name: run for run in runs}
    if len(by_name) == 1:
        return dict.fromkeys((run.reference for run in runs), "")
    names = {run.reference: run.name for run in by_name.values()}
    details = {names[reference]: tuple(words) for reference, words in setting_details(list(by_name.values())).items()}
    counts = Counter(details.values())
    words = {
        name: ", ".join(parts) if 0 < len(parts) <= MOST_DETAILS and counts[parts] == 1 else name.rsplit("-", 1)[-1]
        for name in by_name
        for parts in [details.get(name, ())]
    }
    return {run.reference: words[run.name] for run in runs}


def subject(run: AnyRun) -> str:
    """Return a run's subject: method, data set, network; task and start if not default.

    For a pre-training: GraphCL, data set, augmentation, width.
    """
    if isinstance(run, Pretraining):
        return pretraining_title(run.config)
    return _titled(run, "") if isinstance(run, Run) else run.reference


def _titled(run: Run, details: str) -> str:
    config = run.config
    method = ", ".join(filter(None, (palette.label(config.method), details)))
    title = f"{method} · {dataset_label(config.dataset)} {model_label(config.model)}"
    more = [task_label(config.task)] if config.task != "node" else []
    more += ["pre-trained start"] if pretraining_of(config) is not None else []
    return ", ".join([title, *more])


def scores_of(run: Run) -> str:
    """Return the data set and task of a run: only equal ones have comparable scores."""
    config = run.config
    return f"{dataset_label(config.dataset)}, {task_label(config.task, objective_label(config))}"


def finished_runs(control: str, title: str, text: str, icon: str) -> list[Run]:
    """Return the runs with rounds for a control; if there are none, fill the page."""
    finished = with_rounds(open_catalog().runs)
    if not finished:
        gone_from(control, ())
        tell_gone(control)
        frame.empty(title, text, icon, "launch", "Launch a run")
    return finished


def with_rounds(runs: Sequence[Run]) -> list[Run]:
    """Return the `offered` runs with at least one finished round."""
    return offered([run for run in runs if any(run.seed(seed).whole_rounds() for seed in run.seeds())])


def offered(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that are not hidden or that the address names; if none, all."""
    named = {value for name in st.query_params for value in st.query_params.get_all(name)}
    annotations = annotations_of(runs)
    shown = [run for run in runs if not annotations[run.reference].hidden or run.reference in named]
    return shown or list(runs)


def together(runs: Sequence[Run]) -> list[Run]:
    """Return the default runs of a figure: own runs on one data set, task and network.

    Without own runs, examples. Hidden runs and runs that read others are left out unless they are alone. Of many runs,
    each method shows the one nearest to the default settings.
    """
    annotations = annotations_of(runs)
    visible = [run for run in runs if not annotations[run.reference].hidden] or list(runs)
    own = [run for run in visible if not run.is_example] or visible
    alike = [run for run in own if setting(run.config) == setting(own[0].config)]
    shown = [run for run in alike if not follows_another(run)] or alike
    if len(shown) <= MOST_TOGETHER:
        return shown
    nearest: dict[str, Run] = {}
    for run in sorted(shown, key=lambda run: changed_settings(run.config)):
        nearest.setdefault(run.config.method, run)
    return [run for run in shown if nearest[run.config.method] is run]


def pick_runs(runs: Sequence[Run], default: Sequence[Run]) -> list[Run]:
    """Choose the runs of a figure in a popover; `tell_gone` reports missing ones."""
    words = run_words(runs)
    gone = gone_from("runs", words)
    chosen = [run.reference for run in default if not gone]
    count = controls.settle_several("runs", "Runs", words, chosen)
    only_examples = all(run.is_example for run in runs if run.reference in st.session_state["runs"])
    noun = "Examples" if count and only_examples else "Runs"
    with st.popover(f"{noun} · {count} of {len(runs)}", icon=":material/stacked_line_chart:", key="pick-runs"):
        names = controls.several("runs", "Runs in the figure", words, chosen, width=420, on_change=let_go("runs"))
    if gone:
        url_state.keep("runs", [*names, *gone])
    return [run for run in runs if run.reference in names]


def chosen_runs(runs: Sequence[Run], icon: str) -> list[Run]:
    """Return the readable chosen runs; report those that no longer exist."""
    tell_gone("runs")
    if not runs:
        frame.empty("No runs chosen", "Choose at least one run above.", icon)
        return []
    return readable(runs)


def pick_run(runs: Sequence[Run], default: Run | None = None) -> Run:
    """Choose one run; raises StoreError if the chosen one no longer exists."""
    name = select_run("run", "Run", run_words(runs), default.reference if default else None)
    return next(run for run in runs if run.reference == name)


def select_run(name: str, label: str, words: Mapping[str, str], default: str | None = None) -> str:
    """Choose one of the runs in `words` by its reference.

    Raises StoreError, once the list is shown, if the chosen run no longer exists: a page never changes the run by
    itself.
    """
    gone = gone_from(name, words)
    if not gone:
        return controls.select(name, label, words, default, width=WIDEST_RUN)
    url_state.start(name)
    st.session_state[name] = None
    st.selectbox(
        label,
        list(words),
        format_func=words.__getitem__,
        key=name,
        index=None,
        placeholder="Choose a run",
        width=WIDEST_RUN,
        on_change=let_go(name),
    )
    url_state.keep(name, gone[:1])
    raise StoreError(f"{open_catalog().absence(gone[0])} Choose another run above.")


def gone_from(name: str, options: Container[str]) -> list[str]:
    """Return the chosen runs of a control that no longer exist, until another choice."""
    known: list[str] = st.session_state.get(f"{_GONE}{name}", [])
    held = list(dict.fromkeys([*known, *url_state.held(name)]))
    gone = (
        [] if url_state.is_given(name) else [run for run in held if run not in options and open_catalog().absence(run)]
    )
    restored = [run for run in known if run in options]
    if restored and name in st.session_state:
        chosen = st.session_state[name]
        st.session_state[name] = list(dict.fromkeys([*chosen, *restored])) if isinstance(chosen, list) else restored[0]
    st.session_state[f"{_GONE}{name}"] = gone
    return gone


def tell_gone(name: str) -> None:
    """Report chosen runs of a control that no longer exist, and offer to drop them."""
    gone: list[str] = st.session_state.get(f"{_GONE}{name}", [])
    if gone:
        frame.failure(*[open_catalog().absence(run) for run in gone])
        st.button("Remove from the choice", key=f"go-on-without-{name}", on_click=let_go(name))


def let_go(name: str) -> Callable[[], None]:
    """Return a callback that forgets the missing runs of a control."""

    def forget() -> None:
        st.session_state[f"{_GONE}{name}"] = []
        url_state.forget(name)

    return forget


def pick_seed(run: Run) -> int:
    """Choose one seed of a run that has finished rounds."""
    seeds = {str(seed): str(seed) for seed in run.seeds() if run.seed(seed).whole_rounds()}
    return int(controls.select("seed", "Seed", seeds, width=90))


def pick_round(finished: int) -> int:
    """Choose one of the finished rounds; 0 if it is the only one."""
    last = finished - 1
    return controls.step("round", "Round", last, min(DEFAULT_ROUND, last), width=330) if last > 0 else 0


def readable(runs: Sequence[Run]) -> list[Run]:
    """Return the readable runs with a warning on each other one; all if none is."""
    sound, damage = [], []
    for run in runs:
        try:
            for seed in run.seeds():
                run.seed(seed).last_round()
        except StoreError as error:
            damage.append(str(error))
        else:
            sound.append(run)
    for sentence in damage if sound else ():
        st.warning(frame.plain(f"Left out: {sentence}"), icon=":material/warning:")
    return sound or list(runs)


AnyKind = TypeVar("AnyKind", bound=AnyRun)

# Shorter lists need no filter.
SHOWN_FROM = 12


def pick_filter(count: int) -> list[str]:
    """Show a filter for a long list of `count` runs; return its words."""
    if count < SHOWN_FROM:
        return []
    about = "Words from titles, names or settings, such as `citeseer random` or `p_graph=0.1 hidden=64`."
    return controls.text("filter", "Filter", placeholder="p_graph=0.1 ugs", help=about).lower().split()


def matching(runs: Sequence[AnyKind], words: Sequence[str]) -> list[AnyKind]:
    """Return the runs that match every word: setting=value, a state, or part of a text."""
    annotations = annotations_of(runs) if words else {}
    return [run for run in runs if all(_matches(run, annotations[run.reference], word) for word in words)]


def _matches(run: AnyRun, annotation: Annotation, word: str) -> bool:
    text, settings = _searchable(run)
    name, equals, value = word.partition("=")
    if equals:
        # Numbers may be written in another form: p_graph=.10.
        with suppress(ValueError):
            value = value_words(float(value))
        return f"{name}={value}" in settings
    text = f"{text} {annotation.title} {annotation.note}".lower()
    return word in text or (word in ORDER and word == state_of(run))


@lru_cache(maxsize=20_000)
def _searchable(run: AnyRun) -> tuple[str, frozenset[str]]:
    title = subject(run) if isinstance(run, Run) else ""
    values = settings_of(run.config) if isinstance(run, Run) else json.loads(run.config.canonical_json())
    settings = {f"{name}={value_words(value)}" for name, value in values.items() if value is not None}
    return f"{title} {run.reference} {' '.join(settings)}".lower(), frozenset(map(str.lower, settings))


AXES: dict[str, str] = {
    "graph": "Graph sparsity",
    "weight": "Weight sparsity",
    "edges": "Undirected edges",
    "macs": "MACs",
}
SCORES: dict[str, str] = {"test": "best validation", "test_last": "last epoch"}
CHANCES: dict[str, str] = {"reach": "Within reach", "any": "Any edge"}
ABOUT_CHANCE = (
    "Within reach: in every round as many edges are removed at random among those whose masks had a gradient, and "
    "separately among those whose masks had none. Any edge: as many as the round keeps are drawn from all edges."
)
ABOUT_MARGIN = (
    "Set it before you look at scores. A round is a ticket if it loses significantly less than this against the dense "
    "network of the same seeds (one-sided paired t test at 5 %, Holm over all rounds shown). It is no ticket if it "
    "loses significantly more, and open otherwise. Fewer runs mean fewer tests, which can settle an open round."
)


def pick_axis() -> XAxis:
    """Choose the horizontal axis."""
    return cast(XAxis, controls.segments("x", "Horizontal axis", AXES))


def pick_macs() -> MacConvention:
    """Choose how MACs are counted."""
    words = {str(name): text for name, text in MAC_NAMES.items()}
    return cast(MacConvention, controls.select("macs", "MACs count", words, width=150))


def pick_score() -> Score:
    """Choose at which epoch the test score is read."""
    return cast(Score, controls.select("score", "Test score at", SCORES, width=145))


def pick_chance() -> Chance:
    """Choose what losses are compared with."""
    return cast(Chance, controls.segments("chance", "Chance", CHANCES, help=ABOUT_CHANCE))


def pick_margin() -> float:
    """Choose the margin of a ticket; returns a fraction."""
    points = controls.number(
        "margin", "Margin (points)", 100 * DELTA, 0.0, 5.0, 0.1, format="%.1f", width=175, help=ABOUT_MARGIN
    )
    return points / 100
