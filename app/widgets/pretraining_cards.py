"""Pre-training runs on the Runs page: how far each is, and what can be done about it."""

from __future__ import annotations

import streamlit as st

from app.widgets import frame, look, run_actions, seed_rows
from app.widgets.opened import Opened
from app.widgets.progress import ACTIVE, RunProgress, SeedProgress, counts
from glt import formats
from glt.data import DATASETS
from glt.errors import StoreError
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.store import Pretraining, PretrainingSeed, Status

LOG_LINES = 20


def section(found: Opened) -> None:
    """Show a card for each pre-training; nothing when there is none."""
    if found.pretrainings:
        st.caption("Pre-training: first layers that runs can start from")
    for run in found.pretrainings:
        _card(found, run)


def title(run: Pretraining) -> str:
    """Return what a pre-training is about: GraphCL, data set, augmentation, width."""
    config = run.config
    links = ", for links" if config.task == "link" else ""
    label = AUGMENTATIONS.get(config.augmentation).label.lower()
    return f"GraphCL · {DATASETS.get(config.dataset).label}{links} · {label} · {config.hidden} wide"


def progress(run: Pretraining) -> RunProgress:
    """Read where a pre-training stands."""
    return RunProgress(run, tuple(_seed(run.seed(seed)) for seed in run.seeds()))


def _card(found: Opened, run: Pretraining) -> None:
    now = progress(run)
    with st.container(border=True, key=f"card-{run.name}", gap=None):
        st.markdown(f"**{frame.plain(title(run))}**")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            look.state_chip(now.state)
            st.caption(counts([seed.state for seed in now.seeds]), width="content")
        for seed in now.seeds:
            st.caption(f"seed {seed.seed}: {seed.doing}")
            if seed.error and seed.state in ("failed", "lost"):
                frame.failure(f"Seed {seed.seed}: {seed.error}")
        if now.is_active:
            st.progress(now.fraction)
        with st.expander("Details", icon=":material/tune:", key=f"details-{run.name}"):
            st.caption(run.name)
            settings = {name: str(value) for name, value in run.config.model_dump(exclude_none=True).items()}
            st.table(settings, border="horizontal")
            seed_rows.log(run, LOG_LINES)
        with st.container(horizontal=True):
            run_actions.buttons(found, now)


def _seed(seed: PretrainingSeed) -> SeedProgress:
    status = seed.status()
    now = status.progress if status.state == "running" else None
    return SeedProgress(
        seed=seed.seed,
        state=status.state,
        fraction=1.0 if status.state == "done" else now.fraction if now else 0.0,
        last_round=None,
        accuracy=None,
        seconds_left=None,
        doing=_doing(seed, status),
        error=status.error,
    )


def _doing(seed: PretrainingSeed, status: Status) -> str:
    if status.state == "done":
        return _result(seed)
    if status.state not in ACTIVE:
        return "starts again when resumed"
    if status.state == "queued":
        return "waits for a free core"
    if status.progress is None:
        return "starts: loads torch and the data"
    epoch, most = status.progress.epoch, status.progress.epochs
    return f"epoch {formats.count(epoch)} of at most {formats.count(most)}"


def _result(seed: PretrainingSeed) -> str:
    try:
        layer = seed.first_layer()
    except StoreError as error:
        return frame.plain(str(error))
    return f"lowest loss {layer.loss:.3f} in epoch {formats.count(layer.best_epoch)}"
