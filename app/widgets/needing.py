"""What an experiment of the paper needs: what is there, what waits for what, and the button that starts the rest."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.widgets import frame, links, run_actions
from app.widgets.judging import Judged
from app.widgets.look import BadgeColor
from app.widgets.opened import Opened
from app.widgets.progress import state_of
from glt import formats
from glt.jobs.waiting import awaited
from glt.pretraining.config import PretrainConfig
from glt.reproduction import Need, Plan
from glt.reproduction.starting import command, cost_words, preparations, start
from glt.store import AnyRun, Store, run_name

PRETRAINING = "the pre-training"


def show(found: Opened, judged: Judged) -> None:
    """Show every arm's state, and how to get what is missing."""
    plan, store = judged.plan, found.store
    words = _words(plan)
    with st.container(border=True, key="needs", gap="small"):
        st.markdown("**What it needs**")
        for number, need in enumerate(plan.needs):
            _need(number, need, store, words)
        if not plan.lacking:
            if not plan.unavailable:
                st.caption(f"Everything is there for seeds {', '.join(map(str, plan.seeds))}.")
            return
        st.caption(frame.plain(f"Missing: {cost_words(plan, judged.cost)}. Time: {judged.cost.basis}."))
        firsts = preparations(plan, store)
        for first in firsts:
            st.caption(_preparation(found, first))
        for sentence in order_words(plan, firsts):
            st.caption(f":material/account_tree: {frame.plain(sentence)}")
        _button(found, plan, firsts)
        st.code(command(plan), language="bash")


def _words(plan: Plan) -> Mapping[str, str]:
    """Return what each arm is called, by the name of its run."""
    return {run_name(need.config): need.arm.words for need in plan.needs if need.config is not None}


def order_words(plan: Plan, firsts: list[PretrainConfig]) -> list[str]:
    """Say which missing arms begin by themselves when something else is finished."""
    words = _words(plan)
    behind: dict[str, list[str]] = {}
    for need in plan.lacking:
        if need.arm.first in firsts and need.arm.first is not None:
            behind.setdefault(PRETRAINING, []).append(need.arm.words)
        elif any(other.config is not None and run_name(other.config) == need.arm.reads for other in plan.lacking):
            behind.setdefault(words[need.arm.reads], []).append(need.arm.words)
    return [_waiting(first, waiting) for first, waiting in behind.items()]


def _waiting(first: str, waiting: list[str]) -> str:
    if len(waiting) == 1:
        return f"{waiting[0]}: waits for {first}, and begins by itself when that is finished."
    return f"{'; '.join(waiting)}: wait for {first}, and begin by themselves when that is finished."


def _preparation(found: Opened, first: PretrainConfig) -> str:
    name = run_name(first)
    known = next((run for run in found.pretrainings if run.name == name), None)
    stands = f"is {state_of(known)}" if known is not None else "is not started yet"
    return f"A pre-training comes first ({name}, which {stands}); how long it takes is not known before."


def _button(found: Opened, plan: Plan, firsts: list[PretrainConfig]) -> None:
    known = {run.name: run for run in found.pretrainings}
    idle_firsts = [first for first in firsts if _has_idle(known.get(run_name(first)), plan.seeds)]
    idle = [need for need in plan.lacking if _has_idle(need.own, need.lacking)]
    parts = [formats.number_of(len(idle), "run")] if idle else []
    parts += [formats.number_of(len(idle_firsts), "pre-training")] if idle_firsts else []
    words = f"Start {' and '.join(parts)}" if parts else "All started"
    if st.button(words, key="reproduce", type="primary", icon=":material/play_arrow:", disabled=not parts):
        started = start(plan, found.store)
        run_actions.say_not_started(started)
        # The pre-training is what is at work first.
        links.go("runs", run=next(iter([*map(run_name, firsts), *(each.run.name for each in started)])))
    if len(idle) < len(plan.lacking) or len(idle_firsts) < len(firsts):
        links.link("runs", "At work: see Runs", ":material/arrow_forward:")


def _has_idle(run: AnyRun | None, seeds: tuple[int, ...]) -> bool:
    """Say whether a seed is not at work; nothing is of a run that is not there."""
    return run is None or any(not run.seed(seed).is_at_work() for seed in seeds)


def _need(number: int, need: Need, store: Store, words: Mapping[str, str]) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"need-{number}"):
        st.markdown(need.arm.words, width="content")
        state, color = state_words(need, store, words)
        st.badge(state, color=color)
        if need.run is not None and need.has_rounds:
            st.caption(f"{need.run.reference}{' · example' if need.run.is_example else ''}", width="content")
        elif need.stand_in is not None:
            st.caption(frame.plain(f"shown instead: {need.stand_in.reference} ({need.differs})"), width="content")


def state_words(need: Need, store: Store, words: Mapping[str, str]) -> tuple[str, BadgeColor]:
    """Return what is said of an arm: complete, at work, waiting for another one, or what is missing."""
    run = need.own
    active = [seed for seed in need.lacking if run is not None and run.seed(seed).is_at_work()]
    if run is None or not active:
        return frame.plain(need.state), "green" if need.state == "complete" else "gray"
    sources = [awaited(store, run.config, seed) for seed in active]
    if None in sources:
        return "at work", "blue"
    names = dict.fromkeys(words.get(source or "", PRETRAINING) for source in sources)
    return f"waits for {' and '.join(names)}", "violet"
