"""The app is this machine's alone, whatever folder it is started from; where it cannot be, it serves one sentence."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from streamlit import config

from app import streamlit_patches
from tests.app.starts import LOOPBACK, STREAMLIT, started
from tests.opening import MAIN, load_settings

ROOT = MAIN.parents[1]
OPEN_TO_ALL = '[server]\naddress = "0.0.0.0"\nenableXsrfProtection = false\nallowedHosts = ["*"]\n'


@pytest.mark.parametrize("start", ["root", "app", "views", "elsewhere", "another app's folder"])
def test_a_start_from_any_folder_is_protected(start: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".streamlit").mkdir(parents=True)
    (other / ".streamlit" / "config.toml").write_text(OPEN_TO_ALL + "[browser]\ngatherUsageStats = true\n")
    folder, script = {
        "root": (ROOT, "app/main.py"),
        "app": (ROOT / "app", "main.py"),
        "views": (ROOT / "app" / "views", "../main.py"),
        "elsewhere": (tmp_path, str(MAIN)),
        "another app's folder": (other, str(MAIN)),
    }[start]
    with started([*STREAMLIT, script], folder, tmp_path) as server:
        server.assert_serves_this_machine_alone()


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_app_is_protected(tmp_path: Path) -> None:
    # Nothing is installed: the tools of this Python are there already.
    command = ["make", "-C", str(ROOT), "app", "--assume-old=.venv/app.stamp", f"BIN={Path(sys.executable).parent}"]
    with started(command, tmp_path, tmp_path) as server:
        server.assert_serves_this_machine_alone()


def test_a_start_through_a_link_shows_one_sentence_and_no_page(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(MAIN)
    with started([*STREAMLIT, "link.py"], tmp_path, tmp_path) as server:
        page = server.first_page()
        assert page.alerts == (streamlit_patches.REFUSAL,)
        assert not page.has_pages


def test_the_sentence_is_withdrawn_where_the_start_itself_sets_everything(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(MAIN)
    load_settings()
    options = [word for option in streamlit_patches.OPTIONS for word in given(option)]
    with started([*STREAMLIT, "link.py", *options], tmp_path, tmp_path) as server:
        assert server.first_page().has_pages


def test_an_address_given_at_the_start_is_kept(tmp_path: Path) -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    with started([*STREAMLIT, str(MAIN), "--server.address", everywhere], tmp_path, tmp_path) as server:
        assert not server.listens_on <= LOOPBACK
        page = server.first_page()
        assert not page.collects_statistics
        assert page.has_pages


def test_the_settings_are_those_that_are_promised() -> None:
    load_settings()
    assert streamlit_patches.missing_protection() == []
    wanted = {
        "server.address": "localhost",
        "server.allowedHosts": ["localhost", "127.0.0.1", "::1"],
        "server.corsAllowedOrigins": [],
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.enableStaticServing": False,
        "server.showEmailPrompt": False,
        "browser.gatherUsageStats": False,
        "client.showErrorDetails": "type",
        "client.showErrorLinks": False,
    }
    assert {name: config.get_option(name) for name in wanted} == wanted


def given(option: str) -> list[str]:
    """Return an option as the command line gives it, with its protective value."""
    value = config.get_option(option)
    values = value if isinstance(value, list) else [value]
    return [word for each in values or ["http://localhost:1"] for word in (f"--{option}", str(each).lower())]
