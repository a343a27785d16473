"""One run or pre-training: state, training curve, log and actions. Begin at `show`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import alt_text, palette
from analysis.drawing import screen
from analysis.figures.training import is_thinned, pretraining_curves, training_curves
from analysis.labels import dataset_label, metric_label
from analysis.tables.rounds import epochs_table
from app.components import controls, frame, run_select, url_state
from app.components.downloads import numbers_popover, show_figure
from app.data import cache
from app.data.runs import (
    WAITS,
    Catalog,
    RunProgress,
    SeedProgress,
    forget_store_size,
    open_catalog,
    run_progress,
    store_size,
)
from glt import formats, jobs
from glt.doctor import Examined, examine, repair
from glt.errors import StoreError, StudioError
from glt.formats import as_typed
from glt.jobs.launcher import Started, not_started
from glt.jobs.queue import awaited
from glt.lottery.diagnosis import diagnosis_of
from glt.methods import METHODS
from glt.presets import all_options
from glt.store import COLORS, AnyRun, Pretraining, Run, SeedRun, folder_size
from glt.store.locks import ACTIVE
from glt.store.store import check_unread, readers_left

SECONDS_BETWEEN_LOOKS = 2
# Bytes read from the end of a log; more than LOG_LINES take.
MOST_BYTES, LOG_LINES = 100_000, 60
# Only the first places of the queue say whose core they get: finding out reads every run of the store.
MOST_NAMED = 2
HEIGHT = 300
ABOUT_CHECK = "Opens every file of the run and verifies its checksum."


def show(run: AnyRun, live: bool) -> None:
    """Show a run or pre-training; a `live` one is updated every two seconds."""
    pace = SECONDS_BETWEEN_LOOKS if live else None
    if isinstance(run, Pretraining):
        st.fragment(frame.or_why()(_pretraining), run_every=pace)(run)
    elif isinstance(run, Run):
        st.fragment(frame.or_why()(_state), run_every=pace)(run)
        _training(run, live)
        values = {**run.config.model_dump(exclude={"options"}), **all_options(run.config)}
        with _settings_beside_log({name: "not set" if value is None else value for name, value in values.items()}):
            st.fragment(frame.or_why()(seed_logs), run_every=pace)(run, LOG_LINES)
        with st.container(horizontal=True):
            url_state.link("curves", "Curves", ":material/show_chart:", runs=run.reference)
            url_state.link("subgraphs", "Subgraphs", ":material/hub:", run=run.reference)
            url_state.link("tickets", "Tickets", ":material/confirmation_number:", runs=run.reference)
            on = run_select.scores_of(run)
            url_state.link("compare", "Compare", ":material/compare_arrows:", on=on, one=run.reference)
        frame.results_note([run])


def _pretraining(run: Pretraining) -> None:
    _state(run)
    _loss(run)
    with _settings_beside_log(run.config.model_dump(exclude_none=True)):
        seed_logs(run, LOG_LINES)
    with st.container(horizontal=True):
        url_state.link("launch", "Start a run from it", ":material/rocket_launch:", pretraining=run.reference)


def _state(run: AnyRun) -> None:
    """Show the current title, actions, note and seeds."""
    catalog = open_catalog()
    if catalog.absence(run.reference):
        st.rerun()
    about = run_select.subject(run)
    if isinstance(run, Run):
        run = catalog.find(run.reference)
        about = f"{palette.label(run.config.method)} on {dataset_label(run.config.dataset)}"
    progress = run_progress(run)
    with frame.row("run-head", "center"):
        st.subheader(frame.plain(run.annotation.title or about), anchor=False, width="content")
        st.caption(run.reference, width="content")
        st.space("stretch")
        annotate(catalog, run, about)
        run_buttons(catalog, progress)
    if run.annotation.note:
        with st.container(key="note"):
            st.markdown(frame.plain_lines(run.annotation.note))
    if progress.damage:
        frame.failure(progress.damage)
        if not run.is_example:
            offer_repair(catalog, run.path)
    for seed in progress.seeds:
        _seed_row(catalog, run, seed)


def _seed_row(catalog: Catalog, run: AnyRun, seed: SeedProgress) -> None:
    line = "seed-done" if seed.state == "done" else "seed-open"
    with st.container(key=f"seed-row-{seed.seed}", gap=None):
        with frame.row(f"{line}-{seed.seed}", "center"):
            st.markdown(f"seed {seed.seed}", width=64)
            with st.container(width=104):
                frame.state_chip(seed.state)
            if isinstance(run, Run):
                st.markdown(formats.percent(seed.test) if seed.test is not None else formats.MISSING, width=64)
            stage = _queue_words(catalog, run, seed.seed) if seed.state == "queued" else seed.doing
            st.caption(frame.plain(stage), width="stretch")
            if isinstance(run, Run) and not run.is_example:
                with st.container(width=112):
                    _seed_action(catalog, run, seed)
        if seed.state != "done":
            st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def _seed_action(catalog: Catalog, run: Run, seed: SeedProgress) -> None:
    key = f"{run.reference}-{seed.seed}"
    if seed.state in ACTIVE:
        if st.button("Stop", key=f"stop-{key}", type="tertiary", icon=":material/stop:"):
            stop(run, [seed.seed])
    elif seed.state != "done":
        words = "Try again" if seed.state == "failed" else "Resume"
        if st.button(words, key=f"resume-{key}", type="tertiary", icon=":material/refresh:"):
            resume(catalog, run, [seed.seed])


def _queue_words(catalog: Catalog, run: AnyRun, seed: int) -> str:
    """Return what a queued seed waits for: another run, or a core."""
    source = awaited(catalog.store, run.config, seed) if isinstance(run, Run) else None
    if source is not None:
        return f"waits for {source}"
    place = jobs.place_in_line(catalog.store.queue_path, run.seed(seed).status().queued_at)
    if place is None:
        return WAITS
    words = f"{WAITS}, place {place} in the queue"
    if place > MOST_NAMED or place > len(at_work := sorted(_at_work(catalog))):
        return words
    seconds, whose = at_work[place - 1]
    return f"{words}; {whose} " + ("is running" if math.isinf(seconds) else f"ends in {formats.duration(seconds)}")


def _at_work(catalog: Catalog) -> Iterator[tuple[float, str]]:
    """Yield the seconds left (infinite if unknown) and the name of every running seed."""
    for run in (*catalog.own, *catalog.pretrainings):
        for seed in run.seeds():
            status = run.seed(seed).status()
            if status.state == "running":
                left = status.progress.seconds_left if status.progress else None
                yield (
                    math.inf if left is None else left,
                    f"{run.annotation.title or run_select.subject(run)}, seed {seed},",
                )


def _settings_beside_log(settings: Mapping[str, object]) -> AbstractContextManager[object]:
    """Show settings in an expander; return the expander for a log beside it."""
    left, right = st.columns(2, gap="medium")
    with left, st.expander("Settings", icon=":material/tune:", key="settings"):
        rows = {frame.plain(name): frame.plain(str(value)) for name, value in settings.items()}
        st.table(rows, border="horizontal")
    return right.expander("Log", icon=":material/notes:", key="log")


def seed_logs(run: AnyRun, lines: int) -> None:
    """Show the last lines of every seed's log that has any."""
    texts = {seed: text for seed in run.seeds() if (text := tail(run.seed(seed).log_path, lines))}
    for seed, text in texts.items():
        st.caption(f"seed {seed}")
        st.code(text, language=None, height=180)
    if not texts:
        st.caption("Empty: the log only records problems.")


def tail(path: Path, lines: int) -> str:
    """Return the last lines of a text file, "" if it is no plain file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - MOST_BYTES, 0))
        content = file.read(MOST_BYTES).decode(errors="replace")
    kept = content.splitlines(keepends=True)
    # The first may be only the end of a line.
    whole = kept if size <= MOST_BYTES else kept[1:]
    return "".join((whole or kept)[-lines:])


class _Drawn(NamedTuple):
    figure: go.Figure
    sentence: str
    numbers: pd.DataFrame
    epochs: int
    is_thinned: bool


def _training(run: Run, live: bool) -> None:
    seeds = run.seeds()
    if not seeds:
        return
    with frame.row("training-controls", "center"):
        st.subheader("Training", anchor=False, width="content")
        st.space("stretch")
        seed = int(controls.select("seed", "Seed", {str(seed): str(seed) for seed in seeds}, width=100))
        try:
            rounds = cache.rounds_with_epochs(cache.events_stamp(run.seed(seed)), run.seed(seed))
        except StoreError as error:
            frame.failure(str(error))
            return
        words = {"last": "last", **{str(number): str(number) for number in reversed(rounds)}}
        chosen = controls.select("training_round", "Round", words, "last", width=100)
        about = "Switch off to zoom: the figure then stays as it is."
        follow = live and controls.switch("live", "Live", True, help=about)
    draw = st.fragment(frame.or_why()(_draw), run_every=SECONDS_BETWEEN_LOOKS if follow else None)
    draw(run, seed, chosen)


def _draw(run: Run, seed: int, chosen: str) -> None:
    stamp = cache.events_stamp(run.seed(seed))
    rounds = cache.rounds_with_epochs(stamp, run.seed(seed))
    if not rounds:
        st.caption("No epochs yet.")
        return
    number = rounds[-1] if chosen == "last" else int(chosen)
    metric = metric_label(run.config.dataset, run.config.task)
    title = f"Loss and {metric} by epoch in round {number}"
    drawn = _drawn(stamp, number, metric, title, frame.is_dark(), run.seed(seed))
    show_figure(drawn.figure, "training", title, drawn.sentence)
    which = "every tenth epoch (examples keep only these)" if run.is_example else "every epoch"
    if drawn.is_thinned:
        which = f"{formats.count(drawn.epochs)} epochs, drawn as the minimum and maximum of short intervals"
    st.caption(f"Seed {seed}, round {number}: loss and {metric}, {which}.")
    for sentence in _notes(run, seed, number):
        st.caption(frame.plain(f"{formats.opening(sentence)}."))
    numbers_popover(drawn.figure, "training", title, drawn.numbers)


def _notes(run: Run, seed: int, number: int) -> list[str]:
    seed_run = run.seed(seed)
    try:
        records = seed_run.rounds()
    except StoreError:
        # The row of the seed shows this error.
        return []
    if number >= len(records):
        return []
    note = METHODS.get(run.config.method).note_words(records[number].notes)
    return [*([note] if note else []), *diagnosis_of(seed_run, records[number]).words()]


@st.cache_resource(max_entries=16, show_spinner=False)
def _drawn(
    stamp: tuple[str | int, ...], number: int, metric: str, title: str, is_dark: bool, _seed_run: SeedRun
) -> _Drawn:
    """Return the training curve of a round, shared by all tabs."""
    epochs = _seed_run.event_file.epochs(number)
    table = epochs_table(epochs)
    figure = screen.draw(training_curves(table, metric, HEIGHT), is_dark)
    sentence, numbers = alt_text.sentence(figure, title), alt_text.table(figure)
    return _Drawn(figure, sentence, numbers, len(epochs), is_thinned(table))


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
    figure = screen.draw(pretraining_curves(epochs), frame.is_dark())
    title = "Contrastive loss by epoch and seed"
    show_figure(figure, "loss", title)
    st.caption("Contrastive loss by epoch. Marked: the lowest loss, whose first layer is kept.")
    numbers_popover(figure, "loss", title)


# Actions: stop, resume, delete, restore

# Runs of a sweep that are named.
MOST_NOT_STARTED = 3


def run_buttons(catalog: Catalog, progress: RunProgress) -> None:
    """Show the actions of a whole run; examples have none."""
    run = progress.run
    if run.is_example:
        st.badge("example, read-only", color="gray", icon=":material/lock:")
        return
    if progress.is_active and st.button("Stop all", key=f"stop-{run.reference}", icon=":material/stop:"):
        stop(run, None)
    if progress.unfinished and st.button("Resume all", key=f"resume-{run.reference}", icon=":material/refresh:"):
        resume(catalog, run, progress.unfinished)
    elif not progress.is_active and st.button(
        "Check", key=f"mend-{run.reference}", icon=":material/fact_check:", help=ABOUT_CHECK
    ):
        _check(catalog, run.path)
    if not progress.is_active and st.button("Delete", key=f"delete-{run.reference}", icon=":material/delete:"):
        _confirm_delete(catalog, run.path)


def damaged_folders(catalog: Catalog) -> None:
    """Show why folders cannot be opened, and offer to repair or delete them."""
    for folder, reason in catalog.damaged:
        with st.container(border=True, key=f"damaged-{folder.name}", gap="small"):
            st.warning(frame.plain(f"{folder.name}: {reason}"), icon=":material/warning:")
            offer_repair(catalog, folder)
            if st.button("Delete", key=f"delete-{folder.name}", icon=":material/delete:"):
                _confirm_delete(catalog, folder)


def stop(run: AnyRun, seeds: Sequence[int] | None) -> None:
    """Stop workers; their finished rounds stay."""
    with st.spinner("Stopping at the end of the epoch"):
        _attempt(lambda: jobs.stop(run, seeds))


def resume(catalog: Catalog, run: AnyRun, seeds: Sequence[int] | None) -> None:
    """Resume seeds, by default all unfinished ones, after their last sound round."""
    _attempt(lambda: say_not_started([jobs.resume(catalog.store, run, seeds)]))


def say_not_started(started: Sequence[Started[Any]]) -> None:
    """Show on the next page which seeds run already or, if none started, are complete."""
    nothing = not any(start.workers for start in started)
    idle = [start for start in started if start.elsewhere or (nothing and start.finished)]
    for start in idle[:MOST_NOT_STARTED]:
        of = f"{start.run.name}: " if len(started) > 1 else ""
        frame.say_on_next_page(f"Not started: {of}{not_started(start)}.")
    if len(idle) > MOST_NOT_STARTED:
        frame.say_on_next_page(f"Not started: seeds of {len(idle) - MOST_NOT_STARTED} more runs.")


def store_line(catalog: Catalog) -> None:
    """Show the path and size of the store, and its trash."""
    store = catalog.store
    trashed = store.trashed()
    with frame.row("store-line", "center"):
        size = store_size(store)
        weight = f" · {formats.file_size(size)}" if size is not None else ""
        st.caption(f"Store {frame.plain(short(store.root))}{weight}", width="content")
        if trashed:
            st.caption(f"· {formats.number_of(len(trashed), 'run')} in the trash", width="content")
            if st.button("Empty trash", key="empty-trash", type="tertiary", icon=":material/delete_forever:"):
                _confirm_empty(catalog, trashed)
            if store.restorable() and st.button(
                "Restore", key="restore", type="tertiary", icon=":material/restore_from_trash:"
            ):
                _choose_restored(catalog)


def short(path: Path) -> str:
    """Return an absolute path with the home folder as ~."""
    whole = path.absolute()
    with suppress(RuntimeError, ValueError):
        return f"~/{whole.relative_to(Path.home())}"
    return str(whole)


@st.dialog("Delete this run?", icon=":material/delete:")
def _confirm_delete(catalog: Catalog, folder: Path) -> None:
    readers, is_read = catalog.store.readers(folder.name), False
    try:
        check_unread(folder.name, readers)
    except StoreError as error:
        frame.failure(str(error))
        is_read = True
    else:
        if left := readers_left(folder.name, readers):
            st.warning(frame.plain(left), icon=":material/warning:")
        st.markdown(
            f"{frame.plain(folder.name)} ({formats.file_size(folder_size(folder))}) moves to the trash of the store."
        )
        st.caption("Restore, below the list of runs, undoes this until you empty the trash.")
    if st.button("Move to trash", key="confirm-delete", type="primary", disabled=is_read):

        def delete() -> None:
            catalog.store.move_to_trash(folder)
            if folder.name in url_state.held("run"):
                # The page does not report the run as missing.
                run_select.let_go("run")()

        _attempt(delete, "Moved to the trash")


@st.dialog("Restore a deleted run", icon=":material/restore_from_trash:")
def _choose_restored(catalog: Catalog) -> None:
    annotations = catalog.store.annotations()
    names = {name: " · ".join(filter(None, [annotations.of(name).title, name])) for name in catalog.store.restorable()}
    name = st.selectbox("Run", names, key="restored", format_func=lambda name: names.get(name, name))
    st.caption("Restores the most recent deletion.")
    if name is not None and st.button("Restore", key="confirm-restore", type="primary"):
        _attempt(lambda: catalog.store.restore(name), "Restored")


@st.dialog("Empty the trash?", icon=":material/delete_forever:")
def _confirm_empty(catalog: Catalog, shown: Sequence[Path]) -> None:
    if catalog.store.trashed() != shown:
        frame.failure("The trash has changed since you opened this dialog: close it and open it again.")
        return
    st.markdown(f"Permanently removes {formats.number_of(len(catalog.store.trashed()), 'deleted run')} from the disk.")
    if st.button("Empty trash", key="confirm-empty", type="primary"):
        _attempt(catalog.store.empty_trash, "Trash emptied")


def _attempt(action: Callable[[], object], confirmation: str = "") -> None:
    """Change the store and rerun the page, or show why it failed."""
    try:
        action()
    except StudioError as error:
        frame.failure(str(error))
    else:
        forget_store_size()
        if confirmation:
            st.toast(confirmation, icon=":material/check:")
        st.rerun()


# Annotations

ABOUT_ANNOTATION = "Annotations change neither the run nor its results."
ABOUT_COLOR = (
    "Colour of the run in every figure. Without one, the colour of the method. If another method has this colour, a "
    "different shade is drawn."
)
ABOUT_HIDING = "Hides the run on other pages and lists it last here. Nothing is deleted."
SAVED = "annotations saved: "


def annotate(catalog: Catalog, run: AnyRun, computed: str) -> None:
    """Offer to edit title (default: `computed`), note and colour, or to hide a run."""
    annotation, of_run = run.annotation, run.reference
    version = _version(run)
    # A new key makes a new, closed popover: Streamlit cannot close one.
    with st.popover("Annotate", icon=":material/edit_note:", key=f"annotate-{version}-{of_run}"):
        with st.form(f"annotation-{of_run}", border=False):
            # The annotation is the default of the fields: a value in the session is lost when the browser draws them
            # anew, and Save would then erase it.
            keys = {field: f"annotation-{field}-{version}-{of_run}" for field in ("title", "note", "color")}
            title = st.text_input("Title", annotation.title, key=keys["title"], placeholder=computed, width=420)
            note = st.text_area("Note", annotation.note, key=keys["note"], height=110, width=420)
            color = st.pills(
                "Colour", COLORS, default=annotation.color or None, key=keys["color"], help=ABOUT_COLOR, width=420
            )
            if st.form_submit_button("Save", type="primary", key=f"save-annotation-{of_run}"):
                _save(catalog, run, {"title": title or "", "note": note or "", "color": color or ""})
        st.caption(ABOUT_ANNOTATION)
        words, icon = ("Show", "visibility") if annotation.hidden else ("Hide", "visibility_off")
        if st.button(words, key=f"hide-{of_run}", icon=f":material/{icon}:", help=ABOUT_HIDING):
            _save(catalog, run, {"hidden": not annotation.hidden})


def _version(run: AnyRun) -> int:
    """Count the annotations that this session has seen of a run: new fields for each, else what is typed stays."""
    known, count = f"annotation: {run.reference}", f"{SAVED}{run.reference}"
    if st.session_state.setdefault(known, run.annotation) != run.annotation:
        st.session_state[known] = run.annotation
        st.session_state[count] = st.session_state.get(count, 0) + 1
    return int(st.session_state.setdefault(count, 0))


def _save(catalog: Catalog, run: AnyRun, changes: Mapping[str, Any]) -> None:
    try:
        _, warning = catalog.store.annotate(run.annotation_key, changes)
    except StudioError as error:
        frame.failure(str(error))
        return
    st.session_state[f"{SAVED}{run.reference}"] += 1
    st.toast(
        frame.plain(warning) or "Saved",
        icon=f":material/{'warning' if warning else 'check'}:",
        duration="long" if warning else "short",
    )
    st.rerun()


# Check and repair

MOST_FAULTS = 8


def offer_repair(catalog: Catalog, folder: Path) -> None:
    """Offer to check and repair a damaged folder; show the equal command."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Repair", key=f"doctor-{folder.name}", icon=":material/healing:", help=ABOUT_CHECK):
            _check(catalog, folder)
        st.caption(_repair_command(catalog, folder), width="content")


def _repair_command(catalog: Catalog, folder: Path) -> str:
    return frame.plain(as_typed("doctor", folder.name, "--repair", "--store", catalog.store.root))


def _check(catalog: Catalog, folder: Path) -> None:
    if not folder.is_dir():
        frame.failure("The folder of this run no longer exists: it was renamed, moved or deleted. Reload the page.")
        return
    with st.spinner("Checking every file of the run"), frame.or_why():
        looked = examine(folder)
        if any(finding.is_fault for finding in looked.findings):
            _show_faults(catalog, looked)
        else:
            st.toast("All files of this run are intact.", icon=":material/check:")


@st.dialog("Damage of this run", width="large", icon=":material/healing:")
def _show_faults(catalog: Catalog, looked: Examined) -> None:
    faults = [finding for finding in looked.findings if finding.is_fault]
    for finding in faults[:MOST_FAULTS]:
        file = finding.path.relative_to(looked.folder.parent)
        st.markdown(f"- {frame.plain(str(file))} {frame.plain(finding.wrong)}: {frame.plain(finding.then)}.")
    if len(faults) > MOST_FAULTS:
        st.caption(f"and {len(faults) - MOST_FAULTS} more")
    repairable = sum(finding.repair is not None for finding in faults)
    if not repairable:
        st.caption("None of this can be repaired.")
        return
    st.caption("Files that are set aside move to a folder of the run; nothing is deleted.")
    st.caption(_repair_command(catalog, looked.folder))
    if st.button(f"Repair {formats.number_of(repairable, 'file')}", key="confirm-mend", type="primary"):
        with frame.or_why():
            result = repair(looked)
            done = formats.number_of(len(result.repaired), "file")
            st.toast(f"{done} repaired. If rounds are missing, resume the run.")
            st.rerun()
