"""One run or pre-training: its state, training curve and log, and what can be done to it; begin at `show`."""

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

from analysis import alt_text
from analysis.drawing import screen
from analysis.figures.training import is_thinned, pretraining_curves, training_curves
from analysis.labels import dataset_label, metric_label
from analysis.style import palette
from analysis.tables.rounds import epochs_table
from app.components import controls, frame, run_select, url_state
from app.components.downloads import draw_numbers, show_figure
from app.data.cache import Read, reader_of
from app.data.runs import WAITS, Opened, RunProgress, SeedProgress, forget_store_size, opened, run_progress, store_size
from glt import formats, jobs
from glt.doctor import Examined, examine, repair
from glt.errors import StoreError, StudioError
from glt.formats import as_typed
from glt.jobs.launcher import Started, not_started
from glt.jobs.queue import awaited
from glt.lottery.diagnosis import diagnosis_of
from glt.methods import METHODS
from glt.presets import all_options
from glt.store import COLORS, AnyRun, Pretraining, Run, folder_size
from glt.store.locks import ACTIVE
from glt.store.store import check_unread, readers_left

SECONDS_BETWEEN_LOOKS = 2
# More than the lines of a log that are shown take.
MOST_BYTES, LOG_LINES = 100_000, 60
# Only the first in the queue are told whose core they get: that takes a look at every run of the store.
MOST_NAMED = 2
HEIGHT = 300


def show(run: AnyRun, live: bool) -> None:
    """Show a run or pre-training: its state, actions, training curve, settings and log."""
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
    """Show title, actions, note and seeds, as they are now."""
    found = opened()
    if found.absence(run.reference):
        st.rerun()
    about = run_select.subject(run)
    if isinstance(run, Run):
        run = found.find(run.reference)
        about = f"{palette.label(run.config.method)} on {dataset_label(run.config.dataset)}"
    progress = run_progress(run)
    with frame.row("run-head", "center"):
        st.subheader(frame.plain(run.annotation.title or about), anchor=False, width="content")
        st.caption(run.reference, width="content")
        st.space("stretch")
        annotate(found, run, about)
        run_buttons(found, progress)
    show_note(run)
    if progress.damage:
        frame.failure(progress.damage)
        if not run.is_example:
            offer_repair(found, run.path)
    for seed in progress.seeds:
        _seed_row(found, run, seed)


def _seed_row(found: Opened, run: AnyRun, seed: SeedProgress) -> None:
    """Show one seed; a failed one of a run can be tried again alone."""
    line = "seed-done" if seed.state == "done" else "seed-open"
    with st.container(key=f"seed-row-{seed.seed}", gap=None):
        with frame.row(f"{line}-{seed.seed}", "center"):
            st.markdown(f"seed {seed.seed}", width=64)
            with st.container(width=104):
                frame.state_chip(seed.state)
            if isinstance(run, Run):
                st.markdown(formats.percent(seed.accuracy) if seed.accuracy is not None else formats.MISSING, width=64)
            doing = _queue_words(found, run, seed.seed) if seed.state == "queued" else seed.doing
            st.caption(frame.plain(doing), width="stretch")
            if isinstance(run, Run) and not run.is_example:
                with st.container(width=112):
                    _seed_action(found, run, seed)
        if seed.state != "done":
            st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def _seed_action(found: Opened, run: Run, seed: SeedProgress) -> None:
    if seed.state in ACTIVE:
        if st.button("Stop", key=f"stop-{run.reference}-{seed.seed}", type="tertiary", icon=":material/stop:"):
            stop(run, [seed.seed])
    elif seed.state != "done":
        words = "Try again" if seed.state == "failed" else "Resume"
        if st.button(words, key=f"resume-{run.reference}-{seed.seed}", type="tertiary", icon=":material/refresh:"):
            resume(found, run, [seed.seed])


def _queue_words(found: Opened, run: AnyRun, seed: int) -> str:
    """Say what a queued seed waits for: another run, or its place in the queue and whose core it gets."""
    source = awaited(found.store, run.config, seed) if isinstance(run, Run) else None
    if source is not None:
        return f"waits for {source}"
    place = jobs.place_in_line(found.store.queue_path, run.seed(seed).status().queued_at)
    if place is None:
        return WAITS
    words = f"{WAITS}, place {place} in the line"
    if place > MOST_NAMED or place > len(at_work := sorted(_at_work(found))):
        return words
    seconds, whose = at_work[place - 1]
    return f"{words}; {whose} " + ("computes" if math.isinf(seconds) else f"ends in {formats.duration(seconds)}")


def _at_work(found: Opened) -> Iterator[tuple[float, str]]:
    """Yield of every seed that computes the seconds left, infinite when unknown, and its name."""
    for run in (*found.own, *found.pretrainings):
        for seed in run.seeds():
            status = run.seed(seed).status()
            if status.state == "running":
                left = status.progress.seconds_left if status.progress else None
                yield math.inf if left is None else left, f"{run_select.run_title(run)}, seed {seed},"


def _settings_beside_log(settings: Mapping[str, object]) -> AbstractContextManager[object]:
    """Show settings folded and return the folded place for a log beside them."""
    left, right = st.columns(2, gap="medium")
    with left, st.expander("Settings", icon=":material/tune:", key="settings"):
        st.table(frame.plain_table(settings), border="horizontal")
    return right.expander("Log", icon=":material/notes:", key="log")


def seed_logs(run: AnyRun, lines: int) -> None:
    """Show the last lines of every seed's log that has any."""
    texts = {seed: text for seed in run.seeds() if (text := tail(run.seed(seed).log_path, lines))}
    for seed, text in texts.items():
        st.caption(f"seed {seed}")
        st.code(text, language=None, height=180)
    if not texts:
        at_work = any(run.seed(seed).is_at_work() for seed in run.seeds())
        st.caption("Nothing yet: only problems are written here." if at_work else "Nothing was written.")


def tail(path: Path, lines: int) -> str:
    """Return the last lines of a text file, "" when there is none or it is no plain file; a long one from its end."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - MOST_BYTES, 0))
        content = file.read(MOST_BYTES).decode(errors="replace")
    kept = content.splitlines(keepends=True)
    # The first one may be the end of a line.
    whole = kept if size <= MOST_BYTES else kept[1:]
    return "".join((whole or kept)[-lines:])


class _Drawn(NamedTuple):
    """A training curve, its numbers, and whether it omits epochs."""

    figure: go.Figure
    sentence: str
    numbers: pd.DataFrame
    is_thinned: bool


def _training(run: Run, live: bool) -> None:
    """Show the training curve of a seed and round."""
    seeds = run.seeds()
    if not seeds:
        return
    with frame.row("training-controls", "center"):
        st.subheader("Training", anchor=False, width="content")
        st.space("stretch")
        seed = int(controls.select("seed", "Seed", {str(seed): str(seed) for seed in seeds}, width=100))
        try:
            rounds = reversed(reader_of(run, seed).rounds())
        except StoreError as error:
            frame.failure(str(error))
            return
        words = {"last": "last", **{str(number): str(number) for number in rounds}}
        chosen = controls.select("training_round", "Round", words, "last", width=100)
        about = "Off: the picture stands still, so that you can zoom."
        follow = live and controls.switch("live", "Live", True, help=about)
    draw = st.fragment(frame.or_why()(_draw), run_every=SECONDS_BETWEEN_LOOKS if follow else None)
    draw(run, seed, chosen)


def _draw(run: Run, seed: int, chosen: str) -> None:
    reader = reader_of(run, seed)
    rounds = reader.rounds()
    if not rounds:
        st.caption("No epochs yet.")
        return
    number = rounds[-1] if chosen == "last" else int(chosen)
    read = reader.epochs(number)
    metric = metric_label(run.config.dataset, run.config.task)
    title = f"Loss and {metric} of every epoch of round {number}"
    drawn = _drawn(str(run.seed(seed).path.absolute()), read.stamp, metric, title, frame.is_dark(), read)
    show_figure(drawn.figure, "training", title, drawn.sentence)
    which = _which(run, len(read.epochs), drawn.is_thinned)
    st.caption(f"Seed {seed}, round {number}: loss and {metric} after {which}.")
    for sentence in _notes(run, seed, number):
        st.caption(frame.plain(f"{sentence}."))
    draw_numbers(drawn.figure, "training", title, drawn.numbers)


def _notes(run: Run, seed: int, number: int) -> list[str]:
    """Return the notes and diagnostics of a finished round."""
    seed_run = run.seed(seed)
    try:
        records = seed_run.rounds()
    except StoreError:
        # The seed's row on the same page says what is damaged.
        return []
    if number >= len(records):
        return []
    told = METHODS.get(run.config.method).note_words(records[number].notes)
    return [*([told] if told else []), *diagnosis_of(seed_run, records[number]).words()]


@st.cache_resource(max_entries=16, show_spinner=False)
def _drawn(path: str, stamp: tuple[int, int, bytes], metric: str, title: str, dark: bool, _read: Read) -> _Drawn:
    """Return the training curve of a round, the same for every tab."""
    table = epochs_table(_read.epochs)
    figure = screen.draw(training_curves(table, metric, HEIGHT), dark)
    return _Drawn(figure, alt_text.sentence(figure, title), alt_text.table(figure), is_thinned(table))


def _which(run: Run, epochs: int, thinned: bool) -> str:
    if thinned:
        return f"{formats.count(epochs)} epochs, drawn through the minimum and maximum of each short interval"
    return "every tenth epoch (examples keep no more)" if run.is_example else "every epoch"


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
    title = "Contrastive loss of every epoch of each seed"
    show_figure(figure, "loss", title)
    st.caption("Contrastive loss after every epoch; the first layer of a seed is that of its lowest loss, marked.")
    draw_numbers(figure, "loss", title)


# Actions: stop, resume, delete, restore.

# Runs of a sweep that are named one by one.
MOST_SAID = 3


def run_buttons(found: Opened, progress: RunProgress) -> None:
    """Show what can be done to a whole run; nothing for an example."""
    run = progress.run
    if run.is_example:
        st.badge("example, read-only", color="gray", icon=":material/lock:")
        return
    if progress.is_active and st.button("Stop all", key=f"stop-{run.reference}", icon=":material/stop:"):
        stop(run, None)
    if progress.unfinished and st.button("Resume all", key=f"resume-{run.reference}", icon=":material/refresh:"):
        resume(found, run, progress.unfinished)
    elif not progress.is_active:
        check_button(found, run)
    if not progress.is_active and st.button("Delete", key=f"delete-{run.reference}", icon=":material/delete:"):
        _confirm_delete(found, run.path)


def damaged_folders(found: Opened) -> None:
    """Say of every folder that cannot be opened why, and offer to repair or delete it."""
    for folder, reason in found.damaged:
        with st.container(border=True, key=f"damaged-{folder.name}", gap="small"):
            st.warning(frame.plain(f"{folder.name}: {reason}"), icon=":material/warning:")
            offer_repair(found, folder)
            if st.button("Delete", key=f"delete-{folder.name}", icon=":material/delete:"):
                _confirm_delete(found, folder)


def stop(run: AnyRun, seeds: Sequence[int] | None) -> None:
    """Stop workers; their finished rounds stay."""
    with st.spinner("Stopping at the end of the epoch"):
        _attempt(lambda: jobs.stop(run, seeds))


def resume(found: Opened, run: AnyRun, seeds: Sequence[int] | None) -> None:
    """Start workers again, of all seeds that need it when none are named; each goes on after its last sound round."""
    _attempt(lambda: say_not_started([jobs.resume(found.store, run, seeds)]))


def say_not_started(started: Sequence[Started[Any]]) -> None:
    """Say on the page that comes next which seeds are at work already, and if none was started which are complete."""
    nothing = not any(each.workers for each in started)
    told = [each for each in started if each.elsewhere or (nothing and each.finished)]
    for each in told[:MOST_SAID]:
        of = f"{each.run.name}: " if len(started) > 1 else ""
        frame.say_on_next_page(f"Not started: {of}{not_started(each)}.")
    if len(told) > MOST_SAID:
        frame.say_on_next_page(f"Not started: seeds of {len(told) - MOST_SAID} more runs.")


def store_line(found: Opened) -> None:
    """Say where the store is, how large it is, and what its trash holds."""
    store = found.store
    trashed = store.trashed()
    with frame.row("store-line", "center"):
        size = store_size(store)
        told = f" · {formats.file_size(size)}" if size is not None else ""
        st.caption(f"Store {frame.plain(short(store.root))}{told}", width="content")
        if trashed:
            st.caption(f"· {formats.number_of(len(trashed), 'run')} in the trash", width="content")
            if st.button("Empty trash", key="empty-trash", type="tertiary", icon=":material/delete_forever:"):
                _confirm_empty(found, trashed)
            if store.restorable() and st.button(
                "Restore", key="restore", type="tertiary", icon=":material/restore_from_trash:"
            ):
                _choose_restored(found)


def short(path: Path) -> str:
    """Write an absolute path, the home folder as ~."""
    whole = path.absolute()
    with suppress(RuntimeError, ValueError):
        return f"~/{whole.relative_to(Path.home())}"
    return str(whole)


@st.dialog("Delete this run?", icon=":material/delete:")
def _confirm_delete(found: Opened, folder: Path) -> None:
    is_read = _say_readers(found, folder.name)
    if not is_read:
        st.markdown(
            f"{frame.plain(folder.name)} ({formats.file_size(folder_size(folder))}) moves to the trash of the store."
        )
        st.caption("Nothing is lost until the trash is emptied; Restore, below the runs, brings it back.")
    if st.button("Move to trash", key="confirm-delete", type="primary", disabled=is_read):
        _attempt(lambda: _delete(found, folder), "Moved to the trash")


def _delete(found: Opened, folder: Path) -> None:
    """Move a run to the trash; the run shown here is then not reported as gone."""
    found.store.move_to_trash(folder)
    if folder.name in url_state.held("run"):
        run_select.let_go("run")()


def _say_readers(found: Opened, name: str) -> bool:
    """Say which runs need this one, and return whether an active one does, so that it must stay."""
    readers = found.store.readers(name)
    try:
        check_unread(name, readers)
    except StoreError as error:
        frame.failure(str(error))
        return True
    if left := readers_left(name, readers):
        st.warning(frame.plain(left), icon=":material/warning:")
    return False


@st.dialog("Restore a deleted run", icon=":material/restore_from_trash:")
def _choose_restored(found: Opened) -> None:
    said = found.store.annotations()
    names = {name: " · ".join(filter(None, [said.of(name).title, name])) for name in found.store.restorable()}
    name = st.selectbox("Run", names, key="restored", format_func=lambda name: names.get(name, name))
    st.caption("Restores the most recent deletion.")
    if name is not None and st.button("Restore", key="confirm-restore", type="primary"):
        _attempt(lambda: found.store.restore(name), "Restored")


@st.dialog("Empty the trash?", icon=":material/delete_forever:")
def _confirm_empty(found: Opened, shown: Sequence[Path]) -> None:
    if found.store.trashed() != shown:
        frame.failure("The trash has changed since this was opened: close this and check again before you empty it.")
        return
    st.markdown(f"Removes {formats.number_of(len(found.store.trashed()), 'deleted run')} from the disk for good.")
    if st.button("Empty trash", key="confirm-empty", type="primary"):
        _attempt(found.store.empty_trash, "The trash is empty")


def _attempt(action: Callable[[], object], told: str = "") -> None:
    """Change the store, rerun the page and confirm, or show why it failed."""
    try:
        action()
    except StudioError as error:
        frame.failure(str(error))
    else:
        forget_store_size()
        if told:
            st.toast(told, icon=":material/check:")
        st.rerun()


# Annotations.

ABOUT_ANNOTATION = "Kept beside the runs; the run and its results do not change."
ABOUT_COLOR = (
    "Its colour in every figure; none: the method's colour. The colour of another method is drawn in another shade."
)
ABOUT_HIDING = "Hidden runs are listed last and not offered on other pages; nothing is deleted."
FIELDS = ("title", "note", "color")


def annotate(found: Opened, run: AnyRun, computed: str) -> None:
    """Offer to edit title (default `computed`), note and colour of a run, or hide it."""
    said = run.annotation
    _settle(run)
    saved = st.session_state.setdefault(_saved_key(run), 0)
    # A new key makes a new, closed popover: Streamlit cannot close one.
    with st.popover("Annotate", icon=":material/edit_note:", key=f"annotate-{saved}-{run.reference}"):
        with st.form(f"annotation-{run.reference}", border=False):
            keys = {field: f"annotation-{field}-{run.reference}" for field in FIELDS}
            title = st.text_input("Title", key=keys["title"], placeholder=computed, width=420)
            note = st.text_area("Note", key=keys["note"], height=110, width=420)
            color = st.pills("Colour", COLORS, key=keys["color"], help=ABOUT_COLOR, width=420)
            if st.form_submit_button("Save", type="primary", key=f"save-annotation-{run.reference}"):
                _save(found, run, {"title": title or "", "note": note or "", "color": color or ""})
        st.caption(ABOUT_ANNOTATION)
        words, icon = ("Show again", "visibility") if said.hidden else ("Hide", "visibility_off")
        if st.button(words, key=f"hide-{run.reference}", icon=f":material/{icon}:", help=ABOUT_HIDING):
            _save(found, run, {"hidden": not said.hidden})


def show_note(run: AnyRun) -> None:
    """Show what a person noted about a run, if anything."""
    if run.annotation.note:
        with st.container(key="note"):
            st.markdown(frame.plain_lines(run.annotation.note))


def say_annotations_damaged(found: Opened) -> None:
    """Say in one sentence what of the annotations cannot be read."""
    if told := found.store.annotations().damage:
        st.warning(frame.plain(told), icon=":material/warning:")


def _settle(run: AnyRun) -> None:
    """Set the fields to the current annotation when it changes; keep what is being typed otherwise."""
    said, key = run.annotation, f"annotation: {run.reference}"
    if st.session_state.get(key) != said:
        st.session_state[key] = said
        for field in FIELDS:
            st.session_state[f"annotation-{field}-{run.reference}"] = getattr(said, field) or (
                None if field == "color" else ""
            )


def _save(found: Opened, run: AnyRun, changes: Mapping[str, Any]) -> None:
    try:
        _, told = found.store.annotate(run.annotation_key, changes)
    except StudioError as error:
        frame.failure(str(error))
        return
    st.session_state[_saved_key(run)] += 1
    if told:
        st.toast(frame.plain(told), icon=":material/warning:", duration="long")
    else:
        st.toast("Saved", icon=":material/check:")
    st.rerun()


def _saved_key(run: AnyRun) -> str:
    return f"annotations saved: {run.reference}"


# Check and repair.

MOST_FAULTS = 8
ABOUT_CHECK = "Opens every file of the run and compares it with its checksum."


def check_button(found: Opened, run: AnyRun) -> None:
    """Offer to check every file of a run without a worker."""
    if st.button("Check", key=f"mend-{run.reference}", icon=":material/fact_check:", help=ABOUT_CHECK):
        _check(found, run.path)


def offer_repair(found: Opened, folder: Path) -> None:
    """Offer to check and repair a damaged folder, beside the command that does the same."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Repair", key=f"doctor-{folder.name}", icon=":material/healing:", help=ABOUT_CHECK):
            _check(found, folder)
        st.caption(_repair_command(found, folder), width="content")


def _repair_command(found: Opened, folder: Path) -> str:
    return frame.plain(as_typed("doctor", folder.name, "--repair", "--store", found.store.root))


def _check(found: Opened, folder: Path) -> None:
    if not folder.is_dir():
        frame.failure("This run's folder is no longer there: it was renamed, moved or deleted.")
        return
    with st.spinner("Checking every file of the run"), frame.or_why():
        looked = examine(folder)
        if any(finding.is_fault for finding in looked.findings):
            _show_faults(found, looked)
        else:
            st.toast("Every file of this run is as it was written.", icon=":material/check:")


@st.dialog("What is wrong with this run", width="large", icon=":material/healing:")
def _show_faults(found: Opened, looked: Examined) -> None:
    faults = [finding for finding in looked.findings if finding.is_fault]
    for finding in faults[:MOST_FAULTS]:
        file = finding.path.relative_to(looked.folder.parent)
        st.markdown(f"- {frame.plain(str(file))} {frame.plain(finding.wrong)}: {frame.plain(finding.then)}.")
    if len(faults) > MOST_FAULTS:
        st.caption(f"and {len(faults) - MOST_FAULTS} more")
    able = sum(finding.repair is not None for finding in faults)
    if not able:
        st.caption("Nothing of this can be repaired here.")
        return
    st.caption("What is set aside moves to a folder of the run; nothing is deleted.")
    st.caption(_repair_command(found, looked.folder))
    if st.button(f"Repair {formats.number_of(able, 'file')}", key="confirm-mend", type="primary"):
        with frame.or_why():
            result = repair(looked)
            done = formats.number_of(len(result.mended), "file")
            st.toast(f"{done} repaired; resume the run where rounds are missing.")
            st.rerun()
