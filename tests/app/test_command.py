"""The command `glt`: the verbs of `python -m glt` and `python -m analysis`, and the app."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from streamlit.web import cli as streamlit_cli

from analysis.cli.main import SECTIONS as OF_ANALYSIS
from app.command import main
from glt.cli.main import SECTIONS as OF_GLT
from glt.store import Store
from tests.app.starts import started
from tests.opening import MAIN

COMMAND = [sys.executable, "-c", "import sys; from app.command import main; sys.exit(main())"]


def test_help_lists_every_verb_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = re.findall(
        r"^  ([a-z]+) ", capsys.readouterr().out.partition("\nRun:")[2].partition("\nMore:")[0], re.MULTILINE
    )
    names = [name for sections in (OF_GLT, OF_ANALYSIS) for verbs in sections.values() for name in verbs]
    assert len(listed) == len(set(listed))
    assert set(listed) == {*names, "studio"}


def test_a_wrong_argument_is_a_complaint_of_glt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--nonsense"]) == 2
    assert capsys.readouterr().err.startswith("glt show: ")


def test_verbs_of_both_work(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json", "--store", str(store.root)]) == 0
    assert capsys.readouterr().out.strip() == "[]"
    assert main(["measure", "no-such-run", "--round", "1", "--store", str(store.root)]) == 1
    assert "no-such-run" in capsys.readouterr().err


def test_studio_opens_the_app_over_the_store_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setenv("GLT_STORE", "other")
    monkeypatch.setattr(streamlit_cli.main, "main", lambda options, **_: asked.append(options))
    assert main(["studio", "--store", str(tmp_path / "mine"), "--", "--server.port", "1"]) == 0
    assert asked == [["run", str(MAIN), "--server.port", "1"]]
    assert os.environ["GLT_STORE"] == str(tmp_path / "mine")


def test_studio_is_protected_and_hands_options_on(tmp_path: Path) -> None:
    command = [*COMMAND, "studio", "--", "--server.baseUrlPath", "studio"]
    with started(command, tmp_path, tmp_path, base="/studio") as server:
        server.assert_serves_this_machine_alone()
