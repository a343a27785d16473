"""What the doctor says of a run on the Runs page: its sentences, the command that does the same, and a way to mend."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.widgets import frame
from app.widgets.opened import Opened
from glt.commands import command as as_typed
from glt.doctor import Examined, examine, repair
from glt.errors import StudioError
from glt.formats import number_of
from glt.store import AnyRun

MOST = 8
TOLD = "Opens every file of the run and compares it with its checksum."
SPINNER = "Opens every file of the run"


def check_button(found: Opened, run: AnyRun) -> None:
    """Offer to look at every file of a run that no worker is at."""
    if st.button("Check", key=f"mend-{run.reference}", icon=":material/fact_check:", help=TOLD):
        _check(found, run.path)


def offer(found: Opened, folder: Path) -> None:
    """Offer to look into a damaged folder and mend it, beside the command that does the same."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Repair", key=f"doctor-{folder.name}", icon=":material/healing:", help=TOLD):
            _check(found, folder)
        st.caption(frame.plain(command(found, folder)), width="content")


def command(found: Opened, folder: Path) -> str:
    """Return what to type in place of the button."""
    return as_typed("doctor", folder.name, "--repair", "--store", found.store.root)


def _check(found: Opened, folder: Path) -> None:
    if not folder.is_dir():
        frame.failure("This run's folder is no longer there: it was renamed, moved or deleted.")
        return
    with st.spinner(SPINNER), frame.or_why():
        looked = examine(folder)
        if any(finding.is_fault for finding in looked.findings):
            _findings(found, looked)
        else:
            st.toast("Every file of this run is as it was written.", icon=":material/check:")


@st.dialog("What is wrong with this run", width="large", icon=":material/healing:")
def _findings(found: Opened, looked: Examined) -> None:
    """Show what was found, and mend what can be mended."""
    faults = [finding for finding in looked.findings if finding.is_fault]
    for finding in faults[:MOST]:
        file = finding.path.relative_to(looked.folder.parent)
        st.markdown(f"- {frame.plain(str(file))} {frame.plain(finding.wrong)}: {frame.plain(finding.then)}.")
    if len(faults) > MOST:
        st.caption(f"and {len(faults) - MOST} more")
    able = sum(finding.repair is not None for finding in faults)
    if not able:
        st.caption("Nothing of this can be repaired here.")
        return
    st.caption("What is set aside moves to a folder of the run; nothing is deleted.")
    st.caption(frame.plain(command(found, looked.folder)))
    if st.button(f"Repair {number_of(able, 'file')}", key="confirm-mend", type="primary"):
        _repair(looked)


def _repair(looked: Examined) -> None:
    try:
        result = repair(looked)
    except StudioError as error:
        frame.failure(str(error))
        return
    st.toast(f"{number_of(len(result.mended), 'file')} repaired; resume the run where rounds are missing.")
    st.rerun()
