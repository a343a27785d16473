"""What the server takes is what the page says, and the limits that SECURITY.md promises are those of the sources."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from streamlit import net_util
from streamlit.web.server import server_util

from app.widgets import importing, offline
from glt import formats, printable, zips
from glt.data import ogb_files
from glt.export.about import LONGEST_NAME
from glt.store import annotations, compact_masks, json_files

ROOT = Path(__file__).parents[2]
PROMISED = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_an_upload_may_be_as_large_as_the_page_says() -> None:
    settings = (ROOT / "app" / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert f"maxUploadSize = {importing.MOST_MB}\n" in settings
    assert f"up to {importing.MOST_MB} MB" in importing.ABOUT


@pytest.mark.parametrize(
    "words",
    [
        f"{importing.MOST_MB} MB",
        f"{formats.count(importing.MOST_UNPACKED_MB)} MB on the page",
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


@pytest.mark.skipif(sys.version_info < (3, 11), reason="an older Streamlit")
def test_a_foreign_origin_is_compared_without_asking_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: asked.append(url))
    for name in ("get_external_ip", "get_internal_ip"):
        monkeypatch.setattr(net_util, name, getattr(net_util, name))
    offline.stay()
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert server_util.is_url_from_allowed_origins("http://localhost:8501")
    assert asked == []
