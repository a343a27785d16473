"""Starts of the command `glt` and of the app, which only this machine reaches, from any folder."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from streamlit import config
from streamlit.web import cli as streamlit_cli

from analysis.cli.main import SECTIONS as OF_ANALYSIS
from app import protection
from app.command import main
from glt.cli.main import SECTIONS as OF_GLT
from glt.store import Store
from tests.opening import LOOPBACK, MAIN, STREAMLIT, load_settings, started

COMMAND = [sys.executable, "-c", "import sys; from app.command import main; sys.exit(main())"]


def test_help_lists_every_verb_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = re.findall(
        r"^  ([a-z]+) ", capsys.readouterr().out.partition("\nRun:")[2].partition("\nMore:")[0], re.MULTILINE
    )
    names = [name for sections in (OF_GLT, OF_ANALYSIS) for verbs in sections.values() for name in verbs]
    assert len(listed) == len(set(listed))
    assert set(listed) == {*names, "studio"}


def test_a_wrong_argument_is_an_error_of_glt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--nonsense"]) == 2
    assert capsys.readouterr().err.startswith("glt show: ")


def test_verbs_of_glt_and_analysis_work(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json", "--store", str(store.root)]) == 0
    assert capsys.readouterr().out.strip() == "[]"
    assert main(["measure", "no-such-run", "--round", "1", "--store", str(store.root)]) == 1
    assert "no-such-run" in capsys.readouterr().err


def test_studio_opens_the_app_on_the_given_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setenv("GLT_STORE", "other")
    monkeypatch.setattr(streamlit_cli.main, "main", lambda options, **_: calls.append(options))
    assert main(["studio", "--store", str(tmp_path / "mine"), "--", "--server.port", "1"]) == 0
    assert calls == [["run", str(MAIN), "--server.port", "1"]]
    assert os.environ["GLT_STORE"] == str(tmp_path / "mine")


def test_studio_is_protected_and_forwards_options(tmp_path: Path) -> None:
    command = [*COMMAND, "studio", "--", "--server.baseUrlPath", "studio"]
    with started(command, tmp_path, tmp_path, base="/studio") as server:
        server.assert_serves_this_machine_alone()


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


def test_a_start_through_a_symlink_shows_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(MAIN)
    with started([*STREAMLIT, "link.py"], tmp_path, tmp_path) as server:
        page = server.first_page()
        assert page.alerts == (protection.REFUSAL,)
        assert not page.has_pages


def test_a_symlink_start_with_all_settings_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(MAIN)
    load_settings()
    options = [word for option in protection.OPTIONS for word in given(option)]
    with started([*STREAMLIT, "link.py", *options], tmp_path, tmp_path) as server:
        assert server.first_page().has_pages


def test_a_given_server_address_is_kept(tmp_path: Path) -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    with started([*STREAMLIT, str(MAIN), "--server.address", everywhere], tmp_path, tmp_path) as server:
        assert not server.listens_on <= LOOPBACK
        page = server.first_page()
        assert not page.collects_statistics
        assert page.has_pages


def test_protective_settings_equal_the_documented_ones() -> None:
    load_settings()
    assert protection.missing_protection() == []
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
