"""What the server takes is what the page says, and the limits that SECURITY.md promises are those of the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.views import ticket_import
from glt import formats, printable, zips
from glt.data import ogb_files
from glt.store import annotations, compact_masks, json_files
from glt.ticket_file.schema import LONGEST_NAME

ROOT = Path(__file__).parents[2]
PROMISED = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_an_upload_may_be_as_large_as_the_page_says() -> None:
    settings = (ROOT / "app" / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert f"maxUploadSize = {ticket_import.MOST_MB}\n" in settings
    assert f"up to {ticket_import.MOST_MB} MB" in ticket_import.ABOUT_FILE


@pytest.mark.parametrize(
    "words",
    [
        f"{ticket_import.MOST_MB} MB",
        f"{formats.count(ticket_import.MOST_UNPACKED_MB)} MB on the page",
        f"{zips.MOST_DIRECTORY >> 20} MiB; the sizes it states",
        f"{LONGEST_NAME} characters",
        f"{json_files.MOST_BYTES >> 20} MiB; {json_files.MOST_BYTES_OF_LINES >> 30} GiB",
        f"{compact_masks.MOST_BYTES >> 20} MiB |",
        f"{ogb_files._CHUNK >> 20} MiB; the number",
        f"{annotations.LONGEST_TITLE}, {formats.count(annotations.LONGEST_NOTE)} characters",
        f"{formats.count(printable.MOST_SAID)} characters",
    ],
)
def test_every_limit_is_the_one_that_is_promised(words: str) -> None:
    assert words in PROMISED
