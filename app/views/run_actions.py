"""Actions on a run: stop, resume, delete, restore, annotate, check and repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st

from app.components import frame, run_select, url_state
from app.data.runs import Opened, RunProgress, forget_store_size, store_size
from glt import formats, jobs
from glt.commands import command
from glt.doctor import Examined, examine, repair
from glt.errors import StoreError, StudioError
from glt.jobs.launcher import Started, not_started
from glt.store import COLORS, AnyRun, folder_size
from glt.store.store import check_unread, readers_left

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
    return frame.plain(command("doctor", folder.name, "--repair", "--store", found.store.root))


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
