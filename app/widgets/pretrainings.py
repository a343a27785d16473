"""A pre-training on the Runs page: how far each seed is, what can be done about it, and its loss."""

from __future__ import annotations

import streamlit as st

from analysis.curves import pretraining_figure
from app.widgets import annotating, chart, frame, links, look, pickers, run_actions, seed_rows, waiting_line
from app.widgets.opened import Opened, opened
from app.widgets.progress import WAITS, RunProgress, SeedProgress, starting
from glt import formats
from glt.errors import StoreError
from glt.store import Pretraining, PretrainingSeed, Status
from glt.store.liveness import ACTIVE

LOG_LINES = 60


def progress(run: Pretraining) -> RunProgress:
    """Read where a pre-training stands."""
    return RunProgress(run, tuple(_seed(run.seed(seed)) for seed in run.seeds()))


def panel(run: Pretraining) -> None:
    """Show one pre-training: its seeds, what can be done about it, the loss of every epoch, settings and log."""
    found = opened()
    if found.absence(run.reference):
        st.rerun()
    now = progress(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run-head"):
        st.subheader(frame.plain(pickers.run_title(run)), anchor=False, width="content")
        st.caption(run.reference, width="content")
        st.space("stretch")
        annotating.editor(found, run, pickers.subject(run))
        run_actions.buttons(found, now)
    annotating.note(run)
    for seed in now.seeds:
        _row(found, run, seed)
    _loss(run)
    settings, log = st.columns(2, gap="medium")
    with settings, st.expander("Settings", icon=":material/tune:", key="settings"):
        st.table(frame.plain_table(run.config.model_dump(exclude_none=True)), border="horizontal")
    with log, st.expander("Log", icon=":material/notes:", key="log"):
        seed_rows.log(run, LOG_LINES)
    with st.container(horizontal=True):
        links.link("launch", "Start a run from it", ":material/rocket_launch:", pretraining=run.reference)


def _row(found: Opened, run: Pretraining, seed: SeedProgress) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"seed-row-{seed.seed}"):
        st.markdown(f"seed {seed.seed}", width=64)
        with st.container(width=104):
            look.state_chip(seed.state)
        st.caption(frame.plain(waiting_line.doing(found, run, seed)), width="stretch")
    if seed.state != "done":
        st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def _loss(run: Pretraining) -> None:
    try:
        epochs = {seed: run.seed(seed).epochs()[0] for seed in run.seeds()}
    except StoreError as error:
        frame.failure(str(error))
        return
    if not any(epochs.values()):
        st.caption("No epochs yet.")
        return
    st.subheader("Training", anchor=False)
    figure = pretraining_figure(epochs, look.is_dark())
    title = "Contrastive loss of every epoch of each seed"
    chart.show(figure, "loss", title)
    st.caption("Contrastive loss after every epoch; the first layer of a seed is that of its lowest loss, marked.")
    chart.numbers(figure, "loss", title)


def _seed(seed: PretrainingSeed) -> SeedProgress:
    status = seed.status()
    now = status.progress if status.state == "running" else None
    return SeedProgress(
        seed=seed.seed,
        state=status.state,
        fraction=1.0 if status.state == "done" else now.fraction if now else 0.0,
        last_round=None,
        accuracy=None,
        doing=_doing(seed, status),
        error=status.error,
    )


def _doing(seed: PretrainingSeed, status: Status) -> str:
    if status.state == "done":
        return _result(seed)
    if status.state not in ACTIVE:
        return "starts again when resumed"
    if status.state == "queued":
        return WAITS
    if status.progress is None:
        return starting(status)
    epoch, most = status.progress.epoch, status.progress.epochs
    return f"epoch {formats.count(epoch)} of at most {formats.count(most)}"


def _result(seed: PretrainingSeed) -> str:
    try:
        layer = seed.first_layer()
    except StoreError as error:
        return frame.plain(str(error))
    return f"lowest loss {formats.fixed(layer.loss, 3)} in epoch {formats.count(layer.best_epoch)}"
