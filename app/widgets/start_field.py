"""Launch's choice of where theta_0 comes from: random, or a finished pre-training of the data set and task."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.widgets import controls, frame, links, pickers, run_actions
from app.widgets.opened import Opened
from app.widgets.progress import any_active
from glt.data import DATASETS
from glt.errors import StudioError
from glt.jobs.launching import launch_pretraining
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import resolve_pretraining
from glt.pretraining.start import takes_first_layer
from glt.printable import brief
from glt.seeds import read_seeds
from glt.store import Pretraining

FIELD = "pretraining"
RANDOM = {"": "Random"}


def pick(found: Opened, setting: Mapping[str, str], seeds: str, hidden: str) -> dict[str, str]:
    """Show the choice, with the way to make another start, and return it as a filled setting; empty for a random one.

    A new pre-training is for these seeds and this width, as they were typed. A network that cannot take one has no
    choice.
    """
    if not takes_first_layer(setting["model"]):
        return {}
    told = "theta_0's first layer from a pre-training without labels (GraphCL)."
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="start-row"):
        words = RANDOM | _words(_offered(found, setting))
        gone = pickers.gone_from(FIELD, words)
        chosen = controls.optional(FIELD, "Start", words, help=told, on_change=pickers.let_go(FIELD))
        _maker(found, setting, seeds, hidden)
    if gone:
        # What was asked for stays asked for, so that no run starts otherwise than it was meant to.
        pickers.tell_gone(FIELD)
        return {FIELD: gone[0]}
    if chosen is None:
        return {}
    st.caption("The first layer comes from the pre-training, the rest of theta_0 is random from the seed as always.")
    return {FIELD: chosen}


def _maker(found: Opened, setting: Mapping[str, str], seeds: str, hidden: str) -> None:
    with st.popover("Pre-train", icon=":material/model_training:", key="pre-train"):
        st.caption(
            f"GraphCL trains a first layer, {frame.plain(brief(hidden))} wide, on "
            f"{DATASETS.get(setting['dataset']).label} without labels until its loss stops falling, for seeds "
            f"{frame.plain(brief(seeds))}. Then it can be chosen here."
        )
        labels = {each.name: each.label for each in AUGMENTATIONS}
        augmentation = controls.select("augmentation", "The two views differ by", labels, "edges", width=240)
        if st.button("Start pre-training", key="start-pre-training", type="primary"):
            _start(found, {**_subject(setting), "hidden": hidden, "augmentation": augmentation}, seeds)


def _start(found: Opened, values: Mapping[str, str], seeds: str) -> None:
    try:
        started = launch_pretraining(found.store, resolve_pretraining(values), read_seeds(seeds), leave_busy=True)
    except StudioError as error:
        frame.failure(str(error))
    else:
        run_actions.say_not_started([started])
        links.go("runs", run=started.run.name)


def _subject(setting: Mapping[str, str]) -> dict[str, str]:
    return {name: setting[name] for name in ("dataset", "task")}


def _offered(found: Opened, setting: Mapping[str, str]) -> list[Pretraining]:
    wanted = _subject(setting)
    alike = [run for run in found.pretrainings if run.config.model_dump(include=set(wanted)) == wanted]
    # A run may be started while its pre-training is at work, and waits for it.
    return [run for run in alike if run.finished() or any_active([run])]


def _words(offered: list[Pretraining]) -> dict[str, str]:
    titles = [pickers.subject(run) for run in offered]
    return {
        run.name: words
        + (f" · {run.name.rsplit('-', 1)[-1]}" if titles.count(words) > 1 else "")
        + ("" if run.finished() else " · at work")
        for run, words in zip(offered, titles, strict=True)
    }
