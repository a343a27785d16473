"""Launch's choice of where theta_0 comes from: random, or a finished pre-training of the data set and task."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.widgets import controls
from app.widgets.opened import Opened
from app.widgets.pretrainings import title
from glt.store import Pretraining

FIELD = "pretraining"
RANDOM = {"": "Random"}


def pick(found: Opened, setting: Mapping[str, str]) -> dict[str, str]:
    """Show the choice where there is one and return it as a filled setting; empty for a random start."""
    offered = _offered(found, setting)
    command = f"python -m glt pretrain --dataset {setting['dataset']} --task {setting['task']}"
    told = f"theta_0's first layer from a pre-training without labels (GraphCL). Make one with `{command}`."
    chosen = controls.optional(FIELD, "Start", RANDOM | _words(offered), help=told)
    if chosen is None:
        return {}
    st.caption("The first layer comes from the pre-training, the rest of theta_0 is random from the seed as always.")
    return {FIELD: chosen}


def _offered(found: Opened, setting: Mapping[str, str]) -> list[Pretraining]:
    wanted = setting["dataset"], setting["task"]
    alike = [run for run in found.pretrainings if (run.config.dataset, run.config.task) == wanted]
    return [run for run in alike if run.finished()]


def _words(offered: list[Pretraining]) -> dict[str, str]:
    titles = [title(run) for run in offered]
    return {
        run.name: words + (f" · {run.name.rsplit('-', 1)[-1]}" if titles.count(words) > 1 else "")
        for run, words in zip(offered, titles, strict=True)
    }
