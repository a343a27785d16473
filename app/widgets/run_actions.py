"""What can be done to a run: stop, resume, delete, restore; and the store's size and trash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st

from app.widgets import address, doctor, frame, pickers, store_size
from app.widgets.opened import Opened
from app.widgets.progress import RunProgress
from glt import formats, jobs
from glt.errors import StoreError, StudioError
from glt.jobs.launching import Started, not_started, restart
from glt.store import AnyRun, folder_size
from glt.store.readers import check_unread, readers_left

# Runs of a sweep that are named one by one.
MOST_SAID = 3


def buttons(found: Opened, progress: RunProgress) -> None:
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
        doctor.check_button(found, run)
    if not progress.is_active and st.button("Delete", key=f"delete-{run.reference}", icon=":material/delete:"):
        _confirm_delete(found, run.path)


def damaged(found: Opened) -> None:
    """Say of every folder that cannot be opened why, and offer to mend or delete it."""
    for folder, reason in found.damaged:
        with st.container(border=True, key=f"damaged-{folder.name}", gap="small"):
            st.warning(frame.plain(f"{folder.name}: {reason}"), icon=":material/warning:")
            doctor.offer(found, folder)
            if st.button("Delete", key=f"delete-{folder.name}", icon=":material/delete:"):
                _confirm_delete(found, folder)


def stop(run: AnyRun, seeds: Sequence[int] | None) -> None:
    """Stop workers; their finished rounds stay."""
    with st.spinner("Stops at the end of the epoch"):
        _attempt(lambda: jobs.stop(run, seeds))


def resume(found: Opened, run: AnyRun, seeds: Sequence[int] | None) -> None:
    """Start workers again, of all seeds that need it when none are named; each goes on after its last sound round."""
    _attempt(lambda: say_not_started([restart(found.store, run, seeds)]))


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
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="store-line"):
        size = store_size.size_of(store)
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
        st.caption(
            "Nothing is lost until the trash is emptied: Restore, beside Empty trash below the runs, brings it back."
        )
    if st.button("Move to trash", key="confirm-delete", type="primary", disabled=is_read):
        _attempt(lambda: _delete(found, folder), "Moved to the trash")


def _delete(found: Opened, folder: Path) -> None:
    """Move a run to the trash; who deletes the run that is shown here need not be told that it is gone."""
    found.store.move_to_trash(folder)
    if folder.name in address.held("run"):
        pickers.let_go("run")()


def _say_readers(found: Opened, name: str) -> bool:
    """Say which runs need this one, and return whether one of them is still at it, so that it must stay."""
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
    st.caption("Of a run that was deleted more than once, what was deleted last comes back.")
    if name is not None and st.button("Restore", key="confirm-restore", type="primary"):
        _attempt(lambda: found.store.restore(name), "Restored")


@st.dialog("Empty the trash?", icon=":material/delete_forever:")
def _confirm_empty(found: Opened, shown: Sequence[Path]) -> None:
    if found.store.trashed() != shown:
        frame.failure("The trash has changed since this was opened: close it, and look again before it is emptied.")
        return
    st.markdown(f"Removes {formats.number_of(len(found.store.trashed()), 'deleted run')} from the disk for good.")
    if st.button("Empty trash", key="confirm-empty", type="primary"):
        _attempt(found.store.empty_trash, "The trash is empty")


def _attempt(action: Callable[[], object], told: str = "") -> None:
    """Do something to the store, show the page anew and say what was done, or in one sentence why it cannot be."""
    try:
        action()
    except StudioError as error:
        frame.failure(str(error))
    else:
        store_size.forget()
        if told:
            st.toast(told, icon=":material/check:")
        st.rerun()
